//! Checks that a text is JSON before it is sent, and reports the position of the first fault.
//!
//! `serde_json` checks the grammar. The nesting depth and lone surrogates are checked here, because the core's decoder
//! refuses or misreads them.

use std::fmt;

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::text::Sanitized;

/// The maximum depth that the core decodes.
pub(crate) const DEEPEST: usize = 1000;

/// Why a text is not valid JSON, or has the wrong value, and at which position. Lines and columns start at 1. A column
/// counts characters, not bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    pub line: usize,
    pub column: usize,
    pub what: String,
    /// The unknown field, if the fault is that the object has one.
    pub unknown: Option<UnknownField>,
}

/// The name of an unknown field, and the names of all known fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownField {
    pub name: String,
    pub known: &'static [&'static str],
}

impl SyntaxFault {
    /// A fault at this offset.
    pub(crate) fn at_offset(text: &[u8], offset: usize, problem: impl Into<String>) -> SyntaxFault {
        let before = &text[..offset.min(text.len())];
        let newline = before.iter().rposition(|&byte| byte == b'\n');
        let on_line = &before[newline.map_or(0, |newline| newline + 1)..];
        let is_start = |byte: &&u8| **byte & 0xc0 != 0x80;
        SyntaxFault {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: on_line.iter().filter(is_start).count() + 1,
            what: problem.into(),
            unknown: None,
        }
    }

    /// The fault for an error of `serde_json`. Its text quotes the word at which the error occurred.
    pub(super) fn from_serde(text: &[u8], error: &serde_json::Error) -> SyntaxFault {
        if let Err(error) = std::str::from_utf8(text) {
            let at = error.valid_up_to();
            return SyntaxFault::at_offset(
                text,
                at,
                format!("byte 0x{:02x} is not UTF-8", text[at]),
            );
        }
        if text.trim_ascii().is_empty() {
            return SyntaxFault::at_offset(text, 0, "it is empty, a value was expected");
        }
        let at = offset_of_position(text, error.line(), error.column());
        let place = format!(" at line {} column {}", error.line(), error.column());
        let why = error.to_string();
        let why = why.strip_suffix(&place).unwrap_or(&why);
        if error.classify() == Category::Eof {
            return SyntaxFault::at_offset(text, text.len(), why);
        }
        SyntaxFault::quoting_word_at(text, at, &format!("{why} at"))
    }

    /// A fault at this offset. Its text is `problem` and then, in backticks, the word at the offset.
    pub(super) fn quoting_word_at(text: &[u8], offset: usize, problem: &str) -> SyntaxFault {
        let rest = String::from_utf8_lossy(&text[offset..text.len().min(offset + 80)]);
        let word = rest.chars().take_while(char::is_ascii_alphanumeric).count();
        let found: String = rest.chars().take(word.clamp(1, 20)).collect();
        SyntaxFault::at_offset(text, offset, format!("{problem} `{}`", Sanitized(found)))
    }
}

impl fmt::Display for SyntaxFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let SyntaxFault {
            line, column, what, ..
        } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

/// The byte offset of a line and column that `serde_json` reports.
fn offset_of_position(text: &[u8], line: usize, column: usize) -> usize {
    let before = text.split_inclusive(|&byte| byte == b'\n').take(line - 1);
    let start: usize = before.map(<[u8]>::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// The type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonType {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl JsonType {
    /// The type of a value that is valid JSON, by its first character.
    pub(crate) fn from_text(json: &[u8]) -> JsonType {
        match json.trim_ascii_start().first() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::Array,
            Some(b'"') => JsonType::String,
            Some(b't' | b'f') => JsonType::Bool,
            Some(b'n') => JsonType::Null,
            _ => JsonType::Number,
        }
    }

    /// The name of the type with an article.
    pub(crate) const fn name_with_article(self) -> &'static str {
        match self {
            JsonType::Object => "an object",
            JsonType::Array => "an array",
            JsonType::String => "a text",
            JsonType::Number => "a number",
            JsonType::Bool => "true or false",
            JsonType::Null => "null",
        }
    }
}

/// Checks that a text is JSON. The result is the type of its value, or the first fault.
pub(crate) fn check_syntax(text: &[u8]) -> Result<JsonType, SyntaxFault> {
    match serde_json::from_slice::<&RawValue>(text) {
        Ok(_) => refuse_what_core_refuses(text).map(|()| JsonType::from_text(text)),
        Err(error) => Err(SyntaxFault::from_serde(text, &error)),
    }
}

/// Refuses valid JSON that the core's decoder refuses or misreads: deep nesting and lone surrogates.
pub(super) fn refuse_what_core_refuses(json: &[u8]) -> Result<(), SyntaxFault> {
    if let Some(at) = first_nested_deeper(json, DEEPEST) {
        return Err(SyntaxFault::at_offset(
            json,
            at,
            format!("nested deeper than {DEEPEST}"),
        ));
    }
    match first_lone_surrogate(json) {
        Some(at) => Err(SyntaxFault::at_offset(
            json,
            at,
            "half of a surrogate pair stands alone",
        )),
        None => Ok(()),
    }
}

/// The offset of the first array or object of a JSON text that is nested deeper than `max_depth`.
pub(crate) fn first_nested_deeper(json: &[u8], max_depth: usize) -> Option<usize> {
    // Almost no text has so many.
    let opens = |byte: &&u8| matches!(byte, b'[' | b'{');
    if json.len() <= max_depth || json.iter().filter(opens).count() <= max_depth {
        return None;
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    json.iter().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > max_depth
    })
}

/// The offset of the first `\u` escape that is half of a surrogate pair and stands alone. `serde_json` does not check
/// the escapes in a string that it skips.
pub(crate) fn first_lone_surrogate(json: &[u8]) -> Option<usize> {
    // Most texts have no escape at all.
    if !json.contains(&b'\\') {
        return None;
    }
    let mut at = 0;
    while let Some(next) = json.get(at..)?.iter().position(|&byte| byte == b'\\') {
        at += next;
        at += match parse_code_unit(&json[at..]) {
            Some(0xd800..=0xdbff) => match parse_code_unit(&json[at + 6..]) {
                Some(0xdc00..=0xdfff) => 12,
                _ => return Some(at),
            },
            Some(0xdc00..=0xdfff) => return Some(at),
            Some(_) => 6,
            None => 2,
        };
    }
    None
}

/// The code unit of an escape such as `\u0041` at the start of a text.
fn parse_code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn fault(text: &str) -> String {
        check_syntax(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn json_of_every_shape_passes() {
        for (text, shape) in [
            (
                " {\"a\" : [1, -0.5e+3, {}], \"b\":null}\n",
                JsonType::Object,
            ),
            ("[]", JsonType::Array),
            ("\"\\ud83d\\ude00 \u{e9}\\/\\u0000\"", JsonType::String),
            ("9007199254740993", JsonType::Number),
            ("-0", JsonType::Number),
            ("1e999", JsonType::Number),
            ("true", JsonType::Bool),
            ("false", JsonType::Bool),
            ("null", JsonType::Null),
        ] {
            assert_eq!(check_syntax(text.as_bytes()), Ok(shape), "{text}");
        }
        assert_eq!(
            check_syntax(&[b"[".repeat(1000), b"]".repeat(1000)].concat()),
            Ok(JsonType::Array)
        );
    }

    #[test]
    fn near_misses_are_refused_with_line_column_and_reason() {
        let texts = [
            "{\n  \"a\": x\n}",
            "[\"\u{e9}\u{e9}\" 1]",
            "",
            "{",
            "{a:1}",
            "{'a':1}",
            "[1,]",
            "{\"a\":1,}",
            "[1}",
            "1 2",
            "\"a",
            "\"\t\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "tru",
            "1.",
            "01",
            "0x10",
            "+1",
            "1\0",
        ];
        let faults = texts.map(|text| format!("{text:?}: {}\n", fault(text)));
        expect![[r#"
            "{\n  \"a\": x\n}": line 2, column 8: expected value at `x`
            "[\"éé\" 1]": line 1, column 7: expected `,` or `]` at `1`
            "": line 1, column 1: it is empty, a value was expected
            "{": line 1, column 2: EOF while parsing an object
            "{a:1}": line 1, column 2: key must be a string at `a`
            "{'a':1}": line 1, column 2: key must be a string at `'`
            "[1,]": line 1, column 4: expected value at `]`
            "{\"a\":1,}": line 1, column 8: key must be a string at `}`
            "[1}": line 1, column 3: expected `,` or `]` at `}`
            "1 2": line 1, column 3: trailing characters at `2`
            "\"a": line 1, column 3: EOF while parsing a string
            "\"\t\"": line 1, column 1: control character (\u0000-\u001F) found while parsing a string at `"`
            "\"\\x\"": line 1, column 3: invalid escape at `x`
            "\"\\u12g4\"": line 1, column 7: invalid escape at `4`
            "tru": line 1, column 4: EOF while parsing a value
            "1.": line 1, column 2: invalid number at `.`
            "01": line 1, column 2: invalid number at `1`
            "0x10": line 1, column 2: trailing characters at `x10`
            "+1": line 1, column 1: expected value at `+`
            "1\0": line 1, column 2: trailing characters at `\x00`
        "#]].assert_eq(&faults.concat());
    }

    #[test]
    fn json_that_only_the_core_accepts_is_refused() {
        let deep = "[".repeat(1001) + &"]".repeat(1001);
        let texts = [
            "[NaN]",
            "Infinity",
            "[-Infinity]",
            r#""\ud800""#,
            r#""\ud800x""#,
            r#""\ud800\n""#,
            r#""\ud800\u0041""#,
            r#""\\\udc00""#,
            &deep,
        ];
        let faults = texts.map(|text| format!("{text:.20}: {}\n", fault(text)));
        expect![[r#"
            [NaN]: line 1, column 2: expected value at `NaN`
            Infinity: line 1, column 1: expected value at `Infinity`
            [-Infinity]: line 1, column 3: invalid number at `Infinity`
            "\ud800": line 1, column 2: half of a surrogate pair stands alone
            "\ud800x": line 1, column 2: half of a surrogate pair stands alone
            "\ud800\n": line 1, column 2: half of a surrogate pair stands alone
            "\ud800\u0041": line 1, column 2: half of a surrogate pair stands alone
            "\\\udc00": line 1, column 4: half of a surrogate pair stands alone
            [[[[[[[[[[[[[[[[[[[[: line 1, column 1001: nested deeper than 1000
        "#]]
        .assert_eq(&faults.concat());
        assert!(check_syntax(br#""\\ud800""#).is_ok());
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused() {
        let fault = check_syntax(b"[\"a\xff\"]").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "line 1, column 4: byte 0xff is not UTF-8"
        );
        assert!(check_syntax(b"\"\xc3\"").is_err());
        assert!(check_syntax(b"\xff").is_err());
    }
}
