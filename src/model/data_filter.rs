//! A filter on the data of jobs: `PATH=VALUE`, `PATH=~REGEX` or `PATH!~REGEX`.
//!
//! `PATH=VALUE` rounds no number: 9007199254740993 is not 9007199254740992. Numbers are equal if their values are (1,
//! 1.0, 1e0), strings if their characters are, objects if they have equal fields in any order. A string never equals a
//! number.
//!
//! A regular expression is searched in the characters of a string, and in the stored text of any other scalar. A list,
//! an object or a missing field never passes, even with `!~`: so a bulk command never changes a job whose data lack the
//! field.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::json::data::JobData;
use crate::json::path::JsonPath;
use crate::model::text_regex::TextRegex;
use crate::name::{Name, lossless_text};

/// A path in the data, and the condition that the value there must meet.
#[derive(Clone, Debug)]
pub(crate) struct DataFilter {
    path: JsonPath,
    condition: ValueCondition,
}

#[derive(Clone, Debug)]
enum ValueCondition {
    Equals(ComparableValue),
    /// `=~`, or `!~` if `negated`.
    Matches {
        regex: TextRegex,
        negated: bool,
    },
}

/// A JSON value in a form that can be compared: numbers as exact decimals, objects with their fields sorted.
#[derive(Clone, Debug, PartialEq)]
enum ComparableValue {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    List(Vec<ComparableValue>),
    Object(BTreeMap<String, ComparableValue>),
}

/// Maximum nesting depth of the VALUE in a filter. A stored value with a deeper nesting never equals it.
const MAX_DEPTH: usize = 100;

impl DataFilter {
    /// Reads `PATH=VALUE`, `PATH=~REGEX` or `PATH!~REGEX`. The error is the text that follows `expects` in a
    /// message.
    pub(crate) fn parse(input: &Name) -> Result<DataFilter, String> {
        let bytes = input.as_bytes();
        // In a path that is a JSON pointer, `~0` and `~1` are escapes: in `/a!~1b=2`, the path is the field `a!/b`, and
        // `!~` is no operator.
        let is_negated = |at: usize| {
            bytes[at..].starts_with(b"!~")
                && !(bytes.starts_with(b"/") && matches!(bytes.get(at + 2), Some(b'0' | b'1')))
        };
        let Some(end) = (0..bytes.len()).find(|&at| bytes[at] == b'=' || is_negated(at)) else {
            return Err("PATH=VALUE such as `user.id=42`, PATH=~REGEX or PATH!~REGEX".into());
        };
        let (before, after) = (&bytes[..end], &bytes[end + 1..]);
        let read_path = |path: &[u8], operator| {
            JsonPath::parse(path).map_err(|what| format!("{what} before its `{operator}`"))
        };
        let Some(regex) = after.strip_prefix(b"~") else {
            let path = read_path(before, "=")?;
            let condition = ValueCondition::Equals(ComparableValue::parse_argument(after)?);
            return Ok(DataFilter { path, condition });
        };
        let negated = bytes[end] == b'!';
        // Some languages have spaces around the operator: accept `a =~ b`.
        let (before, regex) = match (before.strip_suffix(b" "), regex.strip_prefix(b" ")) {
            (Some(before), Some(regex)) => (before, regex),
            _ => (before, regex),
        };
        let path = read_path(before, if negated { "!~" } else { "=~" })?;
        let regex = str::from_utf8(regex).map_err(|_| "a regular expression in UTF-8")?;
        let regex = TextRegex::parse(regex)?;
        let condition = ValueCondition::Matches { regex, negated };
        Ok(DataFilter { path, condition })
    }

    /// For `PATH=VALUE` with a `*` or `?`, which such a filter takes literally: the regular expression that the user
    /// probably meant.
    pub(crate) fn suggested_regex_filter(&self) -> Option<Name> {
        match &self.condition {
            ValueCondition::Equals(ComparableValue::Text(text)) if text.contains(['*', '?']) => {
                let regex = regex_syntax::escape(text);
                let regex = regex.replace(r"\*", ".*").replace(r"\?", ".");
                let path = self.path.to_string();
                Some(Name::from_lossless_text(&format!("{path}=~^{regex}$")))
            }
            _ => None,
        }
    }

    /// For a path that begins with `data`, as in `get --field`: the path, and its rest after `data`. The filter uses
    /// the rest if the data has no field `data`.
    pub(crate) fn path_and_rest_after_data(&self) -> Option<(&JsonPath, JsonPath)> {
        Some((&self.path, self.path.strip_field_prefix("data")?))
    }

    pub(crate) fn matches(&self, data: &JobData) -> bool {
        let text = lossless_text(data.as_bytes());
        let below = self.path_and_rest_after_data();
        let below = below.filter(|_| JsonPath::of_field("data").find_value(&text).is_none());
        let path = below.as_ref().map_or(&self.path, |(_, below)| below);
        path.find_value(&text)
            .is_some_and(|found| match &self.condition {
                ValueCondition::Equals(value) => value.equals(found),
                ValueCondition::Matches { regex, negated } => {
                    let scalar = scalar_text(found);
                    scalar.is_some_and(|text| regex.matches(&text) != *negated)
                }
            })
    }
}

/// The characters of a string, or the stored text of another scalar. `None` for a list or an object.
fn scalar_text(stored: &RawValue) -> Option<Name> {
    match stored.get().as_bytes().first()? {
        b'[' | b'{' => None,
        b'"' => {
            let text: String = serde_json::from_str(stored.get()).ok()?;
            Some(Name::from_lossless_text(&text))
        }
        _ => Some(Name::from(stored.get())),
    }
}

impl ComparableValue {
    /// Reads the VALUE of a filter, as JSON if it is valid JSON, else as a string.
    fn parse_argument(bytes: &[u8]) -> Result<ComparableValue, String> {
        let text = lossless_text(bytes);
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(json) => ComparableValue::from_json(json, MAX_DEPTH)
                .ok_or_else(|| format!("a value nested at most {MAX_DEPTH} deep")),
            Err(_) => Ok(ComparableValue::Text(text.into_owned())),
        }
    }

    /// Converts a value. `None` if it is nested too deep.
    fn from_json(json: &RawValue, depth_left: usize) -> Option<ComparableValue> {
        let text = json.get();
        Some(match text.as_bytes().first()? {
            b'n' => ComparableValue::Null,
            b't' => ComparableValue::Bool(true),
            b'f' => ComparableValue::Bool(false),
            b'"' => ComparableValue::Text(serde_json::from_str(text).ok()?),
            b'[' => {
                let depth_left = depth_left.checked_sub(1)?;
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let items = items
                    .into_iter()
                    .map(|item| ComparableValue::from_json(item, depth_left));
                ComparableValue::List(items.collect::<Option<_>>()?)
            }
            b'{' => {
                let depth_left = depth_left.checked_sub(1)?;
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                let fields = fields.into_iter().map(|(key, value)| {
                    Some((key, ComparableValue::from_json(value, depth_left)?))
                });
                ComparableValue::Object(fields.collect::<Option<_>>()?)
            }
            _ => ComparableValue::Number(Decimal::parse(text)),
        })
    }

    /// Whether a stored value equals this one. Returns early if their types differ.
    fn equals(&self, stored: &RawValue) -> bool {
        let same_type = match stored.get().as_bytes().first() {
            Some(b'n') => matches!(self, ComparableValue::Null),
            Some(b't' | b'f') => matches!(self, ComparableValue::Bool(_)),
            Some(b'"') => matches!(self, ComparableValue::Text(_)),
            Some(b'[') => matches!(self, ComparableValue::List(_)),
            Some(b'{') => matches!(self, ComparableValue::Object(_)),
            _ => matches!(self, ComparableValue::Number(_)),
        };
        same_type && ComparableValue::from_json(stored, MAX_DEPTH).as_ref() == Some(self)
    }
}

/// A decimal number of any length, compared by its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    /// The digits without leading and trailing zeros. Empty for the number 0.
    digits: String,
    /// The position of the decimal point relative to the first digit.
    point: i128,
}

impl Decimal {
    /// Reads a JSON number.
    fn parse(text: &str) -> Decimal {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let leading = digits.len() - significant.len();
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Decimal {
                negative: false,
                digits: String::new(),
                point: 0,
            };
        }
        // An exponent that overflows `i128` decides alone: no mantissa is long enough to compensate it.
        let exponent = exponent
            .parse::<i128>()
            .unwrap_or(if exponent.starts_with('-') {
                i128::MIN / 2
            } else {
                i128::MAX / 2
            });
        Decimal {
            negative,
            digits: significant.to_owned(),
            point: exponent + whole.len() as i128 - leading as i128,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(input: &[u8], data: &[u8]) -> bool {
        let data = JobData::from(data.to_vec());
        DataFilter::parse(&input.into()).unwrap().matches(&data)
    }

    #[test]
    fn values_are_compared_as_they_are_stored() {
        for (input, data) in [
            ("a=9007199254740993", r#"{"a":9007199254740993}"#),
            ("a=1", r#"{"a":1.0}"#),
            ("a=1.0", r#"{"a":1}"#),
            ("a=100", r#"{"a":1e2}"#),
            ("a=0.001", r#"{"a":1E-3}"#),
            ("a=-0", r#"{"a":0.0e5}"#),
            ("a=A1", r#"{"a":"A1"}"#),
            ("a=\"42\"", r#"{"a":"42"}"#),
            ("a=é", r#"{"a":"\u00e9"}"#),
            ("a=", r#"{"a":""}"#),
            ("a=b=c", r#"{"a":"b=c"}"#),
            ("a= x", r#"{"a":" x"}"#),
            ("a=null", r#"{"a":null}"#),
            ("a=true", r#"{"a":true}"#),
            ("a=[]", r#"{"a":[ ]}"#),
            ("a=[1,{\"x\":[]}]", r#"{"a":[1.0, {"x":[]}]}"#),
            ("a={\"x\":1,\"y\":2}", r#"{"a":{"y":2,"x":1}}"#),
            ("/0/a=1", r#"[{"a":1}]"#),
            ("a=~^c1..$", r#"{"a":"c1\u00e97"}"#),
            ("a =~ ^c1", r#"{"a":"c1"}"#),
            ("a!~^c2", r#"{"a":"c1"}"#),
            ("a=~^4", r#"{"a":42}"#),
            ("a!~^4", r#"{"a":null}"#),
            ("a=~=b", r#"{"a":"x=b"}"#),
            ("a=b!~c", r#"{"a":"b!~c"}"#),
            ("a=\"~c\"", r#"{"a":"~c"}"#),
            ("/a!~1b=1", r#"{"a!/b":1}"#),
        ] {
            assert!(fits(input.as_bytes(), data.as_bytes()), "{input} {data}");
        }
        for (input, data) in [
            ("a=9007199254740993", r#"{"a":9007199254740992}"#),
            ("a=9007199254740992", r#"{"a":9007199254740993}"#),
            ("a=1", r#"{"a":-1}"#),
            ("a=1", r#"{"a":10}"#),
            ("a=42", r#"{"a":"42"}"#),
            ("a=\"42\"", r#"{"a":42}"#),
            ("a=null", r#"{"b":1}"#),
            ("a=true", r#"{"a":false}"#),
            ("a=[]", r#"{"a":{}}"#),
            ("a={}", r#"{"a":[]}"#),
            ("a={\"x\":1}", r#"{"a":{"x":1,"y":2}}"#),
            ("a=[1,2]", r#"{"a":[2,1]}"#),
            ("a=~^c2", r#"{"a":"c1"}"#),
            ("a!~^c1", r#"{"a":"c1"}"#),
            ("a!~x", r#"{"b":1}"#),
            ("a!~x", r#"{"a":{"b":1}}"#),
            ("a=~1", r#"{"a":[1]}"#),
            ("a=1", "not json"),
            ("a=1", ""),
        ] {
            assert!(!fits(input.as_bytes(), data.as_bytes()), "{input} {data}");
        }
    }

    #[test]
    fn data_that_is_not_utf8_is_compared_by_bytes() {
        assert!(fits(b"a=caf\xe9", b"{\"a\":\"caf\xe9\"}"));
        assert!(!fits(b"a=caf\xe8", b"{\"a\":\"caf\xe9\"}"));
        assert!(fits(b"\xff=1", b"{\"\xff\":1}"));
        assert!(fits(b"a=~(?-u)^caf\\xe9$", b"{\"a\":\"caf\xe9\"}"));
    }

    #[test]
    fn huge_numbers_neither_round_nor_overflow() {
        let huge = "9".repeat(5000);
        let data = format!("{{\"a\":{huge}}}");
        assert!(fits(format!("a={huge}").as_bytes(), data.as_bytes()));
        assert!(!fits(
            format!("a={}8", &huge[1..]).as_bytes(),
            data.as_bytes()
        ));
        let exponent = format!("a=1e{}", "9".repeat(50));
        assert!(!fits(exponent.as_bytes(), br#"{"a":1}"#));
        assert!(fits(
            exponent.as_bytes(),
            format!("{{\"{}}}", exponent.replace('=', "\":")).as_bytes()
        ));
    }

    #[test]
    fn deep_values_are_refused_and_deep_data_never_match() {
        let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
        assert!(DataFilter::parse(&format!("a={deep}").into()).is_err());
        assert!(!fits(b"a=[]", format!("{{\"a\":{deep}}}").as_bytes()));
    }

    proptest! {
        #[test]
        fn numbers_are_equal_if_their_values_are(
            digits in 0u64..1_000_000, shift in 0usize..6, zeros in 0usize..4,
        ) {
            let one = Decimal::parse(&digits.to_string());
            let tail = "0".repeat(zeros);
            prop_assert_eq!(&one, &Decimal::parse(&format!("{digits}.{tail}0")));
            prop_assert_eq!(&one, &Decimal::parse(&format!("{digits}{}e-{shift}", "0".repeat(shift))));
            prop_assert_eq!(&one, &Decimal::parse(&format!("0.{}{digits:07}e{}", "0".repeat(shift), shift + 7)));
            let negative = Decimal::parse(&format!("-{digits}"));
            prop_assert_eq!(one == negative, digits == 0);
            prop_assert_ne!(one, Decimal::parse(&(digits + 1).to_string()));
        }
    }
}
