//! The data of a job in a document of `-o json`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::strip_white_space_between_tokens;

/// The data of a job, byte for byte as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobData {
    bytes: Vec<u8>,
    form: DataBytesPreservation,
}

/// How a document writes the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataBytesPreservation {
    /// The value on one line.
    #[default]
    Line,
    /// The stored text, with its white space.
    Whole,
    /// The value on one line in `data`, and the stored bytes in `data_bytes`, because the value does not preserve them.
    Both,
}

impl JobData {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Keeps the first bytes.
    pub(crate) fn keep_first_bytes(&mut self, max_bytes: usize) {
        self.bytes.truncate(max_bytes);
        self.bytes.shrink_to_fit();
    }

    /// The data in a form that preserves each byte in a document. `is_unchanged` says whether a document shows a text
    /// without escaping any of it.
    pub fn with_base64_unless_shown_exactly(self, is_unchanged: impl Fn(&str) -> bool) -> JobData {
        let text = std::str::from_utf8(&self.bytes);
        let unchanged = text.is_ok_and(|text| text.trim_ascii() == text && is_unchanged(text));
        let form = if unchanged {
            DataBytesPreservation::Whole
        } else {
            DataBytesPreservation::Both
        };
        JobData { form, ..self }
    }

    /// The JSON value; `None` if the stored bytes are not JSON.
    fn to_json_value(&self) -> Option<Box<RawValue>> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let text = match self.form {
            DataBytesPreservation::Whole => text.to_owned(),
            DataBytesPreservation::Line | DataBytesPreservation::Both => {
                strip_white_space_between_tokens(text)
            }
        };
        RawValue::from_string(text).ok()
    }
}

impl From<Vec<u8>> for JobData {
    fn from(bytes: Vec<u8>) -> JobData {
        let form = DataBytesPreservation::default();
        JobData { bytes, form }
    }
}

/// Writes the field `data` and, if `data` does not preserve the stored bytes, `data_bytes`. The document's struct
/// includes both with `serde(flatten)`.
impl Serialize for JobData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        let mut fields = serializer.serialize_map(None)?;
        let json = self.to_json_value();
        fields.serialize_entry("data", &json)?;
        if json.is_none() || self.form == DataBytesPreservation::Both {
            fields.serialize_entry("data_bytes", &STANDARD.encode(&self.bytes))?;
        }
        fields.end()
    }
}

impl JsonSchema for JobData {
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
