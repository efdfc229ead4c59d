//! Paths in a JSON text: `user.id`, `items.0.sku`, or a JSON pointer such as `/user/id`.

use std::fmt;

use serde_json::value::RawValue;

use super::OrderedFields;
use super::syntax::JsonType;
use crate::name::lossless_text;

/// The keys and indexes that lead to a value within a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<String>);

impl JsonPath {
    /// Parses a path. The error is the text that follows `expects` in a message.
    pub(crate) fn parse(input: &[u8]) -> Result<JsonPath, &'static str> {
        let text = lossless_text(input);
        if let Some(pointer) = text.strip_prefix('/') {
            return pointer
                .split('/')
                .map(unescape_step)
                .collect::<Result<_, _>>()
                .map(JsonPath);
        }
        let steps: Vec<String> = text.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) {
            Err("a path such as `user.id`, `items.0.sku` or `/user/id`")
        } else {
            Ok(JsonPath(steps))
        }
    }

    /// The path of a field of the root.
    pub(crate) fn of_field(name: &str) -> JsonPath {
        JsonPath(vec![name.to_owned()])
    }

    /// The rest of the path after its first step, if that is `field`. `None` if the path begins otherwise or has no
    /// rest.
    pub(crate) fn strip_field_prefix(&self, field: &str) -> Option<JsonPath> {
        match self.0.split_first() {
            Some((first, rest)) if first == field && !rest.is_empty() => {
                Some(JsonPath(rest.to_vec()))
            }
            _ => None,
        }
    }

    /// The value at this path. `None` if there is no value, or a syntax error anywhere in `json`. Of several fields
    /// with one name, the last one counts.
    pub(crate) fn find_value<'j>(&self, json: &'j str) -> Option<&'j RawValue> {
        let mut value: &RawValue = serde_json::from_str(json).ok()?;
        for step in &self.0 {
            let text = value.get();
            value = match JsonType::from_text(text.as_bytes()) {
                JsonType::Object => {
                    let OrderedFields(fields) = serde_json::from_str(text).ok()?;
                    fields.into_iter().rev().find(|(key, _)| key == step)?.1
                }
                JsonType::Array => {
                    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                    *elements.get(list_index(step)?)?
                }
                _ => return None,
            };
        }
        Some(value)
    }
}

/// Shows a path as it can be typed: with dots where they are unambiguous, else as a JSON pointer.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let is_plain = |step: &String| !step.is_empty() && !step.contains(['.', '=']);
        let text = self.0.join(".");
        if self.0.iter().all(is_plain) && !text.starts_with('/') {
            return f.write_str(&text);
        }
        let mut steps = self.0.iter();
        steps.try_for_each(|step| write!(f, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}

/// Replaces the escapes `~0` and `~1` in a step of a JSON pointer by `~` and `/`.
fn unescape_step(step: &str) -> Result<String, &'static str> {
    let mut parts = step.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (c, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return Err("a JSON pointer, in which `~` is written `~0`"),
        };
        text.push(c);
        text.push_str(rest);
    }
    Ok(text)
}

/// The list index that a step of a path means. `None` if the step is not a plain decimal number.
fn list_index(step: &str) -> Option<usize> {
    let plain = step == "0" || !step.starts_with(['0', '+']);
    step.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = concat!(
        r#"{"user":{"id":9007199254740993},"items":[{"sku":"A1"},[7]],"a.b":1,"a/b~":2,"#,
        r#""":{"":3},"0":4,"twice":1,"twice":2,"n\u0061me":5}"#
    );

    fn found(path: &str) -> Option<&'static str> {
        JsonPath::parse(path.as_bytes())
            .unwrap()
            .find_value(DATA)
            .map(RawValue::get)
    }

    #[test]
    fn values_are_found_by_path_and_by_pointer() {
        for (path, value) in [
            ("user.id", "9007199254740993"),
            ("/user/id", "9007199254740993"),
            ("items.0.sku", "\"A1\""),
            ("items.1.0", "7"),
            ("/items/1/0", "7"),
            ("/a.b", "1"),
            ("/a~1b~0", "2"),
            ("//", "3"),
            ("0", "4"),
            ("twice", "2"),
            ("name", "5"),
        ] {
            assert_eq!(found(path), Some(value), "{path}");
        }
    }

    #[test]
    fn a_path_to_nothing_finds_nothing() {
        for path in [
            "a.b",
            "user.id.x",
            "items.2",
            "items.00",
            "items.+0",
            "items.-1",
            "nope",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
        let path = JsonPath::parse(b"a").unwrap();
        for text in [
            "",
            "[1]",
            "{\"a\":",
            "{\"a\":1",
            "nonsense",
            "{\"a\":01}",
            "7",
        ] {
            assert!(path.find_value(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_invalid_path_is_refused() {
        for path in ["", ".", "a.", ".a", "a..b", "/a~2", "/a~"] {
            assert!(JsonPath::parse(path.as_bytes()).is_err(), "{path}");
        }
    }

    #[test]
    fn deep_data_do_not_overflow_the_stack() {
        let deep = format!(
            "{{\"a\":{}1{},\"b\":2}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(
            JsonPath::parse(b"b")
                .unwrap()
                .find_value(&deep)
                .map(RawValue::get),
            Some("2")
        );
    }
}
