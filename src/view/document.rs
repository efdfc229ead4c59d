//! The content of a document: its JSON Schema and its outline. The fields stand in `documents.ndjson`, which a test
//! writes from the types of the models and from the doc comments of their fields: as code, they would be 0.25 MB
//! of each binary.

#[cfg(test)]
pub(crate) mod derived;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// A line for each kind of document: `kind`, and the JSON Schema of its `fields`.
const FIELDS: &str = include_str!("documents.ndjson");

#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentKind {
    pub kind: &'static str,
    /// The content of the document, and the commands that write it.
    pub summary: &'static str,
    /// The kind of document whose fields some items have instead.
    other_items: Option<&'static str>,
    /// Write the schemas of the types that commands write as this kind.
    #[cfg(test)]
    schemas: [Option<derived::WriteSchema>; 3],
}

// Only the test that writes the stored fields asks for the types.
#[cfg_attr(not(test), expect(clippy::extra_unused_type_parameters))]
impl DocumentKind {
    /// A document with the fields of `T`, besides `kind` and `v`.
    pub(crate) const fn new<T: JsonSchema>(
        kind: &'static str,
        summary: &'static str,
    ) -> DocumentKind {
        DocumentKind {
            kind,
            summary,
            other_items: None,
            #[cfg(test)]
            schemas: [Some(T::json_schema), None, None],
        }
    }

    /// A list in which some items have the fields of the document `kind` instead.
    pub(crate) const fn with_items_also_of(self, kind: &'static str) -> DocumentKind {
        DocumentKind {
            other_items: Some(kind),
            ..self
        }
    }

    /// The document, which some commands write with the fields of `T`.
    #[cfg_attr(not(test), expect(unused_mut))]
    pub(crate) const fn add_fields_of<T: JsonSchema>(mut self) -> DocumentKind {
        #[cfg(test)]
        {
            let at = if self.schemas[1].is_none() { 1 } else { 2 };
            self.schemas[at] = Some(T::json_schema);
        }
        self
    }

    pub(crate) fn json_schema_text(&self) -> String {
        let fields = self.fields_schema();
        let mut properties = Map::new();
        properties.insert("kind".into(), json!({ "const": self.kind }));
        properties.insert("v".into(), json!({ "const": 1 }));
        properties.extend(fields_at(&fields, "properties"));
        if let (Some(kind), Some(list)) = (self.other_items, properties.get_mut("items")) {
            list["items"] = json!({ "anyOf": [list["items"].take(), fields_of_kind(kind)] });
        }
        let required = fields["required"].as_array().cloned().unwrap_or_default();
        let required = [vec!["kind".into(), "v".into()], required].concat();
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.kind,
            "description": self.summary,
            "type": "object",
            "properties": properties,
            "required": required,
        });
        format!("{schema:#}\n")
    }

    /// The fields of the document in order. The fields of an item or an object come below it.
    pub(crate) fn field_outline(&self) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        add_outline_lines(&self.fields_schema(), 0, &mut lines);
        lines
    }

    pub(crate) fn fields_schema(&self) -> Value {
        fields_of_kind(self.kind)
    }
}

fn fields_of_kind(kind: &str) -> Value {
    let parsed = FIELDS.lines().map(serde_json::from_str::<Value>);
    let mut documents = parsed.filter_map(Result::ok);
    let document = documents.find(|document| document["kind"] == kind);
    document.map_or(Value::Null, |mut document| document["fields"].take())
}

pub(crate) fn fields_at(schema: &Value, key: &str) -> Map<String, Value> {
    let fields = schema.get(key).and_then(Value::as_object);
    fields.cloned().unwrap_or_default()
}

/// A field in the outline of a document.
pub(crate) struct OutlineLine {
    /// How many objects or lists the field is in.
    pub depth: usize,
    /// The name and type of the field: `expires: time or null`.
    pub field: String,
    pub meaning: String,
}

/// Adds a line for each field that has a meaning. The fields of an object are one step deeper.
fn add_outline_lines(schema: &Value, depth: usize, lines: &mut Vec<OutlineLine>) {
    for (name, field) in fields_at(schema, "properties") {
        if let Some(meaning) = field["description"].as_str() {
            lines.push(OutlineLine {
                depth,
                field: format!("{name}: {}", type_name(&field)),
                meaning: meaning.to_owned(),
            });
            add_outline_lines(&field, depth + 1, lines);
            add_outline_lines(&field["items"], depth + 1, lines);
        }
    }
}

/// The type of a field for people: `list of strings`, `time or null`.
fn type_name(field: &Value) -> String {
    match &field["type"] {
        Value::Array(types) => {
            let either = |of: &Value| type_name(&json!({ "type": of, "format": field["format"] }));
            types.iter().map(either).collect::<Vec<_>>().join(" or ")
        }
        Value::String(array) if array == "array" => {
            format!("list of {}s", type_name(&field["items"]))
        }
        Value::String(text) if text == "string" && field["format"] == "date-time" => "time".into(),
        Value::String(name) => name.clone(),
        _ => "any JSON".into(),
    }
}
