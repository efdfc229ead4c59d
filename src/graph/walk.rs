//! Walks from jobs to their dependencies or dependents and on from these, breadth first. Each call reads a limited
//! number of jobs.

use std::collections::HashSet;

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::Job;
use crate::name::Name;

/// A walk ends when the jobs that it has read have this number of edges. Their job ids take about 16 MB.
pub(super) const MAX_EDGES: usize = 200_000;

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkLimits {
    /// Maximum number of jobs that are read.
    pub jobs: usize,
    /// Maximum number of edges on the way from a first job to any other job; `None` without a limit.
    pub depth: Option<u64>,
}

/// The jobs and edges that a walk read.
#[derive(Debug, Default)]
pub(crate) struct WalkedJobs {
    /// The jobs in the order in which the walk reached them, breadth first. `None` is a job that does not exist.
    pub jobs: Vec<(Name, Option<Job>)>,
    /// Whether the walk ended early because of its limit of jobs or edges. An end at the maximum depth does not count.
    pub has_more: bool,
}

/// Reads the first jobs, then the jobs that `edges_of` names for them, and so on. `fields` are the fields to read of
/// each job, and must include the field that `edges_of` uses.
pub(crate) fn walk_jobs(
    core: &mut Core,
    now: Moment,
    first: &[Name],
    fields: &str,
    edges_of: fn(&Job) -> &[Name],
    limits: WalkLimits,
) -> Result<WalkedJobs, Error> {
    let mut walk = WalkedJobs::default();
    let (mut depth, mut edges) = (0, 0);
    let mut seen: HashSet<Name> = HashSet::new();
    let is_new = |jid: &Name, seen: &mut HashSet<Name>| seen.insert(jid.clone());
    let mut level: Vec<Name> = first.to_vec();
    level.retain(|jid| is_new(jid, &mut seen));
    while !level.is_empty() && limits.depth.is_none_or(|max_depth| depth <= max_depth) {
        let left = limits.jobs.saturating_sub(walk.jobs.len());
        walk.has_more |= level.len() > left;
        level.truncate(left);
        let (mut rest, mut next) = (level.as_slice(), Vec::new());
        while !rest.is_empty() {
            if edges >= MAX_EDGES {
                walk.has_more = true;
                return Ok(walk);
            }
            let slice = rest;
            let jobs = core.read_job_slice(now, fields, &mut rest)?;
            for (jid, job) in slice.iter().zip(jobs) {
                let others = job.as_ref().map_or(&[][..], edges_of);
                edges += others.len();
                next.extend(others.iter().filter(|jid| is_new(jid, &mut seen)).cloned());
                walk.jobs.push((jid.clone(), job));
            }
        }
        level = next;
        depth += 1;
    }
    Ok(walk)
}
