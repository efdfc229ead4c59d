//! The whole system at one moment, as `status` shows it.

use std::time::Instant;

use serde::{Serialize, Serializer};
use strum::IntoStaticStr;

use super::field::Field;
use super::job::is_zero;
use super::lag::Why;
use super::queue::{Queue, Seconds};
use super::worker::Worker;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::name;
use crate::name::Name;

/// The whole system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Overview {
    /// `None` if the user may not read it.
    pub server: Option<ServerFacts>,
    pub totals: OverviewTotals,
    pub today: Today,
    /// The completions of the last minutes, if complete jobs are kept.
    pub recent: Option<Recent>,
    /// With `--watch`, from the second time on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_minute: Option<LastMinute>,
    /// The oldest waits, one for each queue.
    pub waits: Vec<OldWait>,
    pub paused: Vec<PausedPart>,
    /// Groups with failures in the time of `--since`.
    pub failures: Vec<RecentFailures>,
    pub since_s: Seconds,
    /// Workers that hold jobs whose locks have expired.
    pub stalled_workers: Vec<Worker>,
    pub late_recurring: Vec<LateRecurring>,
    pub problems: Vec<Problem>,
}

impl Overview {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::object(
            "server",
            ServerFacts::FIELDS,
            "null if the user may not read it",
        )
        .null(),
        Field::object(
            "totals",
            OverviewTotals::FIELDS,
            "counts of the whole system",
        ),
        Field::object("today", Today::FIELDS, "since midnight UTC"),
        Field::object(
            "recent",
            Recent::FIELDS,
            "completions of the last five minutes; null if no complete job is kept",
        )
        .null(),
        Field::object(
            "last_minute",
            LastMinute::FIELDS,
            "rates between the times of `--watch`, over a minute",
        )
        .optional(),
        Field::object(
            "waits",
            OldWait::FIELDS,
            "the oldest wait of each queue, the longest first",
        )
        .list(),
        Field::object("paused", PausedPart::FIELDS, "the paused queues").list(),
        Field::object(
            "failures",
            RecentFailures::FIELDS,
            "groups with failures since `--since`",
        )
        .list(),
        Field::number("since_s", "how far back `failures` goes"),
        Field::object(
            "stalled_workers",
            Worker::FIELDS,
            "workers whose locks have expired",
        )
        .list(),
        Field::object(
            "late_recurring",
            LateRecurring::FIELDS,
            "queues with recurring jobs that are due and have not been put",
        )
        .list(),
        Field::object("problems", Problem::FIELDS, "what needs attention").list(),
    ];
}

/// What the server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ServerFacts {
    pub version: String,
    pub role: String,
    pub uptime_s: u64,
    pub memory_bytes: u64,
    /// 0 without a limit.
    pub max_memory_bytes: u64,
    pub eviction: String,
    pub append_only: bool,
    pub last_save: Option<Moment>,
    /// Whether the last attempt to save failed.
    pub save_failed: bool,
    /// Whether a replica has lost its primary.
    pub link_down: bool,
}

impl ServerFacts {
    const FIELDS: &'static [Field] = &[
        Field::text("version", "the version of Redis"),
        Field::text("role", "master or slave"),
        Field::count("uptime_s", "how long it runs"),
        Field::count("memory_bytes", "memory in use"),
        Field::count("max_memory_bytes", "the limit; 0 if there is none"),
        Field::text("eviction", "what it does at the limit"),
        Field::bool("append_only", "whether it has an append-only file"),
        Field::moment("last_save", "the last snapshot").null(),
        Field::bool(
            "save_failed",
            "whether it could not save its data the last time",
        ),
        Field::bool("link_down", "whether a replica has lost its primary"),
    ];
}

/// Counts of the whole system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct OverviewTotals {
    pub queues: u64,
    pub waiting: u64,
    pub running: u64,
    pub stalled: u64,
    pub scheduled: u64,
    pub depends: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
    pub failed: u64,
    pub complete: u64,
    pub recurring: u64,
    pub groups: u64,
    pub workers: u64,
    /// Workers that hold jobs.
    pub busy_workers: u64,
    /// When one of them was seen last.
    pub last_seen: Option<Moment>,
}

impl OverviewTotals {
    const FIELDS: &'static [Field] = &[
        Field::count("queues", "known queues"),
        Field::count("waiting", "jobs in this state"),
        Field::count("running", "jobs in this state"),
        Field::count("stalled", "jobs in this state"),
        Field::count("scheduled", "jobs in this state"),
        Field::count("depends", "jobs in this state"),
        Field::count("throttled", "jobs in this state, if there are any").optional(),
        Field::count("failed", "jobs in this state"),
        Field::count("complete", "jobs in this state that are still kept"),
        Field::count("recurring", "recurring jobs"),
        Field::count("groups", "groups of failures"),
        Field::count("workers", "workers that were seen recently"),
        Field::count("busy_workers", "workers that hold jobs"),
        Field::moment("last_seen", "when a worker was seen last").null(),
    ];
}

/// Counters of a day so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Today {
    pub popped: u64,
    pub completed: u64,
    pub failures: u64,
    pub popped_per_s: Option<Seconds>,
    pub completed_per_s: Option<Seconds>,
}

impl Today {
    const FIELDS: &'static [Field] = &[
        Field::count("popped", "jobs popped"),
        Field::count("completed", "jobs completed"),
        Field::count("failures", "failures"),
        Field::number("popped_per_s", "jobs popped per second of the day").null(),
        Field::number("completed_per_s", "jobs completed per second of the day").null(),
    ];
}

/// The completions of the last minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Recent {
    pub seconds: Seconds,
    pub completed: u64,
}

impl Recent {
    const FIELDS: &'static [Field] = &[
        Field::number("seconds", "the time in which they were completed"),
        Field::count("completed", "jobs completed"),
    ];
}

/// Rates between two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct LastMinute {
    pub seconds: Seconds,
    pub put_per_s: Seconds,
    pub completed_per_s: Seconds,
}

impl LastMinute {
    const FIELDS: &'static [Field] = &[
        Field::number("seconds", "the time between the two counts"),
        Field::number(
            "put_per_s",
            "jobs put per second, without those cancelled meanwhile",
        ),
        Field::number("completed_per_s", "jobs completed per second"),
    ];
}

/// What `status --watch` counts each time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub at: Instant,
    /// Jobs that are not complete.
    pub open: u64,
    /// Jobs completed today.
    pub completed: u64,
}

/// The oldest wait of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct OldWait {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    pub wait_s: Seconds,
    pub why: Option<Why>,
    /// The throttle or the lane that holds it.
    #[serde(flatten, serialize_with = "name::held_by")]
    pub held_by: Option<Name>,
}

impl OldWait {
    const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::name("jid", "the job that has waited longest"),
        Field::number("wait_s", "how long it has waited"),
        Field::text("why", Why::WORDS).null(),
        Field::name("held_by", Why::HELD_BY).null(),
    ];
}

/// A paused queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PausedPart {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    #[serde(flatten, serialize_with = "name::by")]
    pub by: Option<Name>,
    #[serde(flatten, serialize_with = "name::reason")]
    pub reason: Option<Name>,
}

impl PausedPart {
    const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::moment("since", "when it was paused, if known").null(),
        Field::moment("until", "when the pause ends, if an end was given").null(),
        Field::name("by", "who paused it, if known").null(),
        Field::name("reason", "the reason, if one was given").null(),
    ];
}

/// A group with recent failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RecentFailures {
    #[serde(flatten, serialize_with = "name::group")]
    pub group: Name,
    /// Failures since `--since`.
    pub recent: u64,
    /// All jobs of the group.
    pub jobs: u64,
}

impl RecentFailures {
    const FIELDS: &'static [Field] = &[
        Field::name("group", "the kind of failure"),
        Field::count(
            "recent",
            "jobs that failed since `--since`; above 16 to a sixteenth",
        ),
        Field::count("jobs", "all failed jobs of the group"),
    ];
}

/// A queue with recurring jobs that are due and have not been put.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct LateRecurring {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    pub jobs: u64,
    pub due: Option<Moment>,
}

impl LateRecurring {
    const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::count("jobs", "recurring jobs that are due"),
        Field::moment("due", "when the first of them was due").null(),
    ];
}

/// Something that needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum ProblemCode {
    Eviction,
    Memory,
    Persistence,
    Replica,
    WorkersSilent,
    Throttle,
    Lane,
    Stalled,
    NoWorkers,
    LateRecurring,
}

/// A problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub code: ProblemCode,
    /// What is wrong, for people.
    pub what: String,
    /// The command that helps.
    pub fix: Option<CommandLine>,
}

impl Problem {
    const FIELDS: &'static [Field] = &[
        Field::text(
            "code",
            "eviction, memory, persistence, replica, no_workers, workers_silent, throttle, lane, stalled or late_recurring",
        ),
        Field::text("message", "the sentence for people"),
    ];

    pub(crate) fn sentence(&self) -> String {
        match self.fix.as_ref().and_then(CommandLine::line) {
            Some(fix) => format!("{}: `{fix}`", self.what),
            None => self.what.clone(),
        }
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("code", self.code.into_str())?;
        map.serialize_entry("message", &self.sentence())?;
        map.end()
    }
}

/// A throttle that lets no job run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockingThrottle {
    pub id: Name,
    /// Jobs that wait for it.
    pub waiting: u64,
}

/// A lane whose first job has an expired lock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StuckLane {
    pub lane: Name,
    pub first: Name,
    /// The worker that lost the lock.
    pub worker: Name,
}

impl Default for Seconds {
    fn default() -> Seconds {
        Seconds(0.0)
    }
}

/// What the overview is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatusFacts {
    pub queues: Vec<Queue>,
    pub workers: Vec<Worker>,
    pub complete: u64,
    pub server: Option<ServerFacts>,
    pub groups: Vec<RecentFailures>,
    pub today: Today,
    pub recent: Option<Recent>,
    pub waits: Vec<OldWait>,
    pub late_recurring: Vec<LateRecurring>,
    pub throttles: Vec<BlockingThrottle>,
    pub lanes: Vec<StuckLane>,
}

#[cfg(test)]
impl Overview {
    /// An overview in which each list has an item.
    pub(crate) fn example() -> Overview {
        Overview {
            server: Some(ServerFacts {
                version: "7.0.15".into(),
                role: "master".into(),
                uptime_s: 273_600,
                memory_bytes: 1_288_490_189,
                max_memory_bytes: 4 << 30,
                eviction: "noeviction".into(),
                append_only: true,
                ..ServerFacts::default()
            }),
            totals: OverviewTotals {
                queues: 3,
                waiting: 1204,
                running: 11,
                stalled: 1,
                failed: 1237,
                complete: 18_204,
                workers: 4,
                busy_workers: 2,
                last_seen: Moment::from_seconds(99_220.0),
                ..OverviewTotals::default()
            },
            today: Today {
                popped: 18_412,
                completed: 18_204,
                failures: 37,
                popped_per_s: Some(Seconds(0.61)),
                completed_per_s: Some(Seconds(0.6)),
            },
            recent: Some(Recent {
                seconds: Seconds(300.0),
                completed: 37,
            }),
            last_minute: Some(LastMinute {
                seconds: Seconds(60.0),
                put_per_s: Seconds(61.2),
                completed_per_s: Seconds(58.9),
            }),
            waits: vec![OldWait {
                queue: "mail".into(),
                jid: "welcome-42".into(),
                wait_s: Seconds(252.0),
                why: Some(Why::Throttled),
                held_by: Some("api".into()),
            }],
            paused: vec![PausedPart {
                queue: "images".into(),
                since: Moment::from_seconds(92_560.0),
                by: Some("ann@host".into()),
                reason: Some("disk\x1b swap".into()),
                ..PausedPart::default()
            }],
            failures: vec![RecentFailures {
                group: "upload error".into(),
                recent: 12,
                jobs: 1204,
            }],
            since_s: Seconds(3600.0),
            stalled_workers: vec![Worker {
                name: "mx-2-18841".into(),
                stalled: 1,
                ..Worker::default()
            }],
            late_recurring: vec![LateRecurring {
                queue: "web".into(),
                jobs: 1,
                due: Moment::from_seconds(99_960.0),
            }],
            problems: vec![Problem {
                code: ProblemCode::Stalled,
                what: "jobs have lost their workers".into(),
                fix: Some(CommandLine::new("jobs --state stalled")),
            }],
        }
    }
}
