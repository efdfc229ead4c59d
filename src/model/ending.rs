//! How a worker ends a job that it holds.

use std::time::Duration;

use serde::Deserialize;

use super::coordination::Coordination;
use crate::name::Name;

/// Where a job goes when it is completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NextQueue {
    pub queue: Name,
    pub delay: Duration,
    pub depends: Vec<Name>,
    /// The throttles, lock, key and back-off of the job in that queue.
    pub coordination: Coordination<'static>,
}

/// The group and the message of a failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureReason {
    pub group: Name,
    pub message: Name,
}

/// How a worker asks to end a job that it holds. The core may refuse.
#[derive(Clone, Debug, PartialEq)]
pub struct EndingRequest {
    pub jid: Name,
    /// The queue in which the job runs.
    pub queue: Name,
    pub action: EndingAction,
    /// The exit code of the command, if it had one. The history of a retried job shows it.
    pub exit: Option<i32>,
}

/// The action of a worker for a job at its end.
#[derive(Clone, Debug, PartialEq)]
pub enum EndingAction {
    Complete {
        /// JSON. The job keeps its data if absent.
        data: Option<Vec<u8>>,
        next: Option<NextQueue>,
    },
    /// Uses one retry.
    Retry {
        delay: Duration,
        /// The reason in the history entry, and the failure if no retry is left. The core has a default for both.
        why: Option<FailureReason>,
    },
    Fail {
        why: FailureReason,
        /// JSON. The job keeps its data if absent.
        data: Option<Vec<u8>>,
    },
}

/// The group of jobs whose retries are used up in a queue, if their worker names no other.
pub fn exhausted_retries_group(queue: &Name) -> Name {
    Name::from([b"failed-retries-", queue.as_bytes()].concat())
}

impl EndingAction {
    /// Sets the group of a retry with a message but without a group to the core's default. The core would store a
    /// failure without a group.
    pub fn set_missing_group(&mut self, queue: &Name) {
        if let EndingAction::Retry { why: Some(why), .. } = self
            && why.group.is_empty()
        {
            why.group = exhausted_retries_group(queue);
        }
    }
}

/// The outcome of a job that its worker ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingOutcome {
    /// The job's state now; for a retry, also the remaining retries (-1 if none was left and the job failed).
    Done {
        state: Name,
        #[serde(skip)]
        remaining: Option<i64>,
    },
    /// The job does not exist any more.
    Gone,
    /// The lock belongs to another worker, or the job no longer runs.
    NotHolder { state: Name, worker: Name },
    /// The core refuses the arguments of the request, with this text.
    Invalid(String),
    /// The reply was lost, and the job does not show what happened.
    #[serde(skip)]
    Unknown,
}

/// The outcome of an extension of a lock.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtendOutcome {
    /// When the lock expires now, in seconds since the epoch.
    Extended(f64),
    /// The job does not exist any more.
    Gone,
    /// The lock belongs to another worker, or the job no longer runs.
    Lost,
}
