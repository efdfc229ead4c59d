//! The lines of an export: its head, and jobs with the facts that other documents leave out.

use serde::Serialize;

use super::field::Field;
use super::job::Job;
use super::recur::Recurring;
use crate::clock::moment::Moment;
use crate::name::Name;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ExportHead {
    pub at: Moment,
    /// The prefix of the keys.
    pub prefix: String,
    /// The number of jobs when the export began, if it was known.
    pub jobs: Option<u64>,
    /// The command that wrote it.
    pub command: &'static str,
}

impl ExportHead {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::moment("at", "when the export began"),
        Field::text("prefix", "the prefix of the keys"),
        Field::count("jobs", "jobs to export, if the index knows the number").null(),
        Field::text("command", "export, or cancel"),
    ];
}

/// A job with everything `import` needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedJob {
    pub job: Job,
    /// Its history as stored, including entries that an older core stored elsewhere.
    pub entries: Vec<Name>,
    /// When it is due, to the microsecond.
    pub due: Option<Moment>,
}

/// A recurring job with everything `import` needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedRecurring {
    pub recurring: Recurring,
    pub due: Option<Moment>,
}

/// Who cancelled a job after it was saved, when, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cancellation {
    pub at: Moment,
    pub by: Name,
    pub reason: Option<Name>,
}

impl Cancellation {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::moment("at", "when"),
        Field::name("by", "the user and host that cancelled it"),
        Field::name("reason", "the reason, if one was given").null(),
    ];
}

/// The maximum of a throttle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SavedThrottle {
    pub id: Name,
    pub maximum: i64,
    /// When the maximum is forgotten, if it is.
    pub expires: Option<Moment>,
}

impl SavedThrottle {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("id", "the throttle"),
        Field::count(
            "maximum",
            "how many jobs may hold a slot; 0 means no limit, a negative number lets no job run",
        ),
        Field::moment(
            "expires",
            "when the maximum is forgotten, if an end was given",
        )
        .null(),
    ];
}

/// A queue that is paused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PausedQueue {
    pub queue: Name,
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    pub reason: Option<Name>,
    pub by: Option<Name>,
}

impl PausedQueue {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::moment("since", "when it was paused, if known").null(),
        Field::moment("until", "when the pause ends, if an end was given").null(),
        Field::name("reason", "the reason, if one was given").null(),
        Field::name("by", "the user and host that paused it, if known").null(),
    ];
}
