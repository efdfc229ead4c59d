//! Why a job does not run, or why pops of a queue get no job: reasons, each with its evidence and the command that
//! helps.

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

/// The facts that decide what a pop of a queue gets, read in one call.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct PopFacts {
    /// The counts of the queue.
    pub queue: Queue,
    /// Maximum number of jobs that run at the same time. `None` without a limit.
    pub limit: Option<u64>,
    /// The locks that count for the limit.
    pub held: u64,
    /// The holders of the locks that count for the limit, if there is one: the first 10 whose locks expire.
    #[serde(deserialize_with = "read_holders")]
    pub holders: Vec<Neighbor>,
    /// When the worker that holds the job, or held it last, was seen last.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub worker_seen: Option<Moment>,
    /// Recurring jobs that are due and have not been put.
    #[serde(rename = "late")]
    pub late_recurring: u64,
    /// When the job with the newest lock was popped, and by whom.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub popped: Option<Moment>,
    pub holder: Option<Name>,
    /// The worker that was seen last, in any queue.
    pub worker: Option<Name>,
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub seen: Option<Moment>,
    /// The job that a pop would get now.
    pub next: Option<Name>,
    /// Since when a pop could have got the job `next`.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub ready: Option<Moment>,
    /// Expired locks that a pop would extend once instead of giving the job away.
    pub renewed: u64,
    /// The throttles for whose slots the next jobs of the queue wait.
    pub throttles: Vec<FullThrottle>,
    /// The throttles that have no slot for the job.
    pub full: Vec<FullThrottle>,
    /// Whether other jobs of its lane come before the job.
    pub ordered: bool,
    /// When the next scheduled job is due.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub due: Option<Moment>,
    /// An entry without a job, near the head.
    pub ghost: Option<Name>,
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub oldest: Option<Moment>,
    /// Whether the job is in the set of waiting jobs.
    pub listed: bool,
    /// How many waiting jobs are ahead of the job.
    pub ahead: u64,
    /// How many jobs of the queue were completed per minute lately, if enough were.
    #[serde(deserialize_with = "lenient::read_or_none")]
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
    #[serde(rename = "..", deserialize_with = "read_holders")]
    pub holders: Vec<Neighbor>,
}

/// Reads holders: jid, class, queue, state and worker of each, and when that was seen last.
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

/// Where the id of a job that does not exist is still mentioned.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct JidTraces {
    pub history: u64,
    pub tracked: bool,
    pub complete: bool,
    pub dependents: Vec<Name>,
    pub dependencies: Vec<Name>,
    pub tags: Vec<Name>,
    pub queues: Vec<Name>,
}
