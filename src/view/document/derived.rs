//! The JSON schemas of documents, derived from the types that commands write.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::{DocumentKind, fields_at};
use crate::name::HAS_BYTES;

pub(super) type WriteSchema = fn(&mut SchemaGenerator) -> Schema;

pub(crate) fn derive_document_schema(document: &DocumentKind) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut generator = settings.into_generator();
    let mut fields = Value::Null;
    for schema in document.schemas.iter().flatten() {
        merge_schemas(
            &mut fields,
            reduce_schema_and_add_bytes_fields(schema(&mut generator).to_value()),
        );
    }
    fields
}

/// Reduces a schema to the properties that the help shows, such as type, description and fields. Adds a field
/// `NAME_bytes` for each field that may have bytes that are not UTF-8.
fn reduce_schema_and_add_bytes_fields(schema: Value) -> Value {
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
        schema.insert("items".into(), reduce_schema_and_add_bytes_fields(items));
    }
    if let Some(Value::Object(fields)) = schema.remove("properties") {
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            let mut names = required.as_array().into_iter().flatten();
            names.any(|required| required == name)
        };
        let mut properties = Map::new();
        for (name, field) in fields {
            let mut field = reduce_schema_and_add_bytes_fields(field);
            // A document leaves out a field that is not required instead of setting it to null, so null is not
            // among its types.
            if !is_required(&name)
                && let Some([only, _]) = field["type"].as_array().map(Vec::as_slice)
            {
                field["type"] = only.clone();
            }
            let bytes = json!({ "type": "string", "contentEncoding": "base64" });
            let bytes = if take_has_bytes_mark(&mut field) {
                Some(bytes)
            } else if field.get_mut("items").is_some_and(take_has_bytes_mark) {
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
fn take_has_bytes_mark(schema: &mut Value) -> bool {
    let schema = schema.as_object_mut();
    schema.is_some_and(|schema| schema.remove(HAS_BYTES).is_some())
}

/// Merges the schemas of two forms of a document. A field is required only if both forms require it.
fn merge_schemas(one: &mut Value, other: Value) {
    if one.is_null() {
        *one = other;
        return;
    }
    if let (Some(items), Some(others)) = (one.get_mut("items"), other.get("items")) {
        merge_schemas(items, others.clone());
    }
    for (name, field) in fields_at(&other, "properties") {
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
