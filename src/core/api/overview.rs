//! Reading what `status` shows.

use serde::Deserialize;

use super::index::Index;
use super::names::NAMES_PER_CALL;
use super::queue;
use crate::clock::moment::Moment;
use crate::core::call::info::InfoText;
use crate::core::call::reply::RowsIfFew;
use crate::core::call::{Call, Core, calls};
use crate::error::{Error, Kind};
use crate::lenient;
use crate::model::lag::LagCause;
use crate::model::overview::{
    BlockingThrottle, LateRecurring, OldWait, RecentCompletions, RecentFailures, StatusFacts,
    StuckLane,
};
use crate::model::queue::{Queue, RoundedSeconds};
use crate::model::server::ServerFacts;
use crate::model::worker::Worker;
use crate::name::Name;

impl Core {
    /// What `status` shows, as it is at one moment unless there are too many names for one
    /// call. Recent failures are those since a moment.
    pub(crate) fn status_facts(
        &mut self,
        now: Moment,
        since: Moment,
    ) -> Result<StatusFacts, Error> {
        let call = Call::new(calls::LOOK_STATUS).arg(since.to_string());
        let reply: StatusReply = match self.call(now, call.clone()) {
            // Names the key of a wrong type, if a queue has one.
            Err(error) if error.kind() == Kind::Damaged => {
                self.queues(now, &[])?;
                return Err(error);
            }
            reply => reply?,
        };
        let mut facts = StatusFacts {
            complete: reply.complete,
            server: reply.info.as_ref().map(read_server_info),
            recent: match reply.recent.as_slice() {
                [completed, seconds] => Some(RecentCompletions {
                    completed: *completed as u64,
                    seconds: RoundedSeconds(*seconds),
                }),
                _ => None,
            },
            queues: match reply.queue_counts {
                None => self.queues(now, &[])?,
                Some(mut queues) => {
                    queue::add_head_waits(now, &mut queues, true);
                    queues
                }
            },
            workers: self.all_workers(now, reply.workers)?,
            ..StatusFacts::default()
        };
        let groups = match reply.groups.0 {
            Some(groups) => groups,
            None => {
                let mut groups = Vec::new();
                for names in self
                    .index_members(now, &Index::Groups)?
                    .chunks(NAMES_PER_CALL)
                {
                    let call = call.clone().arg(names.len().to_string()).args(names);
                    let (_, _, more, _): NamedStatus = self.call(now, call)?;
                    groups.extend(more);
                }
                groups
            }
        };
        let group = |(group, jobs, recent)| RecentFailures {
            group,
            recent,
            jobs,
        };
        facts.groups = groups.into_iter().map(group).collect();
        let queues = match reply.queues.0 {
            Some(queues) => queues,
            None => {
                let names = self.index_members(now, &Index::Queues)?;
                let replies: Vec<NamedStatus> = self.call_in_slices(now, &call.arg("0"), &names)?;
                replies
                    .into_iter()
                    .flat_map(|(_, _, _, queues)| queues)
                    .collect()
            }
        };
        for queue in queues {
            add_queue(now, queue, &mut facts);
        }
        Ok(facts)
    }
}

/// What `look.status` replies without names.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct StatusReply {
    complete: u64,
    info: Option<InfoText>,
    groups: RowsIfFew<GroupRow>,
    queues: RowsIfFew<QueueRow>,
    /// Completions of the last minutes, and over how many seconds.
    recent: Vec<f64>,
    /// `None` if there are too many queues.
    queue_counts: Option<Vec<Queue>>,
    workers: RowsIfFew<Worker>,
}

/// What `look.status` replies if the call names groups or queues: two absent items, then the groups and the
/// queues of these names.
type NamedStatus = (Option<Name>, Option<Name>, Vec<GroupRow>, Vec<QueueRow>);

/// A group, the number of its jobs, and of its recent failures.
type GroupRow = (Name, u64, u64);

#[derive(Default, Deserialize)]
#[serde(rename = "row", default)]
struct QueueRow {
    name: Name,
    popped: u64,
    completed: u64,
    failures: u64,
    late: u64,
    #[serde(deserialize_with = "lenient::read_or_none")]
    due: Option<Moment>,
    /// Since when its oldest wait lasts, with the job, the reason and what holds it.
    #[serde(deserialize_with = "lenient::read_or_none")]
    since: Option<Moment>,
    jid: Option<Name>,
    #[serde(deserialize_with = "lenient::read_or_none")]
    why: Option<LagCause>,
    held_by: Option<Name>,
    /// A throttle that lets no job run, and how many wait for it.
    throttle: Option<Name>,
    waiting: Option<u64>,
    /// A lane whose first job has an expired lock, with the job and the worker that lost it.
    lane: Option<Name>,
    first: Option<Name>,
    worker: Option<Name>,
}

/// Adds the facts about a queue.
fn add_queue(now: Moment, row: QueueRow, facts: &mut StatusFacts) {
    facts.today.popped += row.popped;
    facts.today.completed += row.completed;
    facts.today.failures += row.failures;
    let queue = row.name;
    if row.late > 0 {
        facts.late_recurring.push(LateRecurring {
            queue: queue.clone(),
            jobs: row.late,
            due: row.due,
        });
    }
    if let (Some(since), Some(jid)) = (row.since, row.jid) {
        facts.waits.push(OldWait {
            queue,
            jid,
            wait_s: RoundedSeconds(now.since(since).max(0.0)),
            why: row.why,
            held_by: row.held_by,
        });
    }
    if let Some(id) = row.throttle
        && !facts.throttles.iter().any(|known| known.id == id)
    {
        let waiting = row.waiting.unwrap_or(0);
        facts.throttles.push(BlockingThrottle { id, waiting });
    }
    if let (Some(lane), Some(first)) = (row.lane, row.first)
        && !facts.lanes.iter().any(|known| known.lane == lane)
    {
        facts.lanes.push(StuckLane {
            lane,
            first,
            worker: row.worker.unwrap_or_default(),
        });
    }
}

/// Reads the text of INFO.
pub(super) fn read_server_info(info: &InfoText) -> ServerFacts {
    let text = |name: &str| info.field(name).unwrap_or_default().to_owned();
    let number = |name: &str| info.number(name).unwrap_or(0);
    // A server that starts counts as saved then.
    let time: u64 = number("server_time_usec") / 1_000_000;
    let started = time.saturating_sub(number("uptime_in_seconds"));
    let last_save = number("rdb_last_save_time");
    let has_saved = last_save > started + 1;
    ServerFacts {
        version: text("redis_version"),
        role: text("role"),
        uptime_s: number("uptime_in_seconds"),
        memory_bytes: number("used_memory"),
        max_memory_bytes: number("maxmemory"),
        eviction: text("maxmemory_policy"),
        append_only: info.is("aof_enabled", "1"),
        last_save: has_saved
            .then(|| Moment::from_seconds(last_save as f64))
            .flatten(),
        save_failed: info.is("rdb_last_bgsave_status", "err")
            || info.is("aof_last_write_status", "err"),
        link_down: info.is("master_link_status", "down"),
    }
}
