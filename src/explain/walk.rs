//! Follows the dependencies of a job to the jobs at their ends, which block it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::graph::walk::{WalkLimits, walk_jobs};
use crate::model::job::{Job, Neighbor, State};
use crate::name::Name;

const LIMITS: WalkLimits = WalkLimits {
    jobs: 5_000,
    depth: None,
};

/// The result of a walk along the dependencies of a job.
#[derive(Debug, Default)]
pub(super) struct DependencyWalkResult {
    /// The jobs at which the walk ended, since their state is not `depends`: complete, failed or still to run.
    pub roots: BTreeMap<Name, Neighbor>,
    /// Pairs of a job and a dependency of that job that does not exist.
    pub missing: Vec<(Name, Name)>,
    /// Dependencies that lack one of their dependents in their own list, so that they will never release it.
    pub unlisted: BTreeMap<Name, Neighbor>,
    /// Jobs that depend on each other in a cycle; the first job stands again at the end. Empty without a cycle.
    pub cycle: Vec<Name>,
    /// Whether the walk may have missed jobs: there were too many, or the first job's state has changed meanwhile.
    pub is_incomplete: bool,
}

/// The dependencies of a job in state `depends`. Empty for a job in another state, which waits for no dependency.
fn dependencies_if_state_depends(job: &Job) -> &[Name] {
    if job.state == Some(State::Depends) {
        &job.dependencies
    } else {
        &[]
    }
}

/// Walks from a job in state `depends` along its dependencies, to the jobs that block it.
pub(super) fn walk_dependencies(
    core: &mut Core,
    now: Moment,
    job: &Job,
) -> Result<DependencyWalkResult, Error> {
    let fields = "jid,klass,queue,state,shown,failure,worker,lock,since,dependencies,unlisted";
    let first = std::slice::from_ref(&job.jid);
    let read = walk_jobs(
        core,
        now,
        first,
        fields,
        dependencies_if_state_depends,
        LIMITS,
    )?;
    // The dependencies of each blocked job.
    let mut edges: HashMap<Name, Vec<Name>> = HashMap::new();
    let mut owners: HashMap<Name, Name> = HashMap::new();
    let mut unlisted: BTreeSet<Name> = BTreeSet::new();
    for (jid, job) in &read.jobs {
        let Some(job) = job else { continue };
        unlisted.extend(job.unlisted.iter().cloned());
        for dependency in dependencies_if_state_depends(job) {
            let owner = owners.entry(dependency.clone());
            owner.or_insert_with(|| jid.clone());
        }
    }
    let mut walk = DependencyWalkResult {
        is_incomplete: read.has_more,
        ..DependencyWalkResult::default()
    };
    for (jid, found) in read.jobs {
        let is_unlisted = jid != job.jid && unlisted.contains(&jid);
        if let Some(found) = found.as_ref().filter(|_| is_unlisted) {
            let neighbor = Neighbor::new(jid.clone(), Some(found.clone()));
            walk.unlisted.insert(jid.clone(), neighbor);
        }
        match found {
            Some(found) if found.state == Some(State::Depends) => {
                edges.insert(jid, found.dependencies);
            }
            _ if jid == job.jid => walk.is_incomplete = true,
            Some(found) => {
                let neighbor = Neighbor::new(jid.clone(), Some(found));
                walk.roots.insert(jid, neighbor);
            }
            None => {
                let owner = owners.get(&jid).cloned().unwrap_or_default();
                walk.missing.push((owner, jid));
            }
        }
    }
    walk.cycle = find_reachable_cycle(&job.jid, &edges);
    Ok(walk)
}

/// The jobs of a cycle of dependencies that can be reached from a job, the first one again at the end. Empty if there
/// is no cycle.
fn find_reachable_cycle(start: &Name, edges: &HashMap<Name, Vec<Name>>) -> Vec<Name> {
    let none: Vec<Name> = Vec::new();
    // A depth-first search. `path` has the jobs on the current path, each with the index of the dependency to follow
    // next. `done` has the jobs that lead to no cycle.
    let mut path: Vec<(&Name, usize)> = vec![(start, 0)];
    let mut on_path: HashMap<&Name, usize> = HashMap::from([(start, 0)]);
    let mut done: std::collections::HashSet<&Name> = std::collections::HashSet::new();
    while let Some((jid, at)) = path.last_mut() {
        let next = edges.get(*jid).unwrap_or(&none).get(*at);
        *at += 1;
        match next {
            None => {
                on_path.remove(*jid);
                done.insert(*jid);
                path.pop();
            }
            Some(next) => {
                if let Some(from) = on_path.get(next) {
                    let jobs = path[*from..].iter().map(|(jid, _)| (*jid).clone());
                    return jobs.chain([next.clone()]).collect();
                }
                if edges.contains_key(next) && !done.contains(next) {
                    on_path.insert(next, path.len());
                    path.push((next, 0));
                }
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(&str, &[&str])]) -> Vec<String> {
        let edges = edges.iter().map(|(jid, on)| {
            let on = on.iter().map(|jid| Name::from(*jid)).collect();
            (Name::from(*jid), on)
        });
        let jids = find_reachable_cycle(&Name::from("a"), &edges.collect());
        jids.iter().map(Name::to_string).collect()
    }

    #[test]
    fn a_cycle_is_found_wherever_it_begins() {
        assert_eq!(
            found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]),
            [""; 0]
        );
        assert_eq!(found(&[("a", &["a"])]), ["a", "a"]);
        let edges: &[(&str, &[&str])] = &[("a", &["x", "b"]), ("b", &["c"]), ("c", &["b"])];
        assert_eq!(found(edges), ["b", "c", "b"]);
    }
}
