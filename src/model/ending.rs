//! How a worker ends a job that it holds.

use std::time::Duration;

use serde::Deserialize;

use super::coordination::CoordinationOptions;
use crate::name::Name;

/// Where a job goes when it is completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NextQueue {
    pub queue: Name,
    pub delay: Duration,
    pub depends: Vec<Name>,
    /// The coordination options of the job in that queue: throttles, lock, key and back-off.
    pub coordination: CoordinationOptions<'static>,
}

/// The group and the message of a failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureReason {
    pub group: Name,
    pub message: Name,
}

/// The request of a worker to end a job that it holds. The core may refuse it.
#[derive(Clone, Debug, PartialEq)]
pub struct EndingRequest {
    pub jid: Name,
    /// The queue in which the job runs.
    pub queue: Name,
    pub action: EndingAction,
    /// The exit code of the command that ran the job, if there was one. The history of a retried job shows this code.
    pub exit: Option<i32>,
}

/// How a worker ends a job.
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
        /// The reason that the history entry shows, which is also the failure if no retry is left. The core has
        /// defaults for its group and message.
        why: Option<FailureReason>,
    },
    Fail {
        why: FailureReason,
        /// JSON. The job keeps its data if absent.
        data: Option<Vec<u8>>,
    },
}

/// The failure group of jobs that have no retry left in a queue, if the worker names no group.
pub fn exhausted_retries_group(queue: &Name) -> Name {
    Name::from([b"failed-retries-", queue.as_bytes()].concat())
}

impl EndingAction {
    /// Sets the core's default group in a retry that has a message and no group. The core itself would store a failure
    /// without a group.
    pub fn set_missing_retry_group(&mut self, queue: &Name) {
        if let EndingAction::Retry { why: Some(why), .. } = self
            && why.group.is_empty()
        {
            why.group = exhausted_retries_group(queue);
        }
    }
}

/// The outcome of a request to end a job.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingOutcome {
    /// The job was ended and has this state now. After a retry, `remaining` is the number of remaining retries, or -1
    /// if none was left and the job failed.
    Done {
        state: Name,
        #[serde(skip)]
        remaining: Option<i64>,
    },
    /// The job does not exist any more.
    Gone,
    /// The worker does not hold the job: another worker does, or the job is not running.
    NotHolder { state: Name, worker: Name },
    /// The core refused the arguments of the request, with this message.
    Invalid(String),
    /// The reply was lost, and the job's fields do not show whether the request was carried out.
    #[serde(skip)]
    Unknown,
}

/// The outcome of an extension of a lock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockExtensionOutcome {
    /// The lock was extended. Its new expiry is in seconds since the epoch.
    #[serde(rename = "done")]
    Extended(f64),
    /// The job does not exist any more.
    Gone,
    /// The worker does not hold the job: another worker does, or the job is not running.
    #[serde(rename = "not_holder")]
    Lost,
    /// The core refused to extend the lock, with this message: a key of the job, of its queue's
    /// locks or of its worker has a wrong type.
    Invalid(String),
}
