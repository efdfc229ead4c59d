//! The jobs at the end of a chain of dependencies: those that block it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::job::{Job, Neighbor, State};
use crate::name::Name;

/// The most jobs that a walk reads: ten calls.
const MOST: usize = 5_000;

/// What a walk along the dependencies of a job found.
#[derive(Debug, Default)]
pub(super) struct DependencyWalk {
    /// The blocking jobs by jid: those that do not depend on others.
    pub roots: BTreeMap<Name, Neighbor>,
    /// Dependencies that do not exist, each with a job that depends on it.
    pub missing: Vec<(Name, Name)>,
    /// Dependencies that do not list a job that depends on them, and will not release it.
    pub unlisted: BTreeMap<Name, Neighbor>,
    /// Jobs that depend on each other, the first one again at the end.
    pub cycle: Vec<Name>,
    /// Whether there are more jobs than a walk reads.
    pub is_cut: bool,
}

/// Walks from a job in state depends.
pub(super) fn walk_dependencies(
    core: &mut Core,
    now: Moment,
    job: &Job,
) -> Result<DependencyWalk, Error> {
    let mut walk = DependencyWalk::default();
    // The dependencies of each blocked job.
    let mut edges: HashMap<Name, Vec<Name>> = HashMap::new();
    let mut owners: BTreeMap<Name, Name> = BTreeMap::new();
    let add = |owner: &Name, job: &Job, owners: &mut BTreeMap<Name, Name>| {
        for jid in &job.dependencies {
            owners.entry(jid.clone()).or_insert_with(|| owner.clone());
        }
    };
    edges.insert(job.jid.clone(), job.dependencies.clone());
    add(&job.jid, job, &mut owners);
    let mut next: Vec<Name> = job.dependencies.clone();
    let own = core.jobs_with_fields(now, "unlisted", std::slice::from_ref(&job.jid))?;
    let mut unlisted: BTreeSet<Name> = own
        .into_iter()
        .flatten()
        .flat_map(|job| job.unlisted)
        .collect();
    let mut read = 0;
    while !next.is_empty() {
        let left = MOST - read;
        if next.len() > left {
            walk.is_cut = true;
            next.truncate(left);
        }
        if next.is_empty() {
            break;
        }
        read += next.len();
        let fields = "jid,klass,queue,state,shown,failure,worker,lock,since,dependencies,unlisted";
        let jobs = core.jobs_with_fields(now, fields, &next)?;
        let mut found: Vec<Name> = Vec::new();
        for (jid, job) in std::mem::take(&mut next).into_iter().zip(jobs) {
            if let Some(job) = &job {
                unlisted.extend(job.unlisted.iter().cloned());
                if unlisted.remove(&jid) {
                    walk.unlisted
                        .insert(jid.clone(), Neighbor::new(jid.clone(), Some(job.clone())));
                }
            }
            match job {
                None => {
                    let owner = owners.get(&jid).cloned().unwrap_or_default();
                    walk.missing.push((owner, jid));
                }
                Some(job) if job.state == Some(State::Depends) => {
                    add(&jid, &job, &mut owners);
                    found.extend(job.dependencies.iter().cloned());
                    edges.insert(jid, job.dependencies);
                }
                Some(job) => {
                    walk.roots
                        .insert(jid.clone(), Neighbor::new(jid, Some(job)));
                }
            }
        }
        found.sort();
        found.dedup();
        found.retain(|jid| !edges.contains_key(jid) && !walk.roots.contains_key(jid));
        next = found;
    }
    walk.cycle = find_cycle(&job.jid, &edges);
    Ok(walk)
}

/// A cycle that can be reached from a job, if there is one.
fn find_cycle(start: &Name, edges: &HashMap<Name, Vec<Name>>) -> Vec<Name> {
    let none: Vec<Name> = Vec::new();
    // Positions of the jobs on the path, and the jobs that are on no cycle.
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
        let jids = find_cycle(&Name::from("a"), &edges.collect());
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
