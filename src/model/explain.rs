//! Why a job does not run, or why a queue hands out none: reasons, each with its evidence and the
//! command that helps.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use strum::IntoStaticStr;

use super::field::Field;
use super::job::{Neighbor, State};
use super::list::List;
use super::queue::{Queue, Seconds};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::name;
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
pub enum Backoff {
    /// Its worker lost the lock.
    LostLock,
    /// A worker retried it, and its policy gave the delay.
    Retry,
}

/// The facts behind a reason. Each reason has its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// When the reason began.
    pub since: Option<Moment>,
    /// When it ends by itself.
    pub until: Option<Moment>,
    pub by: Option<Name>,
    pub reason: Option<Name>,
    pub worker: Option<Name>,
    pub group: Option<Name>,
    pub message: Option<Name>,
    /// The entry that breaks a queue.
    pub entry: Option<Name>,
    /// The throttle that is full.
    pub throttle: Option<Name>,
    /// The lane with jobs before it.
    pub lane: Option<Name>,
    /// How many jobs the reason is about.
    pub jobs: Option<u64>,
    /// How many jobs wait for the throttle.
    pub waiting: Option<u64>,
    pub limit: Option<u64>,
    /// The remaining retries of a job that is scheduled to run again.
    pub remaining: Option<u64>,
    pub backoff: Option<Backoff>,
    pub per_minute: Option<f64>,
    /// How long it probably takes.
    pub eta_s: Option<f64>,
    /// The jobs that block, up to 10.
    pub roots: Vec<Neighbor>,
    /// The jobs of a cycle, the first one also at the end.
    pub cycle: Vec<Name>,
}

impl Evidence {
    const FIELDS: &'static [Field] = &[
        Field::moment(
            "since",
            "when the reason began; for no_consumer the last time a worker was seen, or without `worker` since when the next job waits",
        )
        .optional(),
        Field::moment(
            "until",
            "when it ends by itself: end of a pause, due time, end of a lock",
        )
        .optional(),
        Field::name("by", "who paused the queue or the recurring job").optional(),
        Field::name("reason", "why it was paused").optional(),
        Field::name(
            "worker",
            "the worker that holds or lost the job, or was seen last",
        )
        .optional(),
        Field::name("group", "the group of the failure").optional(),
        Field::name("message", "the message of the failure").optional(),
        Field::name("entry", "the entry of the queue that has no job").optional(),
        Field::name("throttle", "the throttle that has no free slot").optional(),
        Field::name("lane", "the lane in which other jobs come first").optional(),
        Field::count("jobs", "how many jobs: ahead, running, blocking").optional(),
        Field::count("waiting", "how many jobs wait for the throttle").optional(),
        Field::count("limit", "most jobs running at the same time").optional(),
        Field::count(
            "remaining",
            "the remaining retries of a job that is scheduled to run again",
        )
        .optional(),
        Field::text(
            "backoff",
            "lost_lock or retry: why the job waits for its back-off",
        )
        .optional(),
        Field::number("per_minute", "jobs of the queue completed per minute in the last five minutes, about").optional(),
        Field::number("eta_s", "how long it probably takes").optional(),
        Field::object("roots", Neighbor::FIELDS, "jobs that block it, up to 10")
            .list()
            .optional(),
        Field::name(
            "cycle",
            "jobs that depend on each other, the first one again at the end",
        )
        .list()
        .optional(),
    ];
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, moment) in [("since", self.since), ("until", self.until)] {
            if let Some(moment) = moment {
                map.serialize_entry(key, &moment)?;
            }
        }
        let names = [
            ("by", &self.by),
            ("reason", &self.reason),
            ("worker", &self.worker),
            ("group", &self.group),
            ("message", &self.message),
            ("entry", &self.entry),
            ("throttle", &self.throttle),
            ("lane", &self.lane),
        ];
        for (key, name) in names {
            let Some(name) = name else { continue };
            map.serialize_entry(key, name)?;
            if let Some(bytes) = name.base64() {
                map.serialize_entry(&format!("{key}_bytes"), &bytes)?;
            }
        }
        let counts = [
            ("jobs", self.jobs),
            ("waiting", self.waiting),
            ("limit", self.limit),
            ("remaining", self.remaining),
        ];
        for (key, count) in counts {
            if let Some(count) = count {
                map.serialize_entry(key, &count)?;
            }
        }
        if let Some(backoff) = self.backoff {
            map.serialize_entry("backoff", &backoff)?;
        }
        for (key, number) in [("per_minute", self.per_minute), ("eta_s", self.eta_s)] {
            if let Some(number) = number {
                map.serialize_entry(key, &Seconds(number))?;
            }
        }
        if !self.roots.is_empty() {
            map.serialize_entry("roots", &self.roots)?;
        }
        if !self.cycle.is_empty() {
            map.serialize_entry("cycle", &self.cycle)?;
        }
        map.end()
    }
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    pub code: ReasonCode,
    /// Whether nothing runs as long as it lasts.
    pub blocking: bool,
    pub evidence: Evidence,
    /// The command that helps.
    #[serde(flatten, serialize_with = "name::fix")]
    pub fix: CommandLine,
}

impl Reason {
    const FIELDS: &'static [Field] = &[
        Field::text(
            "code",
            "paused, throttled, ordered, depends, depends_failed, depends_missing, depends_cycle, scheduled, ahead, concurrency, no_consumer, queue_broken, stalled, grace, running, failed, complete, recurring_paused, recurring_not_polled, data_invalid",
        ),
        Field::bool("blocking", "whether the job cannot run as long as it lasts"),
        Field::object(
            "evidence",
            Evidence::FIELDS,
            "the facts behind it; each reason has its own",
        ),
        Field::name(
            "fix",
            "the words of the command that helps; none if a name in it holds a NUL",
        )
        .list(),
    ];

    pub(crate) fn new(code: ReasonCode, evidence: Evidence, fix: CommandLine) -> Reason {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Explanation {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Option<Name>,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Option<Name>,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    pub state: Option<State>,
    /// Whether it is a recurring job.
    pub recurring: bool,
    /// Whether nothing but other jobs and the want of a worker keeps the job from running; of a queue: whether
    /// a pop would get a job now.
    pub runnable: bool,
    /// The job that a pop of the queue would get now.
    #[serde(flatten, serialize_with = "name::next_jid")]
    pub next_jid: Option<Name>,
    /// When the job of the queue with the newest lock was popped.
    pub last_pop: Option<Moment>,
    /// How long the job has waited that has waited longest in the queue.
    pub oldest_wait_s: Option<Seconds>,
    /// The most decisive one first.
    pub reasons: Vec<Reason>,
    /// The counts, if a queue was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Queue>,
}

impl Explanation {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id; null for a queue").null(),
        Field::name("klass", "the kind of work").null(),
        Field::name("queue", "the queue").null(),
        Field::text(
            "state",
            "the job's state; null for queues and recurring jobs",
        )
        .null(),
        Field::bool("recurring", "whether it is a recurring job"),
        Field::bool(
            "runnable",
            "whether the next pops can return the job; of a queue: whether a pop would get a job now",
        ),
        Field::name("next_jid", "the job that a pop of the queue would get now").null(),
        Field::moment(
            "last_pop",
            "when the job of the queue with the newest lock was popped; null if none has a lock",
        )
        .null(),
        Field::number("oldest_wait_s", "the oldest wait in the queue").null(),
        Field::object("reasons", Reason::FIELDS, "the most decisive one first").list(),
        Field::object("counts", Queue::FIELDS, "the queue, with `--queue`").optional(),
    ];
}

/// Explanations of several jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Explanations {
    #[serde(flatten)]
    pub list: List<Explanation>,
}

/// What a pop of a queue meets, by one call of the core.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PopFacts {
    /// The counts of the queue.
    pub queue: Queue,
    /// The most jobs running at the same time; `None` without a limit.
    pub limit: Option<u64>,
    /// The locks that count for the limit.
    pub held: u64,
    /// Recurring jobs that are due and have not been put.
    pub late_recurring: u64,
    /// When the job with the newest lock was popped, and by whom.
    pub popped: Option<Moment>,
    pub holder: Option<Name>,
    /// The worker that was seen last, in any queue.
    pub worker: Option<Name>,
    pub seen: Option<Moment>,
    /// The job that a pop would get now.
    pub next: Option<Name>,
    /// Since when a pop could have got it.
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
    pub due: Option<Moment>,
    /// An entry without a job, near the head.
    pub ghost: Option<Name>,
    pub oldest: Option<Moment>,
    /// Whether the job is in the set of waiting jobs.
    pub listed: bool,
    /// How many jobs are ahead of it.
    pub ahead: u64,
    /// How many jobs of the queue were completed per minute lately, if enough were.
    pub pace: Option<f64>,
}

/// A throttle without a free slot, as a pop meets it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FullThrottle {
    pub id: Name,
    pub maximum: i64,
    /// Jobs that hold a slot.
    pub taken: u64,
    /// Jobs that wait for a slot.
    pub waiting: u64,
    /// The oldest holders, up to 10.
    pub holders: Vec<Neighbor>,
}

/// Where the id of a job that does not exist is still mentioned.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traces {
    pub history: u64,
    pub tracked: bool,
    pub complete: bool,
    pub dependents: Vec<Name>,
    pub dependencies: Vec<Name>,
    pub tags: Vec<Name>,
    pub queues: Vec<Name>,
}
