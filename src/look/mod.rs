//! The state of the system for `status`, `metrics` and `health`. One call reads it. The three commands share the rules
//! of what counts as a problem.

pub(crate) mod health;
pub(crate) mod metrics;
mod problems;
pub(crate) mod server;
pub(crate) mod statsd;

use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::overview::SnapshotRequest;
use crate::error::Error;
use crate::model::overview::{
    Overview, OverviewTotals, QueueFacts, QueuePauseDetails, QueueWithLateRecurring, SystemFacts,
    TodayCounts,
};
use crate::model::pattern::NamePattern;
use crate::model::queue::QueuedCounts;
use crate::model::queue::{Queue, RoundedSeconds};
use crate::session::Session;

pub(crate) use problems::{find_problems, wrong_key_types_problem};

/// How old a failure may be to count as recent by default, in seconds.
pub(crate) const RECENT: f64 = 3600.0;

/// Reads a snapshot of the system. Failures count as recent if they are up to `since_s` seconds old. If there are more
/// queues than one call reads, reads a second time with the queues first that match `priority_globs`.
pub(crate) fn read_snapshot(
    since_s: f64,
    mut request: SnapshotRequest,
    priority_globs: &[NamePattern],
    session: &mut Session,
) -> Result<(SystemFacts, Moment), Error> {
    let now = session.connect()?;
    request.since = Moment::from_seconds(now.seconds() - since_s).unwrap_or(now);
    let core = session.core()?;
    let mut facts = core.system_facts(now, &request)?;
    if facts.omitted().queues > 0 && !priority_globs.is_empty() {
        let mut names = core.index_members(now, &Index::Queues)?;
        names.retain(|name| priority_globs.iter().any(|glob| glob.matches(name)));
        request.queues.append(&mut names);
        facts = core.system_facts(now, &request)?;
    }
    Ok((facts, now))
}

/// The overview of `status`, from facts that were read at `now`. Failures count as recent for `since_s` seconds.
pub(crate) fn build_overview(facts: SystemFacts, since_s: f64, now: Moment) -> Overview {
    let problems = find_problems(&facts, since_s, now);
    let omitted = facts.omitted();
    let SystemFacts {
        queues, workers, ..
    } = &facts;
    // Statistics may hold any number.
    let sum = |count: fn(&QueueFacts) -> u64| queues.iter().map(count).fold(0, u64::saturating_add);
    let mut queued = QueuedCounts::default();
    for queue in queues {
        queue.counts.add_to_counts(&mut queued);
    }
    let busy = workers
        .iter()
        .filter(|worker| worker.running + worker.stalled > 0);
    let totals = OverviewTotals {
        queues: facts.queue_count,
        queued,
        failed: facts.groups.iter().map(|group| group.jobs).sum(),
        complete: facts.complete,
        recurring: sum(|queue| queue.counts.recurring),
        groups: facts.group_count,
        workers: facts.worker_count,
        busy_workers: busy.count() as u64,
        last_seen: workers.iter().filter_map(|worker| worker.last_seen).max(),
    };
    let mut today = TodayCounts {
        popped: sum(|queue| queue.popped),
        completed: sum(|queue| queue.completed),
        failures: sum(|queue| queue.failures),
        ..TodayCounts::default()
    };
    let seconds = now.seconds().rem_euclid(86_400.0);
    if seconds >= 1.0 {
        today.popped_per_s = Some(RoundedSeconds(today.popped as f64 / seconds));
        today.completed_per_s = Some(RoundedSeconds(today.completed as f64 / seconds));
    }
    let waits = queues.iter().filter_map(|queue| queue.oldest_job_wait(now));
    let mut waits: Vec<_> = waits.collect();
    waits.sort_by(|one, other| other.wait_s.0.total_cmp(&one.wait_s.0));
    let paused = queues.iter().map(|queue| &queue.counts);
    let paused = paused.filter(|queue| queue.paused).map(queue_pause_details);
    let late = queues.iter().filter(|queue| queue.late > 0);
    let late_recurring = late.map(|queue| QueueWithLateRecurring {
        queue: queue.counts.name.clone(),
        jobs: queue.late,
        due: queue.due,
    });
    let (paused, late_recurring) = (paused.collect(), late_recurring.collect());
    let mut failures = facts.groups;
    failures.retain(|group| group.recent > 0);
    failures.sort_by_key(|group| std::cmp::Reverse(group.recent));
    let (mut stalled_workers, mut silent_workers) = (facts.workers.clone(), facts.workers);
    stalled_workers.retain(|worker| worker.stalled > 0);
    silent_workers.retain(|worker| worker.silence_if_overdue(now).is_some());
    Overview {
        server: facts.server,
        totals,
        today,
        recent: facts.recent,
        last_minute: None,
        waits,
        paused,
        failures,
        since_s: RoundedSeconds(since_s),
        stalled_workers,
        silent_workers,
        late_recurring,
        problems,
        omitted,
    }
}

fn queue_pause_details(queue: &Queue) -> QueuePauseDetails {
    QueuePauseDetails {
        queue: queue.name.clone(),
        since: queue.paused_since,
        until: queue.paused_until,
        by: queue.paused_by.clone(),
        reason: queue.paused_reason.clone(),
    }
}
