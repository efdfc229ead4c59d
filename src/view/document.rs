//! The documents of `-o json` and ndjson by kind, for `qless help json KIND` and `qless-json(5)`.
//! `schemars` reads their fields from the
//! types of the models and from the doc comments of the members.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::list::Row;
use super::{View, error, export};
use crate::model::bulk::BulkReport;
use crate::model::check::Check;
use crate::model::complete::{Complete, Lock};
use crate::model::config::ConfigOption;
use crate::model::context::Context;
use crate::model::defaults::QueueDefaults;
use crate::model::done::Done;
use crate::model::explain::{Explanation, Explanations};
use crate::model::failure::FailureGroup;
use crate::model::job::{Counts, Dependencies, Job};
use crate::model::lag::Lag;
use crate::model::length::Length;
use crate::model::list::{Jobs, List};
use crate::model::local::Status;
use crate::model::overview::Overview;
use crate::model::put::Put;
use crate::model::queue::Queue;
use crate::model::recur::Recurring;
use crate::model::stats::DayStats;
use crate::model::tag::Tag;
use crate::model::throttle::{Throttle, ThrottleJobs};
use crate::model::version::Version;
use crate::model::wait::Wait;
use crate::model::work_event::WorkEvent;
use crate::model::worker::{Worker, WorkerJobs};
use crate::name::HAS_BYTES;

/// All documents, by kind.
pub(crate) const DOCUMENTS: [Document; 37] = [
    BulkReport::DOCUMENT,
    Check::DOCUMENT,
    Complete::DOCUMENT,
    ConfigOption::LIST,
    Context::LIST,
    Counts::DOCUMENT,
    QueueDefaults::DOCUMENT,
    QueueDefaults::LIST,
    Dependencies::DOCUMENT,
    Done::DOCUMENT,
    error::DOCUMENT,
    Explanation::DOCUMENT,
    Explanations::DOCUMENT,
    export::HEAD,
    FailureGroup::LIST,
    Job::DOCUMENT,
    Jobs::DOCUMENT,
    Lag::LIST,
    Length::DOCUMENT,
    export::LIMIT,
    Status::DOCUMENT,
    Lock::DOCUMENT,
    export::PAUSED,
    Put::DOCUMENT,
    Queue::LIST,
    Recurring::DOCUMENT,
    Recurring::LIST,
    DayStats::DOCUMENT,
    Overview::DOCUMENT,
    Tag::LIST,
    ThrottleJobs::DOCUMENT,
    Throttle::LIST,
    Version::DOCUMENT,
    Wait::DOCUMENT,
    WorkEvent::DOCUMENT,
    WorkerJobs::DOCUMENT,
    Worker::LIST,
];

type WriteSchema = fn(&mut SchemaGenerator) -> Schema;

/// A kind of document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    pub kind: &'static str,
    /// What it contains, and which commands write it.
    pub summary: &'static str,
    /// Write the schemas of the types that commands write as this kind.
    schemas: [Option<WriteSchema>; 3],
}

impl Document {
    /// A document with the fields of `T`, besides `kind` and `v`.
    pub(crate) const fn new<T: JsonSchema>(kind: &'static str, summary: &'static str) -> Document {
        Document {
            kind,
            summary,
            schemas: [Some(T::json_schema), None, None],
        }
    }

    /// A document of a [`List`].
    pub(crate) const fn list<T: JsonSchema>(kind: &'static str, summary: &'static str) -> Document {
        Document::new::<List<T>>(kind, summary)
    }

    /// The document, which some commands write with the fields of `T`.
    pub(crate) const fn or<T: JsonSchema>(mut self) -> Document {
        let at = if self.schemas[1].is_none() { 1 } else { 2 };
        self.schemas[at] = Some(T::json_schema);
        self
    }

    /// Returns the document of this kind.
    pub(crate) fn named(kind: &str) -> Option<&'static Document> {
        DOCUMENTS.iter().find(|document| document.kind == kind)
    }

    /// Returns its JSON Schema.
    pub(crate) fn schema(&self) -> String {
        let fields = self.fields();
        let mut properties = Map::new();
        properties.insert("kind".into(), json!({ "const": self.kind }));
        properties.insert("v".into(), json!({ "const": 1 }));
        properties.extend(members(&fields, "properties"));
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

    /// Returns its fields in order, those of items and objects below them.
    pub(crate) fn outline(&self) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        outline(&self.fields(), 0, &mut lines);
        lines
    }

    /// Returns the schema of its fields.
    fn fields(&self) -> Value {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.inline_subschemas = true;
        let mut generator = settings.into_generator();
        let mut fields = Value::Null;
        for schema in self.schemas.iter().flatten() {
            join(&mut fields, tidy(schema(&mut generator).to_value()));
        }
        fields
    }
}

/// Reduces a schema to type, format, description and fields. Adds `…_bytes` to each name.
fn tidy(schema: Value) -> Value {
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
        schema.insert("items".into(), tidy(items));
    }
    if let Some(Value::Object(fields)) = schema.remove("properties") {
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| {
            let mut names = required.as_array().into_iter().flatten();
            names.any(|required| required == name)
        };
        let mut properties = Map::new();
        for (name, field) in fields {
            let mut field = tidy(field);
            // A document lacks such a field instead of having null.
            if !is_required(&name)
                && let Some([only, _]) = field["type"].as_array().map(Vec::as_slice)
            {
                field["type"] = only.clone();
            }
            let bytes = json!({ "type": "string", "contentEncoding": "base64" });
            let bytes = if take_mark(&mut field) {
                Some(bytes)
            } else if field.get_mut("items").is_some_and(take_mark) {
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
fn take_mark(schema: &mut Value) -> bool {
    let schema = schema.as_object_mut();
    schema.is_some_and(|schema| schema.remove(HAS_BYTES).is_some())
}

/// Joins the schemas of two forms of a document: a field that one of them lacks is not required.
fn join(one: &mut Value, other: Value) {
    if one.is_null() {
        *one = other;
        return;
    }
    if let (Some(items), Some(others)) = (one.get_mut("items"), other.get("items")) {
        join(items, others.clone());
    }
    for (name, field) in members(&other, "properties") {
        match one["properties"].get_mut(&name) {
            Some(known) => join(known, field),
            None => one["properties"][name] = field,
        }
    }
    let required = one.get_mut("required").and_then(Value::as_array_mut);
    if let (Some(required), Some(others)) = (required, other["required"].as_array()) {
        required.retain(|name| others.contains(name));
    }
}

fn members(schema: &Value, key: &str) -> Map<String, Value> {
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

/// Returns the list of kinds, a line for each.
pub(crate) fn kinds() -> String {
    let kinds = DOCUMENTS.iter().map(|document| document.kind.len());
    let widest = kinds.max().unwrap_or(0);
    let lines = DOCUMENTS
        .iter()
        .map(|document| format!("{:widest$}  {}\n", document.kind, document.summary));
    lines.collect()
}

/// Adds a line for each field that has a meaning, those of objects one step deeper.
fn outline(schema: &Value, depth: usize, lines: &mut Vec<OutlineLine>) {
    for (name, field) in members(schema, "properties") {
        if let Some(meaning) = field["description"].as_str() {
            lines.push(OutlineLine {
                depth,
                field: format!("{name}: {}", type_name(&field)),
                meaning: meaning.to_owned(),
            });
            outline(&field, depth + 1, lines);
            outline(&field["items"], depth + 1, lines);
        }
    }
}

/// Returns the type of a field for people: `list of strings`, `time or null`.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_are_unique_and_each_field_has_a_meaning() {
        let kinds: BTreeSet<&str> = DOCUMENTS.iter().map(|document| document.kind).collect();
        assert_eq!(kinds.len(), DOCUMENTS.len());
        for document in &DOCUMENTS {
            assert_described(document.kind, &document.fields());
        }
    }

    /// Fails if a field has neither a meaning nor the bytes of another field.
    fn assert_described(path: &str, schema: &Value) {
        for (name, field) in members(schema, "properties") {
            let path = format!("{path}.{name}");
            let is_bytes = name.ends_with("_bytes");
            assert!(field["description"].is_string() || is_bytes, "{path}");
            assert_described(&path, &field);
            assert_described(&path, &field["items"]);
        }
    }
}
