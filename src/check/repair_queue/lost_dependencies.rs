//! Jobs that lost their set of dependencies. A repair restores the set from the jobs that still list such a job as a
//! dependent.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::model::finding::FindingId;
use crate::model::verdict::{MAX_ITEMS, Verdict};
use crate::name::Name;

/// Whether a verdict is about a job that lost its set of dependencies. One call must repair all jobs that list this job
/// as a dependent: a later call would take their entries for wrong, because the set exists again.
pub(super) fn has_lost_dependencies(verdict: &Verdict) -> bool {
    let own = [verdict.item.as_bytes(), b"-dependencies"].concat();
    verdict.id == FindingId::DependencyOneSided
        && verdict
            .changes
            .iter()
            .any(|change| change.after.is_some() && change.key.as_bytes().ends_with(&own))
}

/// Groups the dependencies of pairs of a job and a lost dependency. A group has the dependencies of a job, and of all
/// jobs that share dependencies with it, directly or through others. Moves a group that one call cannot restore to
/// `excluded`: it is too large, or has an excluded job. `is_incomplete` says that pairs are missing, so that any group
/// may lack members.
pub(super) fn group_restorable_dependencies(
    pairs: Vec<(Name, Name)>,
    is_incomplete: bool,
    excluded_jobs: &HashSet<Name>,
    excluded: &mut HashSet<Name>,
) -> VecDeque<Vec<Name>> {
    // A union-find structure: the parent of each pair. All pairs with the same root are one group.
    let mut parents: Vec<usize> = Vec::new();
    let mut excluded_groups: Vec<usize> = Vec::new();
    let mut of_job: HashMap<Name, usize> = HashMap::new();
    let mut of_dependency: HashMap<Name, usize> = HashMap::new();
    for (job, dependency) in pairs {
        let new = parents.len();
        parents.push(new);
        if excluded_jobs.contains(&job) {
            excluded_groups.push(new);
        }
        let one = *of_job.entry(job).or_insert(new);
        let other = *of_dependency.entry(dependency).or_insert(new);
        let (one, other) = (
            root_of_group(&mut parents, one),
            root_of_group(&mut parents, other),
        );
        let new = root_of_group(&mut parents, new);
        parents[other] = one;
        parents[new] = one;
    }
    let mut members: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
    for (dependency, at) in of_dependency {
        let at = root_of_group(&mut parents, at);
        members.entry(at).or_default().push(dependency);
    }
    let excluded_groups: HashSet<usize> = excluded_groups
        .into_iter()
        .map(|at| root_of_group(&mut parents, at))
        .collect();
    let mut groups = VecDeque::new();
    for (at, mut group) in members {
        group.sort_unstable();
        if is_incomplete || group.len() > MAX_ITEMS || excluded_groups.contains(&at) {
            excluded.extend(group)
        } else {
            groups.push_back(group)
        }
    }
    groups
}

/// The root of the tree that a pair belongs to, in a union-find structure. Shortens the path to the root.
fn root_of_group(parents: &mut [usize], mut group: usize) -> usize {
    while parents[group] != group {
        parents[group] = parents[parents[group]];
        group = parents[group];
    }
    group
}
