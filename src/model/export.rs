//! The lines of an export: its head, and jobs with the facts that other documents leave out.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Job;
use super::recur::Recurring;
use crate::clock::moment::Moment;
use crate::name::Name;

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
    /// When it was paused, if known
    pub since: Option<Moment>,
    /// When the pause ends, if an end was given
    pub until: Option<Moment>,
    /// The reason, if one was given
    pub reason: Option<Name>,
    /// The user and host that paused it, if known
    pub by: Option<Name>,
}
