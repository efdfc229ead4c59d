//! The document of `qless explain`: the reasons why a job does not run, or why pops of a queue get no job. Each reason
//! has its evidence and a command that helps.

pub(crate) mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::job::reason::DelayReason;
use super::job::{Neighbor, State};
use super::list::List;
use super::queue::{Queue, RoundedSeconds};
use crate::clock::moment::Moment;
use crate::lenient;
use crate::name::Name;

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
    pub reasons: Vec<DelayReason>,
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

/// The facts that decide what a pop of a queue gets, and about one of its jobs if given. One call reads all of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct PopFacts {
    /// The counts of the queue.
    pub queue: Queue,
    /// Maximum number of jobs of the queue that run at the same time. `None` if there is no limit.
    pub limit: Option<u64>,
    /// The number of running jobs with a lock that has not expired. They count for the limit.
    pub held: u64,
    /// If the queue has a limit, the 10 running jobs whose locks expire first.
    #[serde(deserialize_with = "read_holders")]
    pub holders: Vec<Neighbor>,
    /// When the given job's holder, or its last holder, was last seen.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub worker_seen: Option<Moment>,
    /// The number of recurring jobs that are due and whose next job no pop has put yet.
    #[serde(rename = "late")]
    pub late_recurring: u64,
    /// When the job of the queue whose lock expires last was popped.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub popped: Option<Moment>,
    /// The worker that popped that job.
    pub holder: Option<Name>,
    /// The worker that was seen most recently. It may work on other queues.
    pub worker: Option<Name>,
    /// When `worker` was seen.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub seen: Option<Moment>,
    /// The job that a pop would get now.
    pub next: Option<Name>,
    /// Since when a pop could get the job `next`. Without `next`, when the first of the `renewed` locks expired.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub ready: Option<Moment>,
    /// The number of expired locks that the next pop would extend once for their holders, so that it gets no job.
    pub renewed: u64,
    /// The throttles without a free slot for which the next jobs of the queue wait.
    pub throttles: Vec<FullThrottle>,
    /// The throttles without a free slot for the given job.
    pub full: Vec<FullThrottle>,
    /// Whether the given job waits for other jobs of its lane.
    pub ordered: bool,
    /// When the next scheduled job is due.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub due: Option<Moment>,
    /// An entry near the head of the queue whose job does not exist. It would stop a pop of qless-core.
    pub ghost: Option<Name>,
    /// Since when the oldest job of the queue has waited.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub oldest: Option<Moment>,
    /// Whether the given job is in the queue's set of waiting jobs.
    pub listed: bool,
    /// The number of waiting jobs ahead of the given job.
    pub ahead: u64,
    /// About how many jobs of the queue were completed per minute in the last five minutes. `None` if too few were, or
    /// if no job is ahead of the given job.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub pace: Option<f64>,
}

/// A throttle without a free slot: a pop does not get jobs that need one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row")]
pub(crate) struct FullThrottle {
    pub id: Name,
    pub maximum: i64,
    /// Jobs that hold a slot.
    pub taken: u64,
    /// Jobs that wait for a slot.
    pub waiting: u64,
    /// Up to 10 of the jobs that hold a slot, the oldest holders first.
    #[serde(rename = "..", deserialize_with = "read_holders")]
    pub holders: Vec<Neighbor>,
}

/// Reads a flat list of running jobs: per job its jid, class, queue, state, worker, and when the worker was last seen.
fn read_holders<'de, D: Deserializer<'de>>(words: D) -> Result<Vec<Neighbor>, D::Error> {
    let words = Vec::<Name>::deserialize(words)?;
    let name = |word: &Name| Some(word.clone()).filter(|word| !word.is_empty());
    let holder = |words: &[Name]| Neighbor {
        jid: words[0].clone(),
        klass: name(&words[1]),
        queue: name(&words[2]),
        state: words[3].as_str().and_then(|state| state.parse().ok()),
        worker: name(&words[4]),
        last_seen: Moment::from_decimal(words[5].as_bytes()),
        job: None,
    };
    Ok(words.chunks_exact(6).map(holder).collect())
}

/// The data that still names a job that does not exist, such as a history or an index.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct MissingJobTraces {
    pub history: u64,
    pub tracked: bool,
    pub complete: bool,
    pub dependents: Vec<Name>,
    pub dependencies: Vec<Name>,
    pub tags: Vec<Name>,
    pub queues: Vec<Name>,
}
