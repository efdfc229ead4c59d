//! The document of `qless status`: the whole system at one moment.

pub(crate) mod headline;
pub(crate) mod history;
pub(crate) mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::lag::LagCause;
use super::queue::{Queue, QueuedCounts, RoundedSeconds};
use super::server::ServerFacts;
use super::stats::{self, DurationSpread};
use super::worker::{Worker, silence_text};
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::lenient;
use crate::name::Name;
use crate::text::format_count_without_separators;
use crate::view::RenderOptions;

/// The whole system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Overview {
    /// Null if the user is not allowed to read it
    pub server: Option<ServerFacts>,
    /// Counts of the whole system; of jobs, those of the queues and groups that are read
    pub totals: OverviewTotals,
    /// Since midnight UTC
    pub today: TodayCounts,
    /// Completions of the last five minutes; null if no complete job is kept
    pub recent: Option<RecentCompletions>,
    /// Rates per second over at most the last minute; only with `--watch`, and from `web`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_minute: Option<PutAndCompletedRates>,
    /// The oldest wait of each queue, the longest first
    pub waits: Vec<OldestJobWait>,
    /// The paused queues
    pub paused: Vec<QueuePauseDetails>,
    /// Groups with failures since `--since`
    pub failures: Vec<GroupWithRecentFailures>,
    /// How far back `failures` goes
    pub since_s: RoundedSeconds,
    /// Workers whose locks have expired
    pub stalled_workers: Vec<Worker>,
    /// Workers that hold locks and have been silent for more than half of the time that a lock lasts.
    #[serde(skip)]
    pub silent_workers: Vec<Worker>,
    /// Queues with recurring jobs that are due and have not been put
    pub late_recurring: Vec<QueueWithLateRecurring>,
    /// What needs attention, the worst first
    pub problems: Vec<StatusProblem>,
    /// Queues, groups and workers beyond the first 500 of each, which are not read
    pub omitted: OmittedCounts,
}

/// The numbers of queues, groups and workers that were not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OmittedCounts {
    /// Queues
    pub queues: u64,
    /// Groups of failures
    pub groups: u64,
    /// Workers that were seen recently
    pub workers: u64,
}

/// Counts of the whole system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OverviewTotals {
    /// Known queues
    pub queues: u64,
    #[serde(flatten)]
    pub queued: QueuedCounts,
    /// Jobs in this state
    pub failed: u64,
    /// Jobs in this state that are still kept
    pub complete: u64,
    /// Recurring jobs
    pub recurring: u64,
    /// Groups of failures
    pub groups: u64,
    /// Workers that were seen recently
    pub workers: u64,
    /// Workers that hold jobs
    pub busy_workers: u64,
    /// When a worker was seen last
    pub last_seen: Option<Moment>,
}

/// Counters of a day so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct TodayCounts {
    /// Jobs popped
    pub popped: u64,
    /// Jobs completed
    pub completed: u64,
    /// Failures
    pub failures: u64,
    /// Jobs popped per second of the day
    pub popped_per_s: Option<RoundedSeconds>,
    /// Jobs completed per second of the day
    pub completed_per_s: Option<RoundedSeconds>,
}

/// The completions of the last minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RecentCompletions {
    /// The time in which they were completed
    pub seconds: RoundedSeconds,
    /// Jobs completed
    pub completed: u64,
}

/// Rates between two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PutAndCompletedRates {
    /// The time between the two counts
    pub seconds: RoundedSeconds,
    /// Jobs put per second, not counting jobs that were cancelled in this time
    pub put_per_s: RoundedSeconds,
    /// Jobs completed per second
    pub completed_per_s: RoundedSeconds,
}

/// The oldest wait of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OldestJobWait {
    /// The queue
    pub queue: Name,
    /// The job that has waited longest
    pub jid: Name,
    /// How long the job has waited
    pub wait_s: RoundedSeconds,
    /// Waiting for a worker; or paused, throttled, ordered (its lane) or expired (its lock)
    pub why: Option<LagCause>,
    /// The throttle or the lane that holds it
    pub held_by: Option<Name>,
    /// The running job that holds the slot in the lane, the throttle or the queue
    pub holder: Option<Name>,
    /// The worker of that job
    pub worker: Option<Name>,
    /// When that worker was seen last
    pub last_seen: Option<Moment>,
}

impl OldestJobWait {
    /// Why the job waits, as text: `behind other jobs in lane a/b (c runs on w1, silent for 4h)`. `None` if it waits
    /// only for a worker.
    pub(crate) fn wait_reason_text(&self, now: Moment) -> Option<String> {
        let why = self.why.filter(|why| *why != LagCause::Waiting)?;
        let mut text = why.as_cause_sentence(self.held_by.as_ref());
        if let (Some(holder), Some(worker)) = (&self.holder, &self.worker) {
            let silence = silence_text(self.last_seen, now);
            let silence = silence.map_or_else(String::new, |silence| format!(", {silence}"));
            text.push_str(&format!(" ({holder} runs on {worker}{silence})"));
        }
        Some(text)
    }
}

/// A paused queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct QueuePauseDetails {
    /// The queue
    pub queue: Name,
    /// When the queue was paused, if known
    pub since: Option<Moment>,
    /// When the pause ends, if an end was given
    pub until: Option<Moment>,
    /// Who paused the queue, if known
    pub by: Option<Name>,
    /// The reason, if one was given
    pub reason: Option<Name>,
}

/// A group with recent failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct GroupWithRecentFailures {
    /// The kind of failure
    pub group: Name,
    /// Jobs that failed since `--since`; a number above 16 is exact to a sixteenth
    pub recent: u64,
    /// All failed jobs of the group
    pub jobs: u64,
}

/// A queue with recurring jobs that are due and have not been put.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct QueueWithLateRecurring {
    /// The queue
    pub queue: Name,
    /// Recurring jobs that are due
    pub jobs: u64,
    /// When the first of them was due
    pub due: Option<Moment>,
}

/// The kinds of problems that need attention, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ProblemCode {
    Damaged,
    Eviction,
    Memory,
    Persistence,
    Replica,
    NoWorkers,
    WorkersSilent,
    Throttle,
    Lane,
    Failing,
    Stalled,
    Late,
    SilentHolder,
    LateRecurring,
    Paused,
}

impl OmittedCounts {
    /// A sentence with the numbers of queues, groups and workers that were not read. `None` if all were read.
    pub(crate) fn omission_sentence(&self) -> Option<String> {
        let parts = [
            (self.queues, "queue", "queues"),
            (self.groups, "group of failures", "groups of failures"),
            (self.workers, "worker", "workers"),
        ];
        let parts = parts.iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, one, many)| format_count_without_separators(*count, one, many))
            .collect();
        (!parts.is_empty()).then(|| format!("{} not read", parts.join(", ")))
    }
}

/// The text before a count: `at least ` if `omitted` queues or groups were not read, else empty.
pub(crate) fn at_least_prefix(omitted: u64) -> &'static str {
    if omitted > 0 { "at least " } else { "" }
}

impl ProblemCode {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether the problem is mild: an operator caused it on purpose, or it often ends without an operator.
    pub(crate) fn is_mild(self) -> bool {
        matches!(
            self,
            ProblemCode::Paused | ProblemCode::LateRecurring | ProblemCode::SilentHolder
        )
    }
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct StatusProblem {
    /// One of damaged, eviction, memory, persistence, replica, no_workers, workers_silent, throttle, lane,
    /// failing, stalled, late, silent_holder, late_recurring or paused
    #[schemars(with = "String")]
    pub code: ProblemCode,
    /// The sentence for people
    pub message: String,
    /// The queue that the problem is about
    pub queue: Option<Name>,
    /// The group of failures
    pub group: Option<Name>,
    /// The worker
    pub worker: Option<Name>,
    /// How many jobs it concerns
    pub jobs: Option<u64>,
    /// How long the problem has lasted
    pub age_s: Option<RoundedSeconds>,
    /// The command that helps, as words; empty if there is none that can be typed as it is
    pub fix: Vec<Name>,
    /// The sentence without the command.
    #[serde(skip)]
    pub fact: String,
    /// The command that helps. It may contain a placeholder that the operator must replace.
    #[serde(skip)]
    pub form: Option<CommandLine>,
}

impl StatusProblem {
    /// A problem without a command that helps.
    pub(crate) fn new(code: ProblemCode, what: impl Into<String>) -> StatusProblem {
        let fact = what.into();
        StatusProblem {
            code,
            message: fact.clone(),
            queue: None,
            group: None,
            worker: None,
            jobs: None,
            age_s: None,
            fix: Vec::new(),
            fact,
            form: None,
        }
    }

    /// The command that helps, as a shell line. `None` if there is none that a shell can run.
    pub(crate) fn fix_command(&self) -> Option<String> {
        self.form.as_ref()?.shell_line()
    }

    /// Adds a command that helps, with a placeholder that the operator must replace.
    pub(crate) fn with_fix_template(mut self, form: CommandLine) -> StatusProblem {
        if let Some(line) = form.shell_line() {
            self.message = format!("{}: `{line}`", self.fact);
        }
        self.form = Some(form);
        self
    }

    /// Adds a command that helps as it is. In documents it is empty if no shell can run it.
    pub(crate) fn with_fix(mut self, fix: CommandLine) -> StatusProblem {
        self.fix = fix.runnable_argv_or_empty();
        self.with_fix_template(fix)
    }

    pub(crate) fn with_queue(mut self, queue: &Name) -> StatusProblem {
        self.queue = Some(queue.clone());
        self
    }

    pub(crate) fn with_group(mut self, group: &Name) -> StatusProblem {
        self.group = Some(group.clone());
        self
    }

    pub(crate) fn with_worker(mut self, worker: &Name) -> StatusProblem {
        self.worker = Some(worker.clone());
        self
    }

    pub(crate) fn with_jobs(mut self, jobs: u64) -> StatusProblem {
        self.jobs = Some(jobs);
        self
    }

    /// `age` is in seconds.
    pub(crate) fn with_age(mut self, age: f64) -> StatusProblem {
        self.age_s = Some(RoundedSeconds(age));
        self
    }
}

/// The facts about the whole system at one moment, as read from the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemFacts {
    pub server: Option<ServerFacts>,
    /// Completed jobs that are still kept.
    pub complete: u64,
    pub recent: Option<RecentCompletions>,
    /// The number of all failure groups. Up to 500 of them are in `groups`.
    pub group_count: u64,
    /// The number of all queues. Up to 500 of them are in `queues`.
    pub queue_count: u64,
    /// The number of all workers that were seen recently. Up to 500 of them are in `workers`.
    pub worker_count: u64,
    /// The number of workers that were seen within an hour.
    pub workers_within_hour: u64,
    /// Sorted by name.
    pub groups: Vec<GroupWithRecentFailures>,
    pub queues: Vec<QueueFacts>,
    pub workers: Vec<Worker>,
    /// Queues that the core could not read, because a key of the queue has a wrong type.
    pub damaged_queues: Vec<Name>,
    /// Lists that the core could not read, because a key has a wrong type.
    pub damaged_lists: Vec<SystemWideList>,
}

/// A list of the whole system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SystemWideList {
    #[strum(serialize = "the complete jobs")]
    Complete,
    #[strum(serialize = "the groups of failures")]
    Groups,
    #[strum(serialize = "the list of queues")]
    Queues,
    #[strum(serialize = "the workers")]
    Workers,
}

impl SystemFacts {
    /// The number of queues, groups and workers that were not read.
    pub(crate) fn omitted(&self) -> OmittedCounts {
        let rest = |count: u64, seen: usize| count.saturating_sub(seen as u64);
        OmittedCounts {
            queues: rest(
                self.queue_count,
                self.queues.len() + self.damaged_queues.len(),
            ),
            groups: rest(self.group_count, self.groups.len()),
            workers: if self.is_list_readable(SystemWideList::Workers) {
                rest(self.worker_count, self.workers.len())
            } else {
                0
            },
        }
    }

    /// Whether a list could be read.
    pub(crate) fn is_list_readable(&self, list: SystemWideList) -> bool {
        !self.damaged_lists.contains(&list)
    }
}

/// The known facts about a queue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct QueueFacts {
    /// The queue's jobs in each state, and its pause.
    #[serde(skip)]
    pub counts: Queue,
    /// Jobs popped today.
    pub popped: u64,
    /// Jobs completed today.
    pub completed: u64,
    /// Failures of today.
    pub failures: u64,
    /// Locks lost today.
    pub retries: u64,
    /// The number of recurring jobs that are due and whose next job no pop has put yet.
    pub late: u64,
    /// When the first of these recurring jobs was due.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub due: Option<Moment>,
    /// When the longest-running job was popped, of the four running jobs whose locks expire first. Read on request.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub running_since: Option<Moment>,
    /// Since when the oldest job of the queue has waited.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub since: Option<Moment>,
    /// The oldest job of the queue.
    pub jid: Option<Name>,
    /// Why the oldest job waits.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub why: Option<LagCause>,
    /// The throttle or lane for which the oldest job waits.
    pub held_by: Option<Name>,
    /// The running job for which the oldest job waits.
    pub holder: Option<Name>,
    /// The worker that runs `holder`.
    pub holder_worker: Option<Name>,
    /// When that worker was last seen.
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub holder_seen: Option<Moment>,
    /// A throttle of a job of the queue that lets no job run, because its maximum is negative.
    pub throttle: Option<Name>,
    /// The number of jobs that wait for `throttle`.
    pub waiting: Option<u64>,
    /// Up to 10 of the lanes in which jobs wait because the lock of the first job has expired.
    pub lanes: Vec<LaneBlockedByExpiredLock>,
    /// How long jobs waited today. Read on request.
    #[serde(deserialize_with = "stats::read_stored_spread")]
    pub wait: Option<DurationSpread>,
    /// How long jobs ran today. Read on request.
    #[serde(deserialize_with = "stats::read_stored_spread")]
    pub run: Option<DurationSpread>,
}

/// A lane in which jobs wait, because the lock of its first job has expired.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "row")]
pub(crate) struct LaneBlockedByExpiredLock {
    pub name: Name,
    pub first: Name,
    /// The worker that lost the lock of `first`.
    pub worker: Name,
}

/// How long a job may wait before its queue counts as late, in seconds.
const LATE: f64 = 120.0;

impl QueueFacts {
    /// Whether the oldest job of the queue has waited longer than [`LATE`]. False for a paused queue, whose jobs an
    /// operator lets wait on purpose.
    pub(crate) fn has_oldest_job_waited_too_long(&self, now: Moment) -> bool {
        let wait = self.oldest_job_wait(now);
        wait.is_some_and(|wait| wait.wait_s.0 > LATE && wait.why != Some(LagCause::Paused))
    }

    /// Whether the job at the head of the queue has waited longer than [`LATE`]. Lists of queues show this wait.
    pub(crate) fn has_head_waited_too_long(&self, now: Moment) -> bool {
        let wait = self.counts.head_wait_s.map_or(0.0, |wait| wait.0);
        self.has_oldest_job_waited_too_long(now) && wait > LATE
    }

    /// The wait of the oldest job in seconds, if it is longer than [`LATE`] but the job at the head has waited less, so
    /// that lists of queues do not show it.
    pub(crate) fn late_wait_if_head_is_not_late(&self, now: Moment) -> Option<f64> {
        let wait = self.oldest_job_wait(now).map(|wait| wait.wait_s.0);
        wait.filter(|_| {
            self.has_oldest_job_waited_too_long(now) && !self.has_head_waited_too_long(now)
        })
    }

    /// Why workers do not get the jobs of the queue, as text: its pause, else the throttle or lane for which the oldest
    /// job waits.
    pub(crate) fn why_workers_get_no_jobs(&self, options: &RenderOptions) -> Option<String> {
        if self.counts.paused {
            return Some(self.counts.pause_text(options));
        }
        let held_by = self.held_by.as_ref()?;
        Some(self.why?.as_cause_sentence(Some(held_by)))
    }

    /// The wait of the oldest job, with its reason. In a paused queue the reason is always the pause.
    pub(crate) fn oldest_job_wait(&self, now: Moment) -> Option<OldestJobWait> {
        let wait = OldestJobWait {
            queue: self.counts.name.clone(),
            jid: self.jid.clone()?,
            wait_s: RoundedSeconds(now.since(self.since?).max(0.0)),
            why: Some(LagCause::Paused),
            ..OldestJobWait::default()
        };
        if self.counts.paused {
            return Some(wait);
        }
        Some(OldestJobWait {
            why: self.why,
            held_by: self.held_by.clone(),
            holder: self.holder.clone(),
            worker: self.holder_worker.clone(),
            last_seen: self.holder_seen,
            ..wait
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_late_by_its_oldest_wait_whatever_the_next_job_has_waited() {
        let now = Moment::from_seconds(100_000.0).unwrap();
        let queue = |oldest: f64, next: f64, paused: bool| QueueFacts {
            counts: Queue {
                head_wait_s: Some(RoundedSeconds(next)),
                paused,
                ..Queue::default()
            },
            jid: Some("first".into()),
            since: Moment::from_seconds(100_000.0 - oldest),
            ..QueueFacts::default()
        };
        assert!(queue(121.0, 2.0, false).has_oldest_job_waited_too_long(now));
        assert!(!queue(120.0, 900.0, false).has_oldest_job_waited_too_long(now));
        assert!(!queue(121.0, 2.0, true).has_oldest_job_waited_too_long(now));
    }
}
