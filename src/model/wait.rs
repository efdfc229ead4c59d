//! The result of waiting for jobs.

use serde::{Serialize, Serializer};

use super::field::Field;
use super::job::State;
use super::queue::Seconds;
use crate::error::Kind;
use crate::name;
use crate::name::Name;

/// How the wait for one job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WaitResult {
    /// It has not ended.
    #[default]
    Pending,
    /// The job reached the awaited state.
    Reached(State),
    /// The job is in another state that ends the wait: complete or failed.
    Ended(State),
    /// The job was deleted while it was waited for.
    Cancelled,
    /// The job does not exist: it was cancelled, or it completed and has expired.
    Gone,
}

impl WaitResult {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            WaitResult::Pending => "pending",
            WaitResult::Reached(state) | WaitResult::Ended(state) => state.into_str(),
            WaitResult::Cancelled => "cancelled",
            WaitResult::Gone => "gone",
        }
    }
}

impl Serialize for WaitResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Why the whole wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The jobs reached the awaited state.
    Reached(State),
    /// A job can no longer reach it.
    Ended(WaitResult),
    Deadline,
    /// A signal, as the kind of its error.
    Interrupted(Kind),
}

impl Serialize for WaitOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            WaitOutcome::Reached(state) => state.into_str(),
            WaitOutcome::Ended(result) => result.word(),
            WaitOutcome::Deadline => "deadline",
            WaitOutcome::Interrupted(_) => "interrupted",
        })
    }
}

/// A job that was waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct WaitItem {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    /// The state when it was last read.
    pub state: Option<State>,
    pub result: WaitResult,
    /// How long the wait for it took.
    pub elapsed_s: Option<Seconds>,
}

impl WaitItem {
    const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::text(
            "state",
            "its state when it was last read; null for a job that does not exist",
        )
        .null(),
        Field::text(
            "result",
            "the state that ended the wait, or cancelled, gone (cancelled, or complete and expired), pending",
        ),
        Field::number(
            "elapsed_s",
            "how long the wait for it took; null while pending",
        )
        .null(),
    ];
}

/// The counts of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct WaitTotals {
    pub outcome: WaitOutcome,
    #[serde(rename = "for")]
    pub awaited: State,
    pub jobs: usize,
    /// How many reached the awaited state.
    pub reached: usize,
    pub pending: usize,
    pub elapsed_s: Seconds,
    /// How long the server had not replied when the deadline passed, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_s: Option<Seconds>,
}

/// A wait that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Wait {
    #[serde(flatten)]
    pub totals: WaitTotals,
    pub items: Vec<WaitItem>,
    /// The position of the job that decided the outcome, or of the first that is pending.
    #[serde(skip)]
    pub decisive: Option<usize>,
}

impl Wait {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text(
            "outcome",
            "the awaited state, or what prevented it: failed, complete, cancelled, gone, deadline, interrupted",
        ),
        Field::text("for", "the awaited state"),
        Field::count("jobs", "jobs that were waited for"),
        Field::count("reached", "jobs that reached the awaited state"),
        Field::count("pending", "jobs whose wait had not ended"),
        Field::number("elapsed_s", "how long the wait took"),
        Field::number(
            "silent_s",
            "how long the server had not replied when the deadline passed, if it did not",
        )
        .optional(),
        Field::object(
            "items",
            WaitItem::FIELDS,
            "one for each job, the lines of ndjson",
        )
        .list(),
    ];
}
