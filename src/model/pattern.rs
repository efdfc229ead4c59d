//! Patterns of names: a plain name, or a glob with `*`, `?`, `[ab]`, `[!ab]` and `{a,b}`.

use globset::GlobBuilder;
use regex::{Regex, RegexBuilder};

use crate::name;
use crate::name::Name;

/// A plain name, or a glob. Both match whole names.
#[derive(Clone, Debug)]
pub enum NamePattern {
    /// Exactly this name.
    Plain(Name),
    Glob(Glob),
}

/// A pattern that can match several names.
#[derive(Clone, Debug)]
pub struct Glob {
    as_typed: Name,
    regex: Regex,
}

/// Maximum length of a glob, in bytes. This also limits the nesting of braces, whose parser is recursive.
const MAX_LENGTH: usize = 4096;

impl NamePattern {
    /// Parses an argument. The error is the text that follows `expects` in a message.
    pub fn parse(input: Name) -> Result<NamePattern, String> {
        if !name::has_wildcards(input.as_bytes()) {
            return Ok(NamePattern::Plain(input));
        }
        let text = input.lossless_text();
        match unescape_plain_name(&text) {
            Some(plain) => Ok(NamePattern::Plain(Name::from_lossless_text(&plain))),
            None => {
                let regex = compile_glob(&text)?;
                Ok(NamePattern::Glob(Glob {
                    as_typed: input,
                    regex,
                }))
            }
        }
    }

    /// Parses a stored pattern, in which `*` is the only wildcard.
    pub(crate) fn from_stored(stored: &Name) -> Result<NamePattern, String> {
        let escape = |byte: &u8| match byte {
            b'?' | b'[' | b']' | b'{' | b'}' | b'\\' => vec![b'\\', *byte],
            byte => vec![*byte],
        };
        let input: Vec<u8> = stored.as_bytes().iter().flat_map(escape).collect();
        NamePattern::parse(Name::from(input))
    }

    /// The name if the pattern is not a glob.
    pub fn as_plain_name(&self) -> Option<&Name> {
        match self {
            NamePattern::Plain(name) => Some(name),
            NamePattern::Glob(_) => None,
        }
    }

    /// The pattern as it can be typed.
    pub fn as_typed(&self) -> Name {
        match self {
            NamePattern::Plain(name) => name::escape_wildcards(name),
            NamePattern::Glob(glob) => glob.as_typed.clone(),
        }
    }

    pub fn matches(&self, name: &Name) -> bool {
        match self {
            NamePattern::Plain(plain) => plain == name,
            NamePattern::Glob(glob) => glob.regex.is_match(&name.lossless_text()),
        }
    }
}

/// Whether a name passes a filter of these patterns. Without patterns, each name passes. An absent name is treated as
/// an empty one.
pub(crate) fn passes_filter(patterns: &[NamePattern], name: Option<&Name>) -> bool {
    let empty = Name::default();
    let name = name.unwrap_or(&empty);
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
}

/// The name that a pattern without wildcards means, without its backslashes. `None` if there is a wildcard, so that the
/// pattern is a glob.
fn unescape_plain_name(input: &str) -> Option<String> {
    let (mut plain, mut chars) = (String::new(), input.chars());
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' | '{' => return None,
            '\\' => plain.push(chars.next()?),
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// Compiles a glob to a regular expression over the text of [`Name::lossless_text`], in which a byte that is not UTF-8
/// is one character, and a character from U+10FF80 on is four.
fn compile_glob(input: &str) -> Result<Regex, String> {
    let wants = |why: &str| format!("a name or a glob ({why})");
    if input.len() > MAX_LENGTH {
        return Err(wants(&format!("of at most {MAX_LENGTH} bytes")));
    }
    let input = join_adjacent_stars(input);
    // Names are not paths: `*` and `?` also match `/`.
    let glob = GlobBuilder::new(&input)
        .literal_separator(false)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| wants(&format!("{}; `\\` escapes a character", error.kind())))?;
    RegexBuilder::new(&to_character_regex(glob.regex()))
        .dot_matches_new_line(true)
        .build()
        .map_err(|_| wants("that is not that large"))
}

/// Replaces several adjacent stars by one, because globset treats `**` as a part of a path.
fn join_adjacent_stars(input: &str) -> String {
    let (mut text, mut escaped) = (String::with_capacity(input.len()), false);
    for c in input.chars() {
        let again = c == '*' && !escaped && text.ends_with('*') && !text.ends_with("\\*");
        if !again {
            text.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    text
}

/// Turns a regular expression over bytes into one over characters. globset writes a character as its bytes, such as
/// `\xc3\xa9`, even within brackets.
fn to_character_regex(byte_regex: &str) -> String {
    let text = byte_regex.strip_prefix("(?-u)").unwrap_or(byte_regex);
    let (mut regex, mut bytes_of_char) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            regex.push(c);
            continue;
        }
        let escaped = rest.next().unwrap_or('\\');
        if escaped != 'x' {
            regex.extend(['\\', escaped]);
            continue;
        }
        let digits: String = rest.by_ref().take(2).collect();
        bytes_of_char.extend(u8::from_str_radix(&digits, 16));
        if let Ok(whole) = std::str::from_utf8(&bytes_of_char) {
            regex.push_str(whole);
            bytes_of_char.clear();
        }
    }
    regex
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(input: impl Into<Name>) -> NamePattern {
        NamePattern::parse(input.into()).unwrap()
    }

    fn fits(input: &str, name: &str) -> bool {
        pattern(input).matches(&Name::from(name))
    }

    #[test]
    fn a_plain_name_matches_itself() {
        assert!(fits("mail", "mail"));
        assert!(!fits("mail", "mails"));
        for (input, name) in [
            ("mail", "mail"),
            ("a}b]c!-^.$(|", "a}b]c!-^.$(|"),
            ("a\\*b", "a*b"),
            ("a\\\\b", "a\\b"),
            ("\\[x\\]", "[x]"),
        ] {
            assert_eq!(
                pattern(input).as_plain_name(),
                Some(&Name::from(name)),
                "{input}"
            );
        }
        assert!(pattern("m*").as_plain_name().is_none());
        assert!(pattern("m\\**").as_plain_name().is_none());
    }

    #[test]
    fn globs_match_whole_names() {
        for (input, name) in [
            ("*", ""),
            ("*", "anything"),
            ("m*l", "mail"),
            ("*a*a*", "banana"),
            ("m?il", "mail"),
            ("caf?", "café"),
            ("[mn]ail", "nail"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("[^a]x", "bx"),
            ("[!a]x", "éx"),
            ("[é]x", "éx"),
            ("[à-ü]x", "éx"),
            ("[]]x", "]x"),
            ("[*]x", "*x"),
            ("failed-retries-*", "failed-retries-mail"),
            ("{mail,img}-*", "img-big"),
            ("{a,b{c,d}}e", "bde"),
            ("mail{,-eu}", "mail"),
            ("mail{,-eu}", "mail-eu"),
            ("a\\*?", "a*b"),
            ("a\\***", "a*b"),
            ("*\\\\xff", "a\\xff"),
            // Names are not paths: nothing is special about `/`, `.` and a line end.
            ("m*l", "m/a/../i/l"),
            ("*", "/"),
            ("m?l", "m/l"),
            ("**/x", "/x"),
            ("**/x", "a/b/x"),
            ("a/**", "a/"),
            ("a/**/b", "a//b"),
            ("a*", "a/"),
            ("*b", "a\nb"),
            ("a?b", "a\nb"),
            ("*", ".hidden"),
        ] {
            assert!(fits(input, name), "{input} {name}");
        }
        for (input, name) in [
            ("m*l", "mails"),
            ("m?il", "mil"),
            ("caf?", "caf"),
            ("[mn]ail", "pail"),
            ("[!a]x", "ax"),
            ("[é]x", "\u{c3}x"),
            ("[!é]x", "éx"),
            ("{mail,img}", "mailimg"),
            ("a\\*?", "axb"),
            ("*a*b", "ba"),
            ("**/x", "x"),
            ("a/**/b", "a/b"),
            ("a*", "b\na"),
            ("a*", "b"),
            ("*a", "a\n"),
            ("Mail*", "mail"),
        ] {
            assert!(!fits(input, name), "{input} {name}");
        }
    }

    #[test]
    fn globs_match_names_that_are_not_utf8() {
        let bytes = |bytes: &[u8]| Name::from(bytes);
        let input = pattern(bytes(b"q\xff*"));
        assert!(input.matches(&bytes(b"q\xff\xfe")));
        assert!(!input.matches(&bytes(b"q\xfe\xfe")));
        assert!(pattern("q?").matches(&bytes(b"q\xff")));
        assert!(!pattern("q?").matches(&bytes(b"q\xff\xff")));
        assert!(pattern(bytes(b"[\xfe\xff]")).matches(&bytes(b"\xff")));
        let plain = pattern(bytes(b"\\*\xff"));
        assert_eq!(plain.as_plain_name(), Some(&bytes(b"*\xff")));
    }

    #[test]
    fn an_invalid_glob_is_refused_with_its_reason() {
        for (input, why) in [
            ("a[b", "unclosed character class"),
            ("{a", "unclosed alternate group"),
            ("*}", "unopened alternate group"),
            ("[z-a]", "invalid range"),
            ("a\\", "dangling '\\'"),
            ("*a\\", "dangling '\\'"),
        ] {
            let error = NamePattern::parse(input.into()).unwrap_err();
            assert!(error.contains(why), "{input}: {error}");
        }
    }

    #[test]
    fn many_stars_and_braces_are_matched_quickly() {
        assert!(!fits(&"*a".repeat(50), &"a".repeat(40)));
        assert!(!fits(&"{a,b}".repeat(50), "a"));
        let deep = format!("{}{}", "{".repeat(2000), "}".repeat(2000));
        assert!(NamePattern::parse(deep.as_str().into()).is_err());
        assert!(NamePattern::parse("{".repeat(100_000).as_str().into()).is_err());
    }

    proptest! {
        #[test]
        fn an_escaped_name_matches_only_itself(name: Vec<u8>, other: Vec<u8>) {
            let mut input = Vec::new();
            for chunk in name.utf8_chunks() {
                for c in chunk.valid().chars() {
                    input.push(b'\\');
                    input.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                input.extend_from_slice(chunk.invalid());
            }
            let (name, other) = (Name::from(name), Name::from(other));
            input.extend(b"{,}");
            let glob = pattern(input);
            prop_assert!(glob.as_plain_name().is_none());
            prop_assert!(glob.matches(&name));
            prop_assert_eq!(glob.matches(&other), name == other);
        }
    }
}
