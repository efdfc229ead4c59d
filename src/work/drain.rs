//! Whether a worker that is to end with its queues has anything left to wait for.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::event::{LeftJobs, LocksOfOtherWorkers};
use crate::clock::moment::Moment;
use crate::core::api::index::{Index, IndexReader};
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Neighbor, State};
use crate::model::queue::Queue;
use crate::name::Name;

/// The number of jobs that are read together.
const JOBS_PER_READ: u64 = 500;

/// The work that is left in queues from which a pop brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemainingWork {
    /// Nothing that runs without a put or an operator.
    Nothing,
    /// Jobs that can be popped: they were released after the pop, or a limit of the queue keeps them.
    Ready,
    /// Jobs that wait for a slot of a throttle or behind a running job of their lane, or whose lock has
    /// expired.
    Waits,
}

/// The work that is left in queues, and the queues that hold jobs. Paused queues, scheduled jobs, jobs with
/// dependencies and jobs of other workers do not count as left, and neither do jobs that wait behind one of these.
pub(super) fn read_remaining_work(
    core: &mut Core,
    now: Moment,
    queues: &[Name],
) -> Result<(RemainingWork, Vec<LeftJobs>), Error> {
    let mut rest = RemainingWork::Nothing;
    let queues = super::queues::read_queues(core, now, queues)?;
    let mut left = Vec::new();
    let mut stalls = false;
    for queue in &queues {
        let locks = match queue.running + queue.stalled {
            0 => LocksOfOtherWorkers::default(),
            _ => read_other_locks(core, now, &queue.name)?,
        };
        stalls |= locks.stalled > 0 && !queue.paused;
        left.extend(LeftJobs::from_counts(queue, locks));
    }
    if stalls {
        return Ok((RemainingWork::Waits, left));
    }
    let queues: Vec<Queue> = queues.into_iter().filter(|queue| !queue.paused).collect();
    let names: BTreeSet<&Name> = queues.iter().map(|queue| &queue.name).collect();
    for queue in &queues {
        let waits = queue.throttled > 0 && can_held_job_run(core, now, &queue.name)?
            || queue.depends > 0 && can_blocked_job_run(core, now, &queue.name, &names)?;
        if waits {
            return Ok((RemainingWork::Waits, left));
        }
        if queue.waiting + queue.stalled > 0 {
            rest = RemainingWork::Ready;
        }
    }
    Ok((rest, left))
}

fn read_other_locks(
    core: &mut Core,
    now: Moment,
    queue: &Name,
) -> Result<LocksOfOtherWorkers, Error> {
    let mut locks = LocksOfOtherWorkers::default();
    let mut held = IndexReader::forward(Index::Locks(queue.clone()), JOBS_PER_READ);
    while let Some(jids) = held.next_members(core, now)? {
        let jobs = core.jobs_with_fields(now, "jid,shown,grace,lock", &jids)?;
        for job in jobs.iter().flatten() {
            if !job.in_grace && job.state != Some(State::Stalled) {
                locks.valid += 1;
                continue;
            }
            locks.stalled += 1;
            if let Some(expires) = job.expires {
                locks.grace_left = locks.grace_left.max(expires.since(now));
            }
        }
    }
    Ok(locks)
}

/// Whether the throttles of some held job of the queue all let jobs run, or no job of the queue is held any more.
fn can_held_job_run(core: &mut Core, now: Moment, queue: &Name) -> Result<bool, Error> {
    let mut maxima: BTreeMap<Name, i64> = BTreeMap::new();
    let mut held = IndexReader::forward(Index::Throttled(queue.clone()), JOBS_PER_READ);
    let mut was_released = true;
    while let Some(jids) = held.next_members(core, now)? {
        was_released &= jids.is_empty();
        let jobs = core.jobs_with_fields(now, "jid,throttles", &jids)?;
        let ids: BTreeSet<&Name> = jobs
            .iter()
            .flatten()
            .flat_map(|job| &job.throttles)
            .collect();
        let new = ids.into_iter().filter(|id| !maxima.contains_key(*id));
        let new: Vec<Name> = new.cloned().collect();
        let found = core.throttle_maxima(now, &new)?;
        maxima.extend(new.into_iter().zip(found));
        let lets_run = |id: &Name| maxima.get(id).is_none_or(|maximum| *maximum >= 0);
        let mut jobs = jobs.iter().flatten();
        if jobs.any(|job| job.throttles.iter().all(lets_run)) {
            return Ok(true);
        }
    }
    Ok(was_released)
}

/// Whether a blocked job of the queue is in a lane whose first job runs, or has become ready in one of the queues of
/// the worker; or whether no job is blocked any more.
fn can_blocked_job_run(
    core: &mut Core,
    now: Moment,
    queue: &Name,
    queues: &BTreeSet<&Name>,
) -> Result<bool, Error> {
    let mut seen: BTreeSet<Name> = BTreeSet::new();
    let mut blocked = IndexReader::forward(Index::Depends(queue.clone()), JOBS_PER_READ);
    let mut was_released = true;
    while let Some(jids) = blocked.next_members(core, now)? {
        was_released &= jids.is_empty();
        let jobs = core.jobs_with_fields(now, "jid,key", &jids)?;
        let keys = jobs.into_iter().flatten().filter_map(|job| job.key);
        let lanes: Vec<Name> = keys.filter(|key| seen.insert(key.clone())).collect();
        let lanes = core.jobs_of_lanes(now, &lanes)?;
        let mut jobs = lanes.iter().flatten();
        let runs = |job: &Neighbor| match job.state {
            Some(State::Running | State::Stalled) => true,
            Some(State::Waiting) => job.queue.as_ref().is_some_and(|name| queues.contains(name)),
            _ => false,
        };
        if jobs.any(runs) {
            return Ok(true);
        }
    }
    Ok(was_released)
}
