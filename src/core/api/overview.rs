//! Reading how the whole system stands.

use serde::Deserialize;

use super::queue;
use super::worker;
use crate::clock::moment::Moment;
use crate::core::call::reply::InfoText;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::overview::{
    GroupWithRecentFailures, QueueFacts, RecentCompletions, SystemFacts, SystemWideList,
};
use crate::model::queue::{Queue, RoundedSeconds};
use crate::model::server::ServerFacts;
use crate::model::worker::Worker;
use crate::name::Name;

/// Maximum number of groups, of queues and of workers that one call reads.
pub(crate) const MAX_READ: usize = 500;

/// The parts of the overview to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct SnapshotRequest {
    /// Since when failures are recent.
    pub since: Moment,
    /// Whether to read how long jobs waited and ran today.
    pub spreads: bool,
    /// The groups to read before all others; `queues` are the queues to read first. Of more than [`MAX_READ`] names,
    /// only the first are used.
    pub groups: Vec<Name>,
    pub queues: Vec<Name>,
}

impl Core {
    /// Reads the state of the whole system, in one call.
    pub(crate) fn system_facts(
        &mut self,
        now: Moment,
        request: &SnapshotRequest,
    ) -> Result<SystemFacts, Error> {
        let first = |names: &[Name]| names[..names.len().min(MAX_READ)].to_vec();
        let (groups, queues) = (first(&request.groups), first(&request.queues));
        let spreads = if request.spreads { "spreads" } else { "counts" };
        let call = Call::new(calls::LOOK_STATUS)
            .arg(request.since.to_string())
            .arg(spreads)
            .arg(groups.len().to_string())
            .args(&groups)
            .args(&queues);
        let reply: StatusReply = self.call(now, call)?;
        let mut counts = reply.queue_counts;
        queue::add_head_job_waits(now, &mut counts, false);
        let queues = reply.queues.into_iter().zip(counts);
        let group = |(group, jobs, recent)| GroupWithRecentFailures {
            group,
            recent,
            jobs,
        };
        let mut facts = SystemFacts {
            server: reply.info.as_ref().map(read_server_info),
            complete: reply.complete,
            recent: match reply.recent.as_slice() {
                [completed, seconds] => Some(RecentCompletions {
                    completed: *completed as u64,
                    seconds: RoundedSeconds(*seconds),
                }),
                _ => None,
            },
            group_count: reply.group_count,
            queue_count: reply.queue_count,
            worker_count: reply.worker_count,
            workers_within_hour: reply.workers_within_hour,
            groups: reply.groups.into_iter().map(group).collect(),
            // The reply also has a row for a requested queue that does not exist: leave it out.
            queues: queues
                .map(|(facts, counts)| QueueFacts { counts, ..facts })
                .filter(|facts| facts.counts.exists())
                .collect(),
            workers: worker::with_processes_ranked_if_all(reply.workers, true, now),
            damaged_queues: reply.damaged_queues,
            damaged_lists: reply.damaged_lists,
        };
        let name = |queue: &QueueFacts| queue.counts.name.clone();
        facts.queues.sort_unstable_by_key(name);
        facts
            .groups
            .sort_unstable_by(|one, other| one.group.cmp(&other.group));
        Ok(facts)
    }
}

/// The reply of `look.status`.
#[derive(Deserialize)]
#[serde(rename = "row")]
struct StatusReply {
    complete: u64,
    info: Option<InfoText>,
    /// The number of jobs completed in the last minutes, and the length of this period in seconds.
    recent: Vec<f64>,
    group_count: u64,
    queue_count: u64,
    worker_count: u64,
    workers_within_hour: u64,
    groups: Vec<GroupRow>,
    queues: Vec<QueueFacts>,
    /// Of the same queues.
    queue_counts: Vec<Queue>,
    workers: Vec<Worker>,
    damaged_queues: Vec<Name>,
    damaged_lists: Vec<SystemWideList>,
}

/// A group, its number of jobs, and its number of recent failures.
type GroupRow = (Name, u64, u64);

pub(super) fn read_server_info(info: &InfoText) -> ServerFacts {
    let text = |name: &str| info.field(name).unwrap_or_default().to_owned();
    let number = |name: &str| info.number(name).unwrap_or(0);
    // Before the first snapshot, INFO reports the start of the server as its last save. So only a later time is that of
    // a snapshot.
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
        evicted_keys: number("evicted_keys"),
        append_only: info.field_is("aof_enabled", "1"),
        last_save: has_saved
            .then(|| Moment::from_seconds(last_save as f64))
            .flatten(),
        save_failed: info.field_is("rdb_last_bgsave_status", "err")
            || info.field_is("aof_last_write_status", "err"),
        link_down: info.field_is("master_link_status", "down"),
    }
}
