//! Jobs that belong together: a job and its dependents, and the jobs of a lane. A job that waits in its lane depends on
//! the job before it there. No command removes this dependency while that job is in the lane.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{BulkPlan, JobOutcome};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::bulk::{JobSnapshot, OutcomeCode};
use crate::model::lane;
use crate::name::Name;
use crate::session::Session;

/// The dependents of each job of a plan.
pub(super) type Edges = HashMap<Name, Vec<Name>>;

/// The dependency of a job on the one before it in its lane.
#[derive(Debug)]
pub(crate) struct LaneDependency {
    pub before: Name,
    /// Whether the job depends on no other job.
    pub is_sole: bool,
    lane: Name,
}

impl LaneDependency {
    /// The outcome of a job that the lane keeps waiting.
    pub(crate) fn refused_by_lane(&self, jid: &Name, queue: Option<&Name>) -> JobOutcome {
        let command = lane::lane_command(&self.lane, &queue.cloned().unwrap_or_default());
        let command = command.fill_sentence("{}");
        let hint =
            command.map(|command| format!("`{}` is before it in the lane: {command}", self.before));
        JobOutcome::refused(jid, OutcomeCode::StateChanged, "it waits in its lane").hint_if(hint)
    }
}

/// For each job that waits in its lane: the job before it there.
pub(crate) fn read_lane_predecessors(
    core: &mut Core,
    now: Moment,
    jids: &[Name],
) -> Result<HashMap<Name, LaneDependency>, Error> {
    let placed = jids
        .iter()
        .zip(core.lanes_with_put_or_start_times(now, jids)?);
    let placed = placed.filter_map(|(jid, placed)| Some((jid.clone(), placed.lane?)));
    let (jids, lanes): (Vec<Name>, Vec<Name>) = placed.unzip();
    let names: Vec<Name> = BTreeSet::from_iter(&lanes).into_iter().cloned().collect();
    let mut before: HashMap<Name, Name> = HashMap::new();
    for jobs in core.jobs_of_lanes(now, &names)? {
        let pairs = jobs.windows(2).map(|pair| (&pair[1].jid, &pair[0].jid));
        before.extend(pairs.map(|(jid, before)| (jid.clone(), before.clone())));
    }
    let found = core.jobs_with_fields(now, "jid,dependencies", &jids)?;
    let jobs = jids.into_iter().zip(lanes).zip(found);
    let edges = jobs.filter_map(|((jid, lane), job)| {
        let (before, dependencies) = (before.remove(&jid)?, job?.dependencies);
        let is_sole = dependencies.len() == 1;
        let edge = LaneDependency {
            before,
            is_sole,
            lane,
        };
        dependencies.contains(&edge.before).then_some((jid, edge))
    });
    Ok(edges.collect())
}

/// Removes from the dependents of each job the one behind it in its lane: a cancel of the job leaves that one in the
/// lane, as `lane/precedes` of the core decides.
pub(super) fn drop_lane_followers(
    core: &mut Core,
    now: Moment,
    edges: &mut Edges,
) -> Result<(), Error> {
    let dependents: BTreeSet<Name> = edges.values().flatten().cloned().collect();
    if dependents.is_empty() {
        return Ok(());
    }
    let lanes = read_lane_predecessors(core, now, &Vec::from_iter(dependents))?;
    edges.retain(|jid, dependents| {
        dependents.retain(|other| lanes.get(other).is_none_or(|edge| edge.before != *jid));
        !dependents.is_empty()
    });
    Ok(())
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
pub(crate) fn last_of_lane_first(
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

impl BulkPlan {
    /// Excludes the jobs that depend only on the job before them in their lane. Returns the lane dependencies of the
    /// remaining jobs.
    pub(crate) fn exclude_lane_only_and_return_rest(
        &mut self,
        session: &mut Session,
    ) -> Result<HashMap<Name, LaneDependency>, Error> {
        let jids: Vec<Name> = self.jobs.iter().map(|job| job.jid.clone()).collect();
        let now = session.now();
        let mut edges = read_lane_predecessors(session.core()?, now, &jids)?;
        for job in std::mem::take(&mut self.jobs) {
            match edges.get(&job.jid).filter(|edge| edge.is_sole) {
                None => self.jobs.push(job),
                Some(edge) => {
                    let outcome = edge.refused_by_lane(&job.jid, job.queue.as_ref());
                    self.record_excluded(outcome.with_snapshot(&job));
                }
            }
        }
        edges.retain(|_, edge| !edge.is_sole);
        Ok(edges)
    }

    /// If the only named job is refused because it waits in its lane, adds that reason to its refusal.
    pub(crate) fn add_lane_wait_to_single_refusal(
        &mut self,
        session: &mut Session,
    ) -> Result<(), Error> {
        let single = self.is_for_one_jid();
        let Some(outcome) = self.excluded.first_mut().filter(|_| single) else {
            return Ok(());
        };
        let state = outcome.state_before.as_ref().map(Name::as_bytes);
        if state != Some(b"depends") {
            return Ok(());
        }
        let (jid, queue, now) = (outcome.jid.clone(), outcome.queue.clone(), session.now());
        let edges = read_lane_predecessors(session.core()?, now, std::slice::from_ref(&jid))?;
        if let Some(edge) = edges.get(&jid) {
            let refusal = edge.refused_by_lane(&jid, queue.as_ref());
            outcome.hint = refusal.hint;
            outcome.detail = refusal.detail;
        }
        Ok(())
    }
}
