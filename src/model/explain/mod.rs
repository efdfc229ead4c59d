//! Why a job does not run, or why a queue hands out none: reasons, each with its evidence and the
//! command that helps.

pub(crate) mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use strum::IntoStaticStr;

use super::job::{Neighbor, State};
use super::list::List;
use super::queue::{Queue, RoundedSeconds};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::lenient;
use crate::name::Name;

/// A reason, as documents name it.
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

/// Why a job waits before it runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BackoffCause {
    /// Its worker lost the lock.
    LostLock,
    /// A worker retried it, and its policy gave the delay.
    Retry,
}

/// The facts behind a reason. Each reason has its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReasonEvidence {
    /// When the reason began; for no_consumer the last time a worker was seen, or without `worker`
    /// since when the next job waits
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
    /// When it ends by itself: end of a pause, due time, end of a lock
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
    /// Who paused the queue or the recurring job
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// Why it was paused
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Name>,
    /// The worker that holds or lost the job, or was seen last
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<Name>,
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
    /// How long it probably takes
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
pub struct Reason {
    /// One of paused, throttled, ordered, depends, depends_failed, depends_missing, depends_cycle,
    /// depends_one_sided, scheduled, ahead, concurrency, no_consumer, queue_broken, stalled, grace, running, failed,
    /// complete, recurring_paused, recurring_not_polled, data_invalid
    #[schemars(with = "String")]
    pub code: ReasonCode,
    /// Whether the job cannot run as long as it lasts
    pub blocking: bool,
    /// The facts behind it; each reason has its own
    pub evidence: ReasonEvidence,
    /// The words of the command that helps; none if a name in it holds a NUL
    pub fix: CommandLine,
}

impl Reason {
    pub(crate) fn new(code: ReasonCode, evidence: ReasonEvidence, fix: CommandLine) -> Reason {
        Reason {
            code,
            blocking: true,
            evidence,
            fix,
        }
    }

    /// Whether a pop could not get the job because of it. Nobody asking for jobs stops no pop.
    pub(crate) fn stops(&self) -> bool {
        self.blocking && self.code != ReasonCode::NoConsumer
    }

    /// The reason delays the job but does not block it.
    pub(crate) fn delaying(self) -> Reason {
        Reason {
            blocking: false,
            ..self
        }
    }
}

/// Why a job does not run, or why pops of a queue get no job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    /// The job's id; null for a queue
    pub jid: Option<Name>,
    /// The kind of work
    pub klass: Option<Name>,
    /// The queue
    pub queue: Option<Name>,
    /// The job's state; null for queues and recurring jobs
    #[schemars(with = "Option<String>")]
    pub state: Option<State>,
    /// Whether it is a recurring job
    pub recurring: bool,
    /// Whether the next pops can return the job; of a queue: whether a pop would get a job now
    pub runnable: bool,
    /// The job that a pop of the queue would get now
    pub next_jid: Option<Name>,
    /// When the job of the queue with the newest lock was popped; null if none has a lock
    pub last_pop: Option<Moment>,
    /// The oldest wait in the queue
    pub oldest_wait_s: Option<RoundedSeconds>,
    /// The most decisive one first
    pub reasons: Vec<Reason>,
    /// The queue, with `--queue`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Queue>,
}

/// Explanations of several jobs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Explanations {
    #[serde(flatten)]
    pub list: List<Explanation>,
}

/// What a pop of a queue meets, by one call of the core.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct PopFacts {
    /// The counts of the queue.
    pub queue: Queue,
    /// The most jobs running at the same time; `None` without a limit.
    pub limit: Option<u64>,
    /// The locks that count for the limit.
    pub held: u64,
    /// Recurring jobs that are due and have not been put.
    #[serde(rename = "late")]
    pub late_recurring: u64,
    /// When the job with the newest lock was popped, and by whom.
    #[serde(deserialize_with = "lenient::read")]
    pub popped: Option<Moment>,
    pub holder: Option<Name>,
    /// The worker that was seen last, in any queue.
    pub worker: Option<Name>,
    #[serde(deserialize_with = "lenient::read")]
    pub seen: Option<Moment>,
    /// The job that a pop would get now.
    pub next: Option<Name>,
    /// Since when a pop could have got it.
    #[serde(deserialize_with = "lenient::read")]
    pub ready: Option<Moment>,
    /// Expired locks that a pop would extend once instead of giving the job away.
    pub renewed: u64,
    /// The throttles that hold the next jobs of the queue.
    pub throttles: Vec<FullThrottle>,
    /// The throttles that have no slot for the job.
    pub full: Vec<FullThrottle>,
    /// Whether other jobs of its lane come before the job.
    pub ordered: bool,
    /// When the next scheduled job is due.
    #[serde(deserialize_with = "lenient::read")]
    pub due: Option<Moment>,
    /// An entry without a job, near the head.
    pub ghost: Option<Name>,
    #[serde(deserialize_with = "lenient::read")]
    pub oldest: Option<Moment>,
    /// Whether the job is in the set of waiting jobs.
    pub listed: bool,
    /// How many jobs are ahead of it.
    pub ahead: u64,
    /// How many jobs of the queue were completed per minute lately, if enough were.
    #[serde(deserialize_with = "lenient::read")]
    pub pace: Option<f64>,
}

/// A throttle without a free slot, as a pop meets it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row")]
pub(crate) struct FullThrottle {
    pub id: Name,
    pub maximum: i64,
    /// Jobs that hold a slot.
    pub taken: u64,
    /// Jobs that wait for a slot.
    pub waiting: u64,
    /// The oldest holders, up to 10.
    #[serde(rename = "..", deserialize_with = "holders")]
    pub holders: Vec<Neighbor>,
}

/// Reads holders: jid, class, queue and state of each.
fn holders<'de, D: Deserializer<'de>>(words: D) -> Result<Vec<Neighbor>, D::Error> {
    let words = Vec::<Name>::deserialize(words)?;
    let name = |word: &Name| Some(word.clone()).filter(|word| !word.is_empty());
    let holder = |words: &[Name]| Neighbor {
        jid: words[0].clone(),
        klass: name(&words[1]),
        queue: name(&words[2]),
        state: words[3].as_str().and_then(|state| state.parse().ok()),
        job: None,
    };
    Ok(words.chunks_exact(4).map(holder).collect())
}

/// Where the id of a job that does not exist is still mentioned.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Traces {
    pub history: u64,
    pub tracked: bool,
    pub complete: bool,
    pub dependents: Vec<Name>,
    pub dependencies: Vec<Name>,
    pub tags: Vec<Name>,
    pub queues: Vec<Name>,
}
