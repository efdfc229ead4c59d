//! Whether a worker with `--drain`, which ends when its queues are empty, still has jobs to wait for.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::moment::Moment;
use crate::core::api::index::{Index, IndexReader};
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Neighbor, State};
use crate::model::queue::{JobsLeftInQueue, LocksOfOtherWorkers, Queue};
use crate::name::Name;

/// Maximum number of jobs that one call reads.
const JOBS_PER_READ: u64 = 500;

/// The work that is left in queues from which a pop brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemainingWork {
    /// No job that this worker can get without a put or an operator.
    Nothing,
    /// Waiting jobs: they became ready after the pop, or the queue's limit of running jobs keeps them.
    Ready,
    /// Jobs that become ready by themselves: they wait for a slot of a throttle, for a job before them in their lane,
    /// or for the end of the grace period of another worker's expired lock.
    Waits,
}

/// Reads which work is left in queues, and the numbers of jobs that they hold. Paused queues, scheduled jobs, jobs with
/// dependencies, jobs of other workers, and jobs that wait behind one of these are not work that is left.
pub(super) fn read_remaining_work(
    core: &mut Core,
    now: Moment,
    queues: &[Name],
) -> Result<(RemainingWork, Vec<JobsLeftInQueue>), Error> {
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
        left.extend(JobsLeftInQueue::from_counts(queue, locks));
    }
    if stalls {
        return Ok((RemainingWork::Waits, left));
    }
    let queues: Vec<Queue> = queues.into_iter().filter(|queue| !queue.paused).collect();
    let names: BTreeSet<&Name> = queues.iter().map(|queue| &queue.name).collect();
    for queue in &queues {
        let waits = queue.throttled > 0 && can_throttled_job_run_later(core, now, &queue.name)?
            || queue.depends > 0 && can_lane_blocked_job_run_later(core, now, &queue.name, &names)?;
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

/// Whether a job of the queue that a throttle holds can run later: none of its throttles has a maximum below 0. Also
/// true if no throttle holds a job of the queue any more.
fn can_throttled_job_run_later(core: &mut Core, now: Moment, queue: &Name) -> Result<bool, Error> {
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

/// Whether a job of the queue that waits in a lane can run later: a job of the lane runs, or is ready in one of the
/// worker's `queues`. Also true if no job of the queue has dependencies any more.
fn can_lane_blocked_job_run_later(
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
