//! A queue: how many jobs it has in each state, and whether it is paused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::is_zero;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::json::Number;
use crate::lenient;
use crate::name::Name;
use crate::view::RenderOptions;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column};

/// How many jobs of one or more queues are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct QueuedCounts {
    /// Jobs in this state
    pub waiting: u64,
    /// Jobs in this state
    pub running: u64,
    /// Jobs in this state
    pub stalled: u64,
    /// Jobs in this state
    pub scheduled: u64,
    /// Jobs in this state
    pub depends: u64,
    /// Jobs in this state, if there are any
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
}

impl QueuedCounts {
    /// The counts and the names of their states, in the order in which messages list them.
    pub(crate) fn counts_with_state_words(&self) -> [(u64, &'static str); 6] {
        [
            (self.waiting, "waiting"),
            (self.running, "running"),
            (self.stalled, "stalled"),
            (self.scheduled, "scheduled"),
            (self.depends, "depends"),
            (self.throttled, "throttled"),
        ]
    }

    /// The number of jobs in all these states.
    pub(crate) fn total(&self) -> u64 {
        self.counts_with_state_words()
            .iter()
            .map(|(count, _)| count)
            .sum()
    }
}

/// A queue's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Queue {
    /// The queue
    pub name: Name,
    /// Jobs that can be popped now
    pub waiting: u64,
    /// Jobs that a worker holds
    pub running: u64,
    /// Jobs whose lock has expired or was revoked
    pub stalled: u64,
    /// Jobs that are not due yet
    pub scheduled: u64,
    /// Jobs that wait for their dependencies
    pub depends: u64,
    /// Jobs that wait for a free slot of a throttle, if there are any
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
    /// Recurring jobs
    pub recurring: u64,
    /// Whether pops from it get no jobs
    pub paused: bool,
    /// When the queue was paused, if known
    #[serde(
        rename(deserialize = "since"),
        deserialize_with = "lenient::read_or_none"
    )]
    pub paused_since: Option<Moment>,
    /// When the pause ends, if an end was given
    #[serde(
        rename(deserialize = "until"),
        deserialize_with = "lenient::read_or_none"
    )]
    pub paused_until: Option<Moment>,
    /// The reason, if one was given
    #[serde(rename(deserialize = "reason"))]
    pub paused_reason: Option<Name>,
    /// The user and host that paused it, if known
    #[serde(rename(deserialize = "by"))]
    pub paused_by: Option<Name>,
    /// How long the next job to pop has been waiting
    #[serde(skip_deserializing)]
    pub head_wait_s: Option<RoundedSeconds>,
    /// Since when the queue has such a job.
    #[serde(
        skip_serializing,
        rename = "head",
        deserialize_with = "lenient::read_or_none"
    )]
    pub head_since: Option<Moment>,
    /// Whether the server's list of queues has the queue.
    #[serde(skip_serializing)]
    pub known: bool,
    /// The keys of the queue that have a wrong type. If there are any, the other fields were not read.
    #[serde(skip)]
    pub wrong_keys: Vec<Name>,
}

impl Queue {
    pub(crate) fn add_to_counts(&self, counts: &mut QueuedCounts) {
        counts.waiting += self.waiting;
        counts.running += self.running;
        counts.stalled += self.stalled;
        counts.scheduled += self.scheduled;
        counts.depends += self.depends;
        counts.throttled += self.throttled;
    }

    /// The number of jobs in each state and of recurring jobs, with the names that metrics use.
    pub(crate) fn counts_by_state(&self) -> [(&'static str, u64); 7] {
        [
            ("waiting", self.waiting),
            ("running", self.running),
            ("stalled", self.stalled),
            ("scheduled", self.scheduled),
            ("depends", self.depends),
            ("throttled", self.throttled),
            ("recurring", self.recurring),
        ]
    }

    /// That the queue is paused, with the command that resumes it.
    pub(crate) fn paused_sentence_with_unpause_command(&self) -> String {
        let unpause = CommandLine::new("unpause").with_name_argument(&self.name);
        let wait = unpause.fill_sentence("; its jobs wait for {}");
        format!(
            "queue `{}` is paused{}",
            self.name,
            wait.unwrap_or_default()
        )
    }

    /// Whether the server stores anything for the queue.
    pub fn exists(&self) -> bool {
        self.known
            || self.paused
            || !self.wrong_keys.is_empty()
            || [self.waiting, self.running, self.stalled, self.scheduled]
                .iter()
                .any(|jobs| *jobs > 0)
            || [self.depends, self.throttled, self.recurring]
                .iter()
                .any(|jobs| *jobs > 0)
    }
}

/// The queues from which a pop may return a job now.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row")]
pub struct ReadyQueues {
    /// In how many seconds the next of the other queues has a due job. `None` if that is not known.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub due_in: Option<f64>,
    #[serde(rename = "..")]
    pub queues: Vec<Name>,
}

impl ReadyQueues {
    /// Adds what was read about other queues.
    pub fn add_queues(&mut self, other: ReadyQueues) {
        self.queues.extend(other.queues);
        self.due_in = match (self.due_in, other.due_in) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// A duration in a document: seconds, rounded to milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema)]
pub struct RoundedSeconds(pub f64);

impl Serialize for RoundedSeconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number((self.0 * 1000.0).round() / 1000.0).serialize(serializer)
    }
}

impl Row for Queue {
    const LIST: DocumentKind = DocumentKind::of_list::<Queue>("queues", "Queues: queues");

    const COLUMNS: &'static [Column<Queue>] = &[
        Column::of_names("QUEUE", |queue| &queue.name),
        Column::of_counts("WAITING", |queue: &Queue| queue.waiting).drop_rank(2),
        Column::of_counts("RUNNING", |queue: &Queue| queue.running).drop_rank(3),
        Column::of_counts("STALLED", |queue: &Queue| queue.stalled)
            .drop_rank(4)
            .warn_if_not_zero(),
        Column::of_counts("SCHEDULED", |queue: &Queue| queue.scheduled).drop_rank(6),
        Column::of_counts("DEPENDS", |queue: &Queue| queue.depends).drop_rank(7),
        Column::of_counts("THROTTLED", |queue: &Queue| queue.throttled)
            .drop_rank(8)
            .only_if_not_zero(),
        Column::of_counts("RECURRING", |queue: &Queue| queue.recurring).drop_rank(9),
        Column::of_text("NEXT WAITS", |queue: &Queue, _| {
            Cell::duration(queue.head_wait_s.map(|wait| wait.0))
        })
        .drop_rank(5),
        Column::of_free_text("STATE", |queue: &Queue, options| queue.pause_cell(options))
            .drop_rank(1)
            .min_width(16),
    ];
}

impl Queue {
    fn pause_cell(&self, options: &RenderOptions) -> Cell {
        Cell::text(self.pause_text(options)).with_style(self.paused.then_some(Style::Yellow))
    }

    /// The cell of a paused queue, with the start, the end and the reason of the pause if they are known: `paused 2h 4m
    /// (disk swap)`. Empty for a queue that is not paused.
    pub(crate) fn pause_text(&self, options: &RenderOptions) -> String {
        if !self.paused {
            return String::new();
        }
        let mut state = "paused".to_owned();
        match self.paused_since {
            Some(since) if options.relative() => {
                state.push_str(&format!(" {}", options.age(since)))
            }
            Some(since) => state.push_str(&format!(" since {}", options.format_timestamp(since))),
            None => {}
        }
        if let Some(until) = self.paused_until {
            state.push_str(&format!(", ends {}", options.when(until)));
        }
        if let Some(reason) = &self.paused_reason {
            state.push_str(&format!(" ({reason})"));
        }
        state
    }

    /// [`Queue::pause_text`], and who paused the queue: `paused 2h 4m (disk swap) by ann@HOST`.
    pub(crate) fn pause_and_author_text(&self, options: &RenderOptions) -> String {
        let mut state = self.pause_text(options);
        if let Some(by) = &self.paused_by {
            state.push_str(&format!(" by {by}"));
        }
        state
    }
}

/// How many jobs are left in a queue when a worker with `--drain` ends, counted by why it cannot pop them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobsLeftInQueue {
    pub queue: Name,
    pub is_paused: bool,
    pub waiting: u64,
    pub scheduled: u64,
    pub depends: u64,
    pub throttled: u64,
    pub locks: LocksOfOtherWorkers,
}

/// The locks that other workers hold on jobs of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocksOfOtherWorkers {
    /// How many of these locks have not expired.
    pub valid: u64,
    /// How many of these locks have expired. A pop gets their jobs after the grace period.
    pub stalled: u64,
    /// Seconds until the last grace period of an expired lock ends.
    pub grace_left: f64,
}

impl LocksOfOtherWorkers {
    fn lock_count(self) -> u64 {
        self.valid + self.stalled
    }
}

impl JobsLeftInQueue {
    /// The jobs left in a queue on which other workers hold `locks`. `None` if the queue has no job.
    pub(crate) fn from_counts(
        queue: &Queue,
        locks: LocksOfOtherWorkers,
    ) -> Option<JobsLeftInQueue> {
        let left = JobsLeftInQueue {
            queue: queue.name.clone(),
            is_paused: queue.paused,
            // A job whose lock was revoked counts as running in its queue, but a pop can get it: count it as waiting.
            waiting: queue.waiting
                + (queue.running + queue.stalled).saturating_sub(locks.lock_count()),
            scheduled: queue.scheduled,
            depends: queue.depends,
            throttled: queue.throttled,
            locks,
        };
        let jobs =
            left.waiting + left.scheduled + left.depends + left.throttled + locks.lock_count();
        (jobs > 0).then_some(left)
    }
}
