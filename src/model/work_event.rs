//! What happens to the jobs of `qless work`.

use serde::Serialize;
use strum::IntoStaticStr;

use super::field::Field;
use super::queue::Seconds;
use crate::clock::moment::Moment;
use crate::name;
use crate::name::Name;

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum WorkEventKind {
    Started,
    Completed,
    /// It went on to another queue.
    Advanced,
    Retried,
    Failed,
    /// Another worker may have it, or it was cancelled; nothing was written.
    Lost,
    /// Given back without using a retry.
    Released,
    /// The reply was lost, and the job does not show what happened.
    Unknown,
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct WorkEvent {
    pub at: Moment,
    pub event: WorkEventKind,
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Name,
    #[serde(flatten, serialize_with = "name::worker")]
    pub worker: Name,
    /// Counts from 1.
    pub attempt: i64,
    /// The exit code of the process, if its end decided.
    pub exit: Option<i32>,
    /// The signal that ended the process, such as `KILL`.
    pub signal: Option<String>,
    pub elapsed_s: Option<Seconds>,
    pub message: Option<String>,
}

impl WorkEvent {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::moment("at", "when it happened"),
        Field::text(
            "event",
            "started, completed, advanced, retried, failed, lost, released, unknown",
        ),
        Field::name("jid", "the job's id"),
        Field::name("queue", "the queue from which it was popped"),
        Field::name("klass", "its class"),
        Field::name("worker", "the name of this worker"),
        Field::count("attempt", "1 for the first attempt"),
        Field::number(
            "exit",
            "exit code of the process; null if it did not decide",
        )
        .null(),
        Field::text(
            "signal",
            "signal that ended the process, such as KILL; else null",
        )
        .null(),
        Field::number("elapsed_s", "how long the job ran; null when it starts").null(),
        Field::text("message", "more about it; null if there is nothing to say").null(),
    ];
}
