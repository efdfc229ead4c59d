//! What a document contains: its JSON Schema and its outline. `schemars` reads the fields from the types of
//! the models and from the doc comments of the members.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::name::HAS_BYTES;

type WriteSchema = fn(&mut SchemaGenerator) -> Schema;

/// A kind of document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentKind {
    pub kind: &'static str,
    /// What it contains, and which commands write it.
    pub summary: &'static str,
    /// Write the schemas of the types that commands write as this kind.
    schemas: [Option<WriteSchema>; 3],
}

impl DocumentKind {
    /// A document with the fields of `T`, besides `kind` and `v`.
    pub(crate) const fn new<T: JsonSchema>(
        kind: &'static str,
        summary: &'static str,
    ) -> DocumentKind {
        DocumentKind {
            kind,
            summary,
            schemas: [Some(T::json_schema), None, None],
        }
    }

    /// The document, which some commands write with the fields of `T`.
    pub(crate) const fn add_fields_of<T: JsonSchema>(mut self) -> DocumentKind {
        let at = if self.schemas[1].is_none() { 1 } else { 2 };
        self.schemas[at] = Some(T::json_schema);
        self
    }

    /// Its JSON Schema.
    pub(crate) fn json_schema_text(&self) -> String {
        let fields = self.fields_schema();
        let mut properties = Map::new();
        properties.insert("kind".into(), json!({ "const": self.kind }));
        properties.insert("v".into(), json!({ "const": 1 }));
        properties.extend(members_of(&fields, "properties"));
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

    /// Its fields in order, those of items and objects below them.
    pub(crate) fn field_outline(&self) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        add_outline_lines(&self.fields_schema(), 0, &mut lines);
        lines
    }

    /// The schema of its fields.
    pub(crate) fn fields_schema(&self) -> Value {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.inline_subschemas = true;
        let mut generator = settings.into_generator();
        let mut fields = Value::Null;
        for schema in self.schemas.iter().flatten() {
            merge_schemas(
                &mut fields,
                reduce_schema(schema(&mut generator).to_value()),
            );
        }
        fields
    }
}

/// Reduces a schema to type, format, description and fields. Adds `…_bytes` to each name.
fn reduce_schema(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return json!({});
    };
    const KEPT: [&str; 7] = [
        "type",
        "description",
        "items",
        "properties",
        "required",
        "enum",
        HAS_BYTES,
    ];
    if schema.get("format") != Some(&"date-time".into()) {
        schema.remove("format");
    }
    schema.retain(|key, _| KEPT.contains(&key.as_str()) || key == "format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if let Some(items) = schema.remove("items") {
        schema.insert("items".into(), reduce_schema(items));
    }
    if let Some(Value::Object(fields)) = schema.remove("properties") {
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            let mut names = required.as_array().into_iter().flatten();
            names.any(|required| required == name)
        };
        let mut properties = Map::new();
        for (name, field) in fields {
            let mut field = reduce_schema(field);
            // A document lacks such a field instead of having null.
            if !is_required(&name)
                && let Some([only, _]) = field["type"].as_array().map(Vec::as_slice)
            {
                field["type"] = only.clone();
            }
            let bytes = json!({ "type": "string", "contentEncoding": "base64" });
            let bytes = if remove_name_mark(&mut field) {
                Some(bytes)
            } else if field.get_mut("items").is_some_and(remove_name_mark) {
                Some(json!({ "type": "array", "items": bytes }))
            } else {
                None
            };
            let bytes = bytes.map(|bytes| (format!("{name}_bytes"), bytes));
            properties.insert(name, field);
            properties.extend(bytes);
        }
        schema.insert("properties".into(), properties.into());
    }
    schema.into()
}

/// Removes the mark of a name.
fn remove_name_mark(schema: &mut Value) -> bool {
    let schema = schema.as_object_mut();
    schema.is_some_and(|schema| schema.remove(HAS_BYTES).is_some())
}

/// Joins the schemas of two forms of a document: a field that one of them lacks is not required.
fn merge_schemas(one: &mut Value, other: Value) {
    if one.is_null() {
        *one = other;
        return;
    }
    if let (Some(items), Some(others)) = (one.get_mut("items"), other.get("items")) {
        merge_schemas(items, others.clone());
    }
    for (name, field) in members_of(&other, "properties") {
        match one["properties"].get_mut(&name) {
            Some(known) => merge_schemas(known, field),
            None => one["properties"][name] = field,
        }
    }
    let required = one.get_mut("required").and_then(Value::as_array_mut);
    if let (Some(required), Some(others)) = (required, other["required"].as_array()) {
        required.retain(|name| others.contains(name));
    }
}

pub(crate) fn members_of(schema: &Value, key: &str) -> Map<String, Value> {
    let members = schema.get(key).and_then(Value::as_object);
    members.cloned().unwrap_or_default()
}

/// A field in the outline of a document.
pub(crate) struct OutlineLine {
    /// How many objects or lists the field is in.
    pub depth: usize,
    /// Its name and type: `expires: time or null`.
    pub field: String,
    pub meaning: String,
}

/// Adds a line for each field that has a meaning, those of objects one step deeper.
fn add_outline_lines(schema: &Value, depth: usize, lines: &mut Vec<OutlineLine>) {
    for (name, field) in members_of(schema, "properties") {
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
