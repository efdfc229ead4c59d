//! JSON as the server stores it. Reading rounds no number, reorders no key and loses no byte.

pub(crate) mod cjson;
pub(crate) mod data;
pub(crate) mod object;
pub(crate) mod path;
pub(crate) mod quote;
pub(crate) mod syntax;
pub(crate) mod write;

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::name::{Name, byte_of_lossless_char, lossless_text};

/// A JSON text written by the core or by another client.
///
/// Its strings need not be UTF-8, because the core copies bytes as they are. The text is therefore
/// kept as [`lossless_text`]; its strings become a [`Name`] again when they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Reads one JSON value; `None` if the bytes are not JSON.
    pub fn parse(bytes: &[u8]) -> Option<Json> {
        let text = lossless_text(bytes);
        serde_json::from_str::<IgnoredAny>(&text).ok()?;
        Some(Json(text.into_owned()))
    }

    /// A string: the text is not parsed.
    pub(crate) fn from_unquoted_text(text: &str) -> Json {
        Json(serde_json::Value::from(lossless_text(text.as_bytes())).to_string())
    }

    /// A number, without a decimal point if it is whole.
    pub(crate) fn from_finite_number(number: f64) -> Json {
        Json(format!("{number}"))
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// The elements of an array. The core writes an empty array as `{}`, so that is accepted, too.
    pub fn array(&self) -> Option<Vec<Json>> {
        if let Some(fields) = self.object() {
            return fields.is_empty().then(Vec::new);
        }
        let items: Vec<&RawValue> = serde_json::from_str(&self.0).ok()?;
        Some(items.into_iter().map(Json::from).collect())
    }

    /// The fields of an object, in their order.
    pub fn object(&self) -> Option<Vec<(Name, Json)>> {
        let OrderedFields(fields) = serde_json::from_str(&self.0).ok()?;
        Some(
            fields
                .into_iter()
                .map(|(key, value)| (Name::from_lossless_text(&key), Json::from(value)))
                .collect(),
        )
    }

    /// A string, byte for byte.
    pub fn text(&self) -> Option<Name> {
        let text: String = serde_json::from_str(&self.0).ok()?;
        Some(Name::from_lossless_text(&text))
    }

    /// A list of strings, as tags are stored.
    pub fn text_array(&self) -> Option<Vec<Name>> {
        self.array()?.iter().map(Json::text).collect()
    }

    pub fn number(&self) -> Option<f64> {
        serde_json::from_str(&self.0).ok()
    }

    /// The length of the text in bytes.
    pub(crate) fn text_byte_length(&self) -> usize {
        self.0.len()
    }

    /// The text on one line, for people.
    pub fn to_single_line(&self) -> Name {
        Name::from_lossless_text(&strip_white_space_between_tokens(&self.0))
    }
}

/// The value of the first field with this name.
pub(crate) fn field_value<'f>(fields: &'f [(Name, Json)], name: &str) -> Option<&'f Json> {
    let mut fields = fields.iter();
    let found = fields.find(|(key, _)| key.as_bytes() == name.as_bytes());
    found.map(|(_, value)| value)
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Json {
        Json(raw.get().to_owned())
    }
}

/// Writes the value on one line. Its digits and the order of its keys stay. A byte that is not UTF-8 becomes `\xff`.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = strip_white_space_between_tokens(&self.0);
        if text.chars().any(|c| byte_of_lossless_char(c).is_some()) {
            let bytes = Name::from_lossless_text(&text).into_bytes();
            text.clear();
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                for byte in chunk.invalid() {
                    text.push_str(&format!("\\\\x{byte:02x}"));
                }
            }
        }
        let raw = RawValue::from_string(text).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Drops the white space between the tokens of a JSON text.
fn strip_white_space_between_tokens(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let (mut inside, mut escaped) = (false, false);
    for c in text.chars() {
        if inside {
            (inside, escaped) = (escaped || c != '"', !escaped && c == '\\');
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            inside = c == '"';
        }
        short.push(c);
    }
    short
}

/// The fields of an object in their order, which a map would not keep.
pub(crate) struct OrderedFields<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

/// A key, borrowed if it has no escapes.
#[derive(Deserialize)]
struct ObjectKey<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> OrderedFields<'a> {
    /// Adds the fields of the object `text` to `fields`, up to the first syntax error.
    fn read_fields_before_fault(
        text: &'a [u8],
        fields: &mut Vec<(Cow<'a, str>, &'a RawValue)>,
    ) -> serde_json::Result<()> {
        serde_json::Deserializer::from_slice(text).deserialize_map(OrderedFieldsVisitor(fields))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for OrderedFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OrderedFields<'a>, D::Error> {
        // Most objects have up to 16 fields, for which this list need not grow.
        let mut fields = Vec::with_capacity(16);
        deserializer.deserialize_map(OrderedFieldsVisitor(&mut fields))?;
        Ok(OrderedFields(fields))
    }
}

/// Adds each field to a list.
struct OrderedFieldsVisitor<'m, 'a>(&'m mut Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Visitor<'de> for OrderedFieldsVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Adds each field, in order. A repeated key is added again.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((ObjectKey(key), value)) = map.next_entry()? {
            self.0.push((key, value));
        }
        Ok(())
    }
}

/// A number in a document: without a fraction if it is whole, `null` if it is not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct Number(pub f64);

impl Number {
    /// Parses the decimal text of a stored field. `inf` and `nan` are numbers, too.
    pub fn from_decimal(text: &[u8]) -> Option<Number> {
        std::str::from_utf8(text)
            .ok()?
            .trim()
            .parse()
            .ok()
            .map(Number)
    }

    /// Rounds down to a whole number.
    pub fn floor(self) -> i64 {
        self.0.floor() as i64
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

#[cfg(test)]
mod tests {
    use super::data::JobData;
    use super::*;

    fn written(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn digits_key_order_and_empty_lists_are_kept() {
        let text = r#"{"b":9007199254740993,"a":[],"c":1.10,"b":2}"#;
        assert_eq!(written(&Json::parse(text.as_bytes()).unwrap()), text);
        assert_eq!(
            written(&JobData::from(text.as_bytes().to_vec())),
            format!(r#"{{"data":{text}}}"#)
        );
    }

    #[test]
    fn only_bytes_that_are_no_utf8_are_escaped() {
        let json = Json::parse(b"\"\xff\xf4\x8f\xbe\x80\"").unwrap();
        assert_eq!(written(&json), "\"\\\\xff\u{10FF80}\"");
    }

    #[test]
    fn values_are_on_one_line_and_strings_keep_their_spaces() {
        let data = JobData::from(b"{ \"a b\" :\n [ 1 , \"\\\" x\" ] }\n".to_vec());
        assert_eq!(written(&data), r#"{"data":{"a b":[1,"\" x"]}}"#);
    }

    #[test]
    fn data_that_is_not_json_is_null_beside_its_bytes() {
        for (bytes, base64) in [(&b"NaN"[..], "TmFO"), (b"", ""), (b"\"\xff\"", "Iv8i")] {
            let data = JobData::from(bytes.to_vec());
            assert_eq!(
                written(&data),
                format!(r#"{{"data":null,"data_bytes":"{base64}"}}"#)
            );
        }
    }

    #[test]
    fn an_exact_document_preserves_blanks_or_has_the_bytes() {
        let exactly = |text: &str| {
            let plain = |text: &str| !text.contains(['\n', '\u{7f}']);
            written(
                &JobData::from(text.as_bytes().to_vec()).with_base64_unless_shown_exactly(plain),
            )
        };
        assert_eq!(exactly("{ \"a\": 1 }"), r#"{"data":{ "a": 1 }}"#);
        assert_eq!(
            exactly("[1,\n2]"),
            r#"{"data":[1,2],"data_bytes":"WzEsCjJd"}"#
        );
        assert_eq!(exactly(" 1"), r#"{"data":1,"data_bytes":"IDE="}"#);
        assert_eq!(exactly("nan"), r#"{"data":null,"data_bytes":"bmFu"}"#);
    }

    #[test]
    fn deep_data_is_neither_refused_nor_overflows() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(
            written(&JobData::from(deep.clone().into_bytes())),
            format!(r#"{{"data":{deep}}}"#)
        );
    }

    #[test]
    fn strings_that_are_not_utf8_keep_their_bytes() {
        let json = Json::parse(b"[\"caf\xe9\",\"\\u00e9\"]").unwrap();
        let names = json.text_array().unwrap();
        assert_eq!(names, [Name::from(&b"caf\xe9"[..]), Name::from("é")]);
        assert_eq!(written(&json), r#"["caf\\xe9","\u00e9"]"#);
    }

    #[test]
    fn the_empty_object_of_the_core_is_an_empty_list() {
        assert_eq!(Json::parse(b"{}").unwrap().text_array(), Some(Vec::new()));
        assert_eq!(Json::parse(b"[]").unwrap().text_array(), Some(Vec::new()));
        assert_eq!(Json::parse(b"{\"a\":1}").unwrap().text_array(), None);
        assert_eq!(Json::parse(b"[1]").unwrap().text_array(), None);
    }

    #[test]
    fn whole_numbers_have_no_fraction_and_infinite_ones_are_null() {
        let numbers = [10.0, 1.5, -3.0, f64::INFINITY, f64::NAN].map(Number);
        assert_eq!(written(&numbers), "[10,1.5,-3,null,null]");
    }
}
