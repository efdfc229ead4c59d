//! Strict checks of stored values. A value that fails a check makes a candidate, which the core verifies. So a check
//! may refuse a value that the core accepts, but must refuse each value that the core would report.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::syntax::{first_lone_surrogate, first_nested_deeper};
use crate::name::Name;

/// Longer texts are left to the core.
const MAX_BYTES: usize = 1_000_000;

/// Deeper documents are left to the core.
const MAX_DEPTH: usize = 500;

/// A finite number in decimal digits.
pub fn parse_finite_decimal(text: &[u8]) -> Option<f64> {
    let plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e');
    if !text.last()?.is_ascii_digit() || !text.iter().all(plain) || text[0] == b'+' {
        return None;
    }
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A score as the server writes it.
pub fn parse_score(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether a text is an integer, as counters must be.
pub fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && text.len() <= 18 && digits.iter().all(u8::is_ascii_digit)
}

/// Whether every client can parse a text as JSON.
pub fn is_portable_json(text: &[u8]) -> bool {
    if text == b"{}" {
        return true;
    }
    text.len() <= MAX_BYTES
        && first_nested_deeper(text, MAX_DEPTH).is_none()
        && serde_json::from_slice::<&RawValue>(text).is_ok()
        && first_lone_surrogate(text).is_none()
}

/// The distinct tags of a JSON list of up to 1,000 strings in UTF-8. `None` for any other value, which only the core
/// can verify.
pub fn parse_and_deduplicate_utf8_texts(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    if text == b"{}" || text == b"[]" {
        return Some(Vec::new());
    }
    if text.len() > MAX_BYTES {
        return None;
    }
    let list: Vec<String> = serde_json::from_slice(text).ok()?;
    if list.len() > 1000 {
        return None;
    }
    let mut tags: Vec<Vec<u8>> = list.into_iter().map(String::into_bytes).collect();
    if tags.len() > 1 {
        tags.sort_unstable();
        tags.dedup();
    }
    Some(tags)
}

/// The failure of a job, as far as the scan needs it.
#[derive(Debug, PartialEq, Deserialize)]
pub struct StoredFailure {
    pub group: Name,
    pub when: f64,
}

/// The failure in a stored object.
pub fn parse_failure(text: &[u8]) -> Option<StoredFailure> {
    // Clients may store names that are not UTF-8. So check the syntax with replacement characters for the other bytes.
    let readable = match std::str::from_utf8(text) {
        Ok(_) => is_portable_json(text),
        Err(_) => is_portable_json(String::from_utf8_lossy(text).as_bytes()),
    };
    if text.first() != Some(&b'{') || !readable {
        return None;
    }
    serde_json::from_slice(text).ok()
}

/// Whether every client can read a history entry.
pub fn is_history_entry(text: &[u8]) -> bool {
    is_core_written_history_entry(text) || parses_as_history_entry(text)
}

/// Whether an entry has the form that the core writes: `[1,"put",{"q":"mail"}]`.
fn is_core_written_history_entry(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 15 || rest[0] == b'0' {
        return false;
    }
    let Some(rest) = rest[digits..]
        .strip_prefix(b",\"")
        .and_then(after_closing_quote)
    else {
        return false;
    };
    if rest == b"]" {
        return true;
    }
    let Some(rest) = rest.strip_prefix(b",{\"") else {
        return false;
    };
    let letters = rest.iter().take_while(|byte| byte.is_ascii_lowercase());
    let letters = letters.count();
    let rest = rest[letters..].strip_prefix(b"\":\"");
    letters > 0 && rest.and_then(after_closing_quote) == Some(b"}]")
}

/// The rest of a text behind the next closing quote. `None` if an escape or a control character comes before it.
fn after_closing_quote(text: &[u8]) -> Option<&[u8]> {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=31 | 127);
    let end = text.iter().position(special)?;
    text[end..].strip_prefix(b"\"")
}

fn parses_as_history_entry(text: &[u8]) -> bool {
    if !is_portable_json(text) {
        return false;
    }
    match serde_json::from_slice::<Vec<Value>>(text) {
        Ok(list) => match list.as_slice() {
            [when, what] => when.is_number() && what.is_string(),
            [when, what, item] => when.is_number() && what.is_string() && item.is_object(),
            _ => false,
        },
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_finite() {
        for text in ["0", "-1", "1.5", "1000.50000000000000000000", "1e5", "-0"] {
            assert!(parse_finite_decimal(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "", " 1", "1 ", "0x10", "nan", "inf", "-inf", "1e999", "1.", "abc", "1,5", "+1",
        ] {
            assert_eq!(parse_finite_decimal(text.as_bytes()), None, "{text}");
        }
        assert!(is_integer(b"-1") && is_integer(b"0") && is_integer(b"12"));
        assert!(
            !is_integer(b"") && !is_integer(b"-") && !is_integer(b"1.0") && !is_integer(b"1e3")
        );
        assert!(!is_integer(b"12345678901234567890"));
    }

    #[test]
    fn json_is_accepted_only_if_the_core_accepts_it() {
        for text in [
            "{}",
            "[]",
            "null",
            "1",
            r#"{"a":[1,2,{"b":"c"}]}"#,
            r#""\u00e9""#,
            r#""\ud83d\ude00""#,
        ] {
            assert!(is_portable_json(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "{",
            "nan",
            "{a:1}",
            r#""\ud83d""#,
            "[1,]",
            "{} x",
            "1\0",
        ] {
            assert!(!is_portable_json(text.as_bytes()), "{text}");
        }
        assert!(!is_portable_json("[".repeat(2000).as_bytes()));
        let deep = "[".repeat(1001) + &"]".repeat(1001);
        assert!(!is_portable_json(deep.as_bytes()));
        assert!(!is_portable_json(&vec![b' '; MAX_BYTES + 1]));
        let wide = format!("[{}{{}}]", r#"{"a":"]\""},"#.repeat(2000));
        assert!(is_portable_json(wide.as_bytes()));
    }

    #[test]
    fn tags_are_texts_without_duplicates() {
        let texts = |text: &str| {
            let tags = parse_and_deduplicate_utf8_texts(text.as_bytes())?.into_iter();
            Some(tags.map(|tag| String::from_utf8(tag).unwrap()).collect())
        };
        assert_eq!(texts("{}"), Some(Vec::<String>::new()));
        assert_eq!(
            texts(r#"["b","a","b"]"#),
            Some(vec!["a".into(), "b".into()])
        );
        for text in ["", "null", "[1]", r#"{"a":1}"#, r#"["a""#, r#""a""#] {
            assert_eq!(texts(text), None, "{text}");
        }
    }

    #[test]
    fn a_failure_has_group_and_time() {
        let failure = parse_failure;
        let found = failure(br#"{"group":"g","message":"m","when":12,"worker":"w"}"#);
        assert_eq!(found.map(|found| found.when), Some(12.0));
        for text in [
            "",
            "{}",
            "[]",
            r#"{"group":1,"when":1}"#,
            r#"{"group":"g","when":"1"}"#,
            r#"{"group":"g"}"#,
            r#"{"group":"g","group":"h","when":1}"#,
            r#"{"group":[103],"when":1}"#,
        ] {
            assert_eq!(failure(text.as_bytes()), None, "{text}");
        }
        let bytes = failure(b"{\"group\":\"g\xfe\",\"when\":1,\"worker\":\"w\xff\"}");
        assert_eq!(
            bytes.map(|found| found.group),
            Some(Name::from(b"g\xfe".as_slice()))
        );
        assert_eq!(failure(b"{\"group\":\"g\xfe,\"when\":1}"), None);
    }

    #[test]
    fn history_entries_have_two_or_three_values() {
        for text in [
            r#"[1000,"put",{"q":"mail"}]"#,
            r#"[1000,"done"]"#,
            r#"[0,"done"]"#,
            r#"[1.5,"a \"b\"",{"x":[1]}]"#,
            r#"[1000,"failed",{"group":"g","worker":"w"}]"#,
            r#"[12,"x",{}]"#,
        ] {
            assert!(is_history_entry(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "[]",
            r#"["put",1]"#,
            r#"[1,"x",null]"#,
            r#"[1,"x",[]]"#,
            r#"[1,"x",{},1]"#,
            r#"[1,"x",{"a":1e999}]"#,
            r#"[01,"x"]"#,
            r#"[1,"x"}"#,
        ] {
            assert!(!is_history_entry(text.as_bytes()), "{text}");
        }
        assert!(is_history_entry(b"[1,\"\xff\"]"));
    }
}
