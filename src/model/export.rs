//! The lines of an export: its head, and jobs with facts that other documents leave out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::config::ConfigOption;
use super::job::{HistoryEntry, Job, State};
use super::list::List;
use super::recur::Recurring;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::json::Number;
use crate::name::Name;
use crate::text::is_harmful_to_terminal;
use crate::view::View;
use crate::view::document::DocumentKind;
use crate::view::json::document_line;
use crate::view::list::Row;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ExportHead {
    /// When the export began
    pub at: Moment,
    /// The prefix of the keys
    pub prefix: String,
    /// Jobs to export, if the index knows the number
    pub jobs: Option<u64>,
    /// Export, or cancel
    pub command: &'static str,
}

/// A job with everything `import` needs: the fields of `job` and, where these do not preserve each byte, the rest.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ExportedJob {
    #[serde(flatten)]
    pub job: Job,
    /// In an export, each entry as stored, in base64, if `history` does not preserve each byte
    #[serde(skip_serializing_if = "Option::is_none")]
    history_bytes: Option<Vec<String>>,
    /// In an export, `scheduled_for` in seconds since the epoch, if milliseconds are not exact
    #[serde(
        rename = "due",
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_seconds"
    )]
    #[schemars(with = "Option<Number>")]
    due_if_inexact: Option<Moment>,
    /// In the file of `cancel --save`: who deleted it, when and why
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<Cancellation>,
}

impl ExportedJob {
    /// A job that was read with all its fields, for a line of an export.
    pub(crate) fn new(mut job: Job) -> ExportedJob {
        let history = std::mem::take(&mut job.stored_history);
        let due = match job.state {
            Some(State::Depends) => job.scheduled_for,
            _ => job.due_score.and_then(Moment::from_seconds),
        };
        job.history.get_or_insert_default();
        job.data = job
            .data
            .with_base64_unless_shown_exactly(is_unchanged_in_document);
        let preserved = history.iter().all(is_history_entry_exported_losslessly);
        ExportedJob {
            history_bytes: (!preserved)
                .then(|| history.iter().map(|entry| STANDARD.encode(entry)).collect()),
            due_if_inexact: due_unless_shown(due, job.scheduled_for),
            cancelled: None,
            job,
        }
    }

    /// The line of the job in an export.
    pub(crate) fn export_line(&self) -> Result<Vec<u8>, Error> {
        document_line_of(Job::DOCUMENT.kind, self)
    }
}

/// A recurring job with everything `import` needs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SavedRecurring {
    #[serde(flatten)]
    recurring: Recurring,
    /// In an export, `next` in seconds since the epoch, if milliseconds are not exact
    #[serde(
        rename = "due",
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_seconds"
    )]
    #[schemars(with = "Option<Number>")]
    due_if_inexact: Option<Moment>,
}

impl SavedRecurring {
    /// A recurring job for a line of an export. `due` is when the job is due, to the microsecond.
    pub(crate) fn new(mut recurring: Recurring, due: Option<Moment>) -> SavedRecurring {
        recurring.data = recurring
            .data
            .with_base64_unless_shown_exactly(is_unchanged_in_document);
        SavedRecurring {
            due_if_inexact: due_unless_shown(due, recurring.next),
            recurring,
        }
    }

    /// The line of the recurring job in an export.
    pub(crate) fn export_line(&self) -> Result<Vec<u8>, Error> {
        document_line_of(Recurring::DOCUMENT.kind, self)
    }
}

/// Who cancelled a job after it was saved, when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Cancellation {
    /// When
    pub at: Moment,
    /// The user and host that cancelled it
    pub by: Name,
    /// The reason, if one was given
    pub reason: Option<Name>,
}

/// The maximum of a throttle.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SavedThrottle {
    /// The throttle
    pub id: Name,
    /// How many jobs may hold a slot; 0 means no limit, a negative number lets no job run
    pub maximum: i64,
    /// When the maximum is forgotten, if an end was given
    pub expires: Option<Moment>,
}

/// A queue that is paused.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PausedQueue {
    /// The queue
    pub queue: Name,
    /// When the queue was paused, if known
    pub since: Option<Moment>,
    /// When the pause ends, if an end was given
    pub until: Option<Moment>,
    /// The reason, if one was given
    pub reason: Option<Name>,
    /// The user and host that paused it, if known
    pub by: Option<Name>,
}

pub(crate) const HEAD: DocumentKind = DocumentKind::new::<ExportHead>(
    "export",
    "The first line of an export, before those of job, recurring, config, limit, paused: export",
);

/// The document of a throttle's maximum.
pub(crate) const LIMIT: DocumentKind = DocumentKind::new::<SavedThrottle>(
    "limit",
    "The maximum of a throttle: export --with throttles",
);

pub(crate) const PAUSED: DocumentKind =
    DocumentKind::new::<PausedQueue>("paused", "A queue that is paused: export --with paused");

pub(crate) fn head_line(head: &ExportHead) -> Result<Vec<u8>, Error> {
    document_line_of(HEAD.kind, head)
}

/// The line of all options that are set.
pub(crate) fn config_line(options: Vec<ConfigOption>) -> Result<Vec<u8>, Error> {
    document_line_of(ConfigOption::LIST.kind, &List::of_all(options))
}

pub(crate) fn throttle_line(throttle: &SavedThrottle) -> Result<Vec<u8>, Error> {
    document_line_of(LIMIT.kind, throttle)
}

pub(crate) fn paused_queue_line(paused: &PausedQueue) -> Result<Vec<u8>, Error> {
    document_line_of(PAUSED.kind, paused)
}

fn document_line_of<T: Serialize>(kind: &'static str, fields: &T) -> Result<Vec<u8>, Error> {
    document_line(kind, fields).map_err(|error| Error::internal(format!("document: {error}")))
}

/// Whether a document shows the text without escaping any of it.
fn is_unchanged_in_document(text: &str) -> bool {
    !text.chars().any(is_harmful_to_terminal)
}

/// Whether the field `history` of a document preserves each byte of this stored entry.
fn is_history_entry_exported_losslessly(raw: &Name) -> bool {
    let Some(text) = raw.as_str().filter(|text| is_unchanged_in_document(text)) else {
        return false;
    };
    let Some(entry) = HistoryEntry::from_stored(text.as_bytes()) else {
        return false;
    };
    let exact = entry
        .when
        .is_some_and(|when| truncate_to_milliseconds(when) == Some(when));
    exact && entry.to_stored_entry_json() == text.as_bytes()
}

/// `due`, or `None` if the document already shows exactly that moment, as `shown`.
fn due_unless_shown(due: Option<Moment>, shown: Option<Moment>) -> Option<Moment> {
    due.filter(|due| shown.and_then(truncate_to_milliseconds) != Some(*due))
}

/// The moment cut to milliseconds, which documents show. `None` if its year does not fit into a document.
fn truncate_to_milliseconds(moment: Moment) -> Option<Moment> {
    moment.to_rfc3339()?;
    Some(Moment::from_micros(
        moment.micros() - moment.micros().rem_euclid(1000),
    ))
}

/// Writes a moment as seconds since the epoch, down to the microsecond.
fn serialize_seconds<S: Serializer>(
    moment: &Option<Moment>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = moment.map_or("null".into(), |moment| moment.to_string());
    let raw = RawValue::from_string(text).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}
