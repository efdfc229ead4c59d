//! The order in which a plan changes jobs that belong together: dependents, and lanes.

use std::collections::{HashMap, HashSet};

use super::BulkPlan;
use super::plan::TargetSource;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::job::Job;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::Session;

/// The dependents of each job of a plan.
pub(super) type Edges = HashMap<Name, Vec<Name>>;

pub(super) fn read_direct_dependents(
    jobs: &[JobSnapshot],
    now: Moment,
    session: &mut Session,
) -> Result<Edges, Error> {
    let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
    session.core()?.dependents_by_job(now, &jids)
}

/// Puts each job after its dependents. Otherwise the server would refuse to delete a job because of a dependent that
/// a later slice deletes.
pub(super) fn dependents_first(jobs: Vec<JobSnapshot>, edges: &Edges) -> Vec<JobSnapshot> {
    if edges.is_empty() {
        return jobs;
    }
    let at: HashMap<Name, usize> = jobs
        .iter()
        .enumerate()
        .map(|(at, job)| (job.jid.clone(), at))
        .collect();
    let dependents_of = |job: &JobSnapshot| {
        let dependents = edges.get(&job.jid).into_iter().flatten();
        dependents.filter_map(|jid| at.get(jid).copied())
    };
    let mut blocked_by: Vec<usize> = vec![0; jobs.len()];
    let mut unblocks: Vec<Vec<usize>> = vec![Vec::new(); jobs.len()];
    for (position, job) in jobs.iter().enumerate() {
        for dependent in dependents_of(job).filter(|&dependent| dependent != position) {
            blocked_by[position] += 1;
            unblocks[dependent].push(position);
        }
    }
    let mut order: Vec<usize> = (0..jobs.len())
        .filter(|&job| blocked_by[job] == 0)
        .collect();
    let mut next = 0;
    while let Some(&job) = order.get(next) {
        next += 1;
        for &unblocked in &unblocks[job] {
            blocked_by[unblocked] -= 1;
            if blocked_by[unblocked] == 0 {
                order.push(unblocked);
            }
        }
    }
    // The jobs of a cycle come last, in the order given.
    let placed: HashSet<usize> = order.iter().copied().collect();
    order.extend((0..jobs.len()).filter(|job| !placed.contains(job)));
    let mut jobs: Vec<Option<JobSnapshot>> = jobs.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|job| jobs[job].take())
        .collect()
}

/// Puts each job after the jobs that wait behind it in its lane.
pub(super) fn last_of_lane_first(
    jobs: Vec<JobSnapshot>,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<JobSnapshot>, Error> {
    let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
    let placed = session.core()?.lanes_with_put_or_start_times(now, &jids)?;
    let placed = jids.into_iter().zip(placed);
    let lanes: HashMap<Name, Name> = placed
        .filter_map(|(jid, placed)| Some((jid, placed.lane?)))
        .collect();
    let keyed: Vec<Name> = lanes.keys().cloned().collect();
    let mut edges = session.core()?.dependents_by_job(now, &keyed)?;
    for (jid, dependents) in &mut edges {
        dependents.retain(|dependent| lanes.get(dependent) == lanes.get(jid));
    }
    Ok(dependents_first(jobs, &edges))
}

/// Sorts the failed jobs of each lane by the time of their puts, within the positions that the lane has in the plan.
/// The order matters because a job that is put again joins its lane at the end. Failure lists have another order:
/// burying begins with the last job of a lane.
pub(super) fn sort_lanes_by_put(
    plan: &mut BulkPlan,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if plan.jobs.len() < 2 {
        return Ok(());
    }
    let jids: Vec<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut lanes: HashMap<Name, Vec<(usize, Option<Moment>)>> = HashMap::new();
    let placed = session.core()?.lanes_with_put_or_start_times(now, &jids)?;
    for (at, placed) in placed.into_iter().enumerate() {
        if let Some(lane) = placed.lane {
            lanes.entry(lane).or_default().push((at, placed.time));
        }
    }
    for places in lanes.into_values().filter(|places| places.len() > 1) {
        let jids: Vec<Name> = places.iter().map(|(at, _)| jids[*at].clone()).collect();
        let found = session
            .core()?
            .jobs_with_fields(now, "jid,history", &jids)?;
        let keyed = places.iter().zip(found).map(|(&(at, time), job)| {
            let (put, started) = job.as_ref().map_or((None, false), put_time_and_was_started);
            // Jobs that one call put have equal times. Burying put the last of them into the failure list first, so
            // reverse their order.
            let tie = match plan.targeting {
                TargetSource::Selector if !started => usize::MAX - at,
                _ => at,
            };
            ((put, !started, time, tie), at)
        });
        let mut keyed: Vec<_> = keyed.collect();
        keyed.sort_unstable();
        let sorted = keyed.iter().map(|(_, at)| plan.jobs[*at].clone());
        let sorted: Vec<JobSnapshot> = sorted.collect();
        for ((at, _), job) in places.iter().zip(sorted) {
            plan.jobs[*at] = job;
        }
    }
    Ok(())
}

/// When a job was last put, in whole seconds, and whether it was started since. Of the jobs of a lane that were put
/// within one second, the started ones were first in the lane.
fn put_time_and_was_started(job: &Job) -> (Option<Moment>, bool) {
    let history = job.history.as_deref().unwrap_or_default();
    let put = history
        .iter()
        .rposition(|entry| entry.what.as_bytes() == b"put");
    let since = put.map_or(history, |put| &history[put..]);
    let started = since.iter().any(|entry| entry.what.as_bytes() == b"popped");
    (put.and_then(|put| history[put].when), started)
}
