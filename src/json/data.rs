//! The data of a job as a document writes it.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::strip_white_space;

/// The data of a job, byte for byte as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    bytes: Vec<u8>,
    form: DataForm,
}

/// How a document writes the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataForm {
    /// The value on one line.
    #[default]
    Line,
    /// The text with its blanks, which preserves the stored bytes.
    Whole,
    /// The value, and beside it the bytes, which the value does not preserve.
    Both,
}

impl Data {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Keeps the first bytes.
    pub(crate) fn truncate(&mut self, max_bytes: usize) {
        self.bytes.truncate(max_bytes);
        self.bytes.shrink_to_fit();
    }

    /// The data in a form that preserves each byte in a document. `is_unchanged` decides whether a
    /// document holds a text unchanged.
    pub fn preserving_bytes(self, is_unchanged: impl Fn(&str) -> bool) -> Data {
        let text = std::str::from_utf8(&self.bytes);
        let unchanged = text.is_ok_and(|text| text.trim_ascii() == text && is_unchanged(text));
        let form = if unchanged {
            DataForm::Whole
        } else {
            DataForm::Both
        };
        Data { form, ..self }
    }

    /// The JSON value; `None` if the stored bytes are not JSON.
    fn to_json_value(&self) -> Option<Box<RawValue>> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let text = match self.form {
            DataForm::Whole => text.to_owned(),
            DataForm::Line | DataForm::Both => strip_white_space(text),
        };
        RawValue::from_string(text).ok()
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Data {
        let form = DataForm::default();
        Data { bytes, form }
    }
}

/// The field `data` and, if the bytes are not JSON, `data_bytes`; for `serde(flatten)`.
impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        let mut fields = serializer.serialize_map(None)?;
        let json = self.to_json_value();
        fields.serialize_entry("data", &json)?;
        if json.is_none() || self.form == DataForm::Both {
            fields.serialize_entry("data_bytes", &STANDARD.encode(&self.bytes))?;
        }
        fields.end()
    }
}

impl JsonSchema for Data {
    fn schema_name() -> Cow<'static, str> {
        "Data".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "data": {
                    "description": "The data as stored; null if that is not JSON",
                },
                "data_bytes": {
                    "type": "string",
                    "description": "The data in base64, if it is not JSON; in an export also if \
                                    `data` does not preserve each byte",
                },
            },
            "required": ["data"],
        })
    }
}
