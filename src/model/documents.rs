//! The documents of `-o json` and ndjson by kind, which `qless help json KIND` and `qless-json(5)` describe.

use super::bulk::BulkReport;
use super::check::CheckReport;
use super::complete::{CompletedJob, ExtendedLock};
use super::config::ConfigOption;
use super::context::Context;
use super::defaults::QueueDefaults;
use super::doctor::Diagnosis;
use super::done::CommandResult;
use super::event::Event;
use super::explain::{Explanation, Explanations};
use super::export;
use super::failure::FailureGroup;
use super::graph::Graph;
use super::health::Health;
use super::job::{DependenciesAndDependents, Job, StateCounts};
use super::lag::QueueLag;
use super::length::QueueLength;
use super::list::JobsAndMissingJids;
use super::local::LocalStatus;
use super::members;
use super::overview::Overview;
use super::put::PutOrExistingJob;
use super::queue::Queue;
use super::recur::Recurring;
use super::stats::StatsOfQueuesOnDay;
use super::tag::Tag;
use super::throttle::{Throttle, ThrottleJobs};
use super::version::Version;
use super::wait::FinishedWait;
use super::work::WorkEvent;
use super::worker::{Worker, WorkerJobs};
use crate::error::ErrorDocument;
use crate::view::View;
use crate::view::document::DocumentKind;
use crate::view::list::Row;

/// All documents, by kind.
pub(crate) const DOCUMENTS: [DocumentKind; 42] = [
    BulkReport::DOCUMENT,
    CheckReport::DOCUMENT,
    CompletedJob::DOCUMENT,
    ConfigOption::LIST,
    Context::LIST,
    StateCounts::DOCUMENT,
    QueueDefaults::DOCUMENT,
    QueueDefaults::LIST,
    DependenciesAndDependents::DOCUMENT,
    Diagnosis::DOCUMENT,
    CommandResult::DOCUMENT,
    ERROR,
    Event::DOCUMENT,
    Explanation::DOCUMENT,
    Explanations::DOCUMENT,
    export::HEAD,
    FailureGroup::LIST,
    Graph::DOCUMENT,
    Health::DOCUMENT,
    Job::DOCUMENT,
    JobsAndMissingJids::DOCUMENT,
    QueueLag::LIST,
    QueueLength::DOCUMENT,
    export::LIMIT,
    LocalStatus::DOCUMENT,
    ExtendedLock::DOCUMENT,
    members::DOCUMENT,
    export::PAUSED,
    PutOrExistingJob::DOCUMENT,
    Queue::LIST,
    Recurring::DOCUMENT,
    Recurring::LIST,
    StatsOfQueuesOnDay::DOCUMENT,
    Overview::DOCUMENT,
    Tag::LIST,
    ThrottleJobs::DOCUMENT,
    Throttle::LIST,
    Version::DOCUMENT,
    FinishedWait::DOCUMENT,
    WorkEvent::DOCUMENT,
    WorkerJobs::DOCUMENT,
    Worker::LIST,
];

/// The document of an error. `error::Error` writes it.
const ERROR: DocumentKind = DocumentKind::new::<ErrorDocument>("error", "An error, on stderr");

pub(crate) fn document_kind(kind: &str) -> Option<&'static DocumentKind> {
    DOCUMENTS.iter().find(|document| document.kind == kind)
}

/// The list of kinds, a line for each.
pub(crate) fn list_of_kinds() -> String {
    let kinds = DOCUMENTS.iter().map(|document| document.kind.len());
    let widest = kinds.max().unwrap_or(0);
    let lines = DOCUMENTS
        .iter()
        .map(|document| format!("{:widest$}  {}\n", document.kind, document.summary));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect_file;
    use serde_json::{Value, json};

    use super::*;
    use crate::view::document::derived::derive_document_schema;
    use crate::view::document::fields_at;

    #[test]
    fn kinds_are_unique_and_each_field_has_a_meaning() {
        let kinds: BTreeSet<&str> = DOCUMENTS.iter().map(|document| document.kind).collect();
        assert_eq!(kinds.len(), DOCUMENTS.len());
        for document in &DOCUMENTS {
            assert_described(document.kind, &document.fields_schema());
        }
    }

    /// After a change, UPDATE_EXPECT=1 writes the file, and once more what is made of it: `man/`.
    #[test]
    fn the_stored_fields_are_those_of_the_types() {
        let line = |document: &DocumentKind| {
            let line = json!({ "kind": document.kind, "fields": derive_document_schema(document) });
            format!("{line}\n")
        };
        let lines: String = DOCUMENTS.iter().map(line).collect();
        // A reader of a document knows no link to the source.
        assert!(!lines.contains("[`"));
        expect_file!["../view/documents.ndjson"].assert_eq(&lines);
    }

    /// Fails if a field has neither a meaning nor the bytes of another field.
    fn assert_described(path: &str, schema: &Value) {
        for (name, field) in fields_at(schema, "properties") {
            let path = format!("{path}.{name}");
            let is_bytes = name.ends_with("_bytes");
            assert!(field["description"].is_string() || is_bytes, "{path}");
            assert_described(&path, &field);
            assert_described(&path, &field["items"]);
        }
    }
}
