//! A reason why a job does not run, with its evidence and the command that helps.

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::Neighbor;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::model::queue::RoundedSeconds;
use crate::name::Name;

/// The kind of a reason, as documents name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ReasonCode {
    Complete,
    Failed,
    Running,
    Grace,
    Stalled,
    DependsCycle,
    DependsMissing,
    DependsOneSided,
    DependsFailed,
    Ordered,
    Depends,
    Throttled,
    Scheduled,
    QueueBroken,
    Paused,
    Concurrency,
    NoConsumer,
    RecurringPaused,
    RecurringNotPolled,
    DataInvalid,
    Ahead,
}

/// Why a job that has run is scheduled to run again only after a back-off delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BackoffCause {
    /// The worker of the job lost the lock.
    LostLock,
    /// A worker retried the job, and the job's back-off policy gave the delay.
    Retry,
}

/// The facts behind a reason. Each reason has its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReasonEvidence {
    /// When the reason began; for no_consumer the last time a worker was seen, or without `worker`
    /// since when the next job waits
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
    /// When the reason ends by itself: end of a pause, due time, end of a lock
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
    /// Who paused the queue or the recurring job
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// Why the queue or the recurring job was paused
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Name>,
    /// The worker that holds or lost the job, or was seen last
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
    /// When that worker was seen last, if it holds the job
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Moment>,
    /// The group of the failure
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    /// The message of the failure
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Name>,
    /// The entry of the queue that has no job
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Name>,
    /// The throttle that has no free slot
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Name>,
    /// The lane in which other jobs come first
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<Name>,
    /// How many jobs: ahead, running, blocking
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// How many runs of the recurring job the next pops put
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owed: Option<u64>,
    /// How many jobs wait for the throttle
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// Most jobs running at the same time
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The remaining retries of a job that is scheduled to run again
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// One of lost_lock or retry: why the job waits for its back-off
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub backoff: Option<BackoffCause>,
    /// Jobs of the queue completed per minute in the last five minutes, about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<RoundedSeconds>,
    /// How long the wait probably lasts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta_s: Option<RoundedSeconds>,
    /// Jobs that block it, up to 10
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<Neighbor>,
    /// Jobs that depend on each other, the first one again at the end
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Name>,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DelayReason {
    /// One of paused, throttled, ordered, depends, depends_failed, depends_missing, depends_cycle,
    /// depends_one_sided, scheduled, ahead, concurrency, no_consumer, queue_broken, stalled, grace, running, failed,
    /// complete, recurring_paused, recurring_not_polled, data_invalid
    #[schemars(with = "String")]
    pub code: ReasonCode,
    /// Whether the job cannot run as long as the reason lasts
    pub blocking: bool,
    /// The facts behind it; each reason has its own
    pub evidence: ReasonEvidence,
    /// The words of the command that helps; none if a name in it holds a NUL
    pub fix: CommandLine,
}

impl DelayReason {
    pub(crate) fn new(code: ReasonCode, evidence: ReasonEvidence, fix: CommandLine) -> DelayReason {
        DelayReason {
            code,
            blocking: true,
            evidence,
            fix,
        }
    }

    /// Whether a pop would not get the job for this reason. If only a worker is missing, a pop would get it.
    pub(crate) fn blocks_pop(&self) -> bool {
        self.blocking && self.code != ReasonCode::NoConsumer
    }

    /// The reason, changed to one that delays the job but does not prevent it from running.
    pub(crate) fn into_non_blocking(self) -> DelayReason {
        DelayReason {
            blocking: false,
            ..self
        }
    }
}
