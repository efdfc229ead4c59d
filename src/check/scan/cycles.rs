//! Finds dependency cycles. The scan stores each dependency as two short hashes. Dependencies that are on no cycle
//! are pruned, beginning at jobs without dependencies. The scan reads the rest again by name.

use std::collections::{HashMap, HashSet};

use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys::{self, JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::Scanner;
use super::unmatched::SaltedHasher;

/// Maximum number of dependencies stored (8 MiB). If there are more, the scan reports that it cannot verify all.
const MAX_EDGES: usize = 1 << 20;

/// Maximum number of names read again.
const MAX_NAMES: usize = 50_000;

/// Maximum number of jobs of a cycle that one call verifies.
const MAX_CYCLE: usize = 200;

/// The dependencies that the scan has read, each as short hashes of its two jobs.
#[derive(Debug, Default)]
pub(super) struct DependencyEdges {
    /// Dependent and dependency.
    edges: Vec<(u32, u32)>,
    /// Whether dependencies were left out, because there are more than [`MAX_EDGES`].
    overflowed: bool,
}

impl DependencyEdges {
    pub(super) fn add_edge(&mut self, salt: &SaltedHasher, dependent: &[u8], dependency: &[u8]) {
        if self.edges.len() < MAX_EDGES {
            self.edges
                .push((short_hash(salt, dependent), short_hash(salt, dependency)))
        } else {
            self.overflowed = true
        }
    }

    /// Short hashes of the jobs on a cycle, and of the jobs that depend on a cycle, directly or through others.
    fn job_hashes_on_or_behind_cycles(mut self) -> HashSet<u32> {
        let mut nodes: Vec<u32> = self.edges.iter().map(|(dependent, _)| *dependent).collect();
        nodes.sort_unstable();
        nodes.dedup();
        self.edges
            .sort_unstable_by_key(|(_, dependency)| *dependency);
        let mut pending = vec![0_u32; nodes.len()];
        for (dependent, dependency) in &self.edges {
            if let (Ok(at), Ok(_)) = (
                nodes.binary_search(dependent),
                nodes.binary_search(dependency),
            ) {
                pending[at] += 1;
            }
        }
        let mut done: Vec<usize> = (0..nodes.len()).filter(|at| pending[*at] == 0).collect();
        while let Some(at) = done.pop() {
            let dependency = nodes[at];
            let from = self.edges.partition_point(|(_, other)| *other < dependency);
            for (dependent, _) in self.edges[from..]
                .iter()
                .take_while(|(_, other)| *other == dependency)
            {
                if let Ok(at) = nodes.binary_search(dependent) {
                    pending[at] -= 1;
                    if pending[at] == 0 {
                        done.push(at);
                    }
                }
            }
        }
        let remaining = nodes
            .into_iter()
            .zip(pending)
            .filter(|(_, pending)| *pending > 0);
        remaining.map(|(node, _)| node).collect()
    }
}

fn short_hash(salt: &SaltedHasher, jid: &[u8]) -> u32 {
    (salt.hash_entry(0, jid, 0) >> 32) as u32
}

impl Scanner<'_> {
    pub(super) fn add_cycle_candidates(&mut self) -> Result<(), Error> {
        let cycles = std::mem::take(&mut self.cycles);
        let all = Name::from("*-dependencies");
        if cycles.overflowed {
            let why = format!("whether more than {MAX_EDGES} dependencies have a cycle");
            self.sink.note_unverifiable_item(all.clone(), &why);
        }
        let remain = cycles.job_hashes_on_or_behind_cycles();
        if remain.is_empty() {
            return Ok(());
        }
        let mut dependencies: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
        let (mut names, mut more) = (0, false);
        let pattern = self.keys.with_prefix(keys::JOB) + "*";
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            for key in &keys {
                let KeyFamily::Companion(JobCompanionKey::Dependencies, dependent) =
                    scanner.keys.family_of_key(key)
                else {
                    continue;
                };
                if !remain.contains(&short_hash(&scanner.salt, dependent)) {
                    continue;
                }
                if names >= MAX_NAMES {
                    more = true;
                    continue;
                }
                let ask = ReadCommand::scan_set(key, START, scanner.members_per_page(1));
                let first = scanner.core.run_read(scanner.now, ask)?;
                if matches!(first, ReadReply::WrongType) {
                    continue;
                }
                let mut list: Vec<Vec<u8>> = Vec::new();
                scanner.for_each_edge_page(key, first, |scanner, members| {
                    let may_be_on_cycle = |dependency: &Vec<u8>| {
                        dependency != dependent
                            && remain.contains(&short_hash(&scanner.salt, dependency))
                    };
                    list.extend(members.into_iter().filter(may_be_on_cycle));
                    Ok(())
                })?;
                names += 1 + list.len();
                dependencies.insert(dependent.to_vec(), list);
            }
            Ok(())
        })?;
        if more {
            let why = format!("more than {MAX_NAMES} jobs depend on a cycle");
            self.sink.note_unverifiable_item(all, &why);
        }
        for cycle in find_cycles(&dependencies) {
            let items: Vec<Name> = cycle.into_iter().map(Name::from).collect();
            // Name the location after the first job, so that each cycle has a location of its own.
            let Some(first) = items.first() else {
                continue;
            };
            if items.len() > MAX_CYCLE {
                let why = format!("a cycle of {} jobs", items.len());
                self.sink.note_unverifiable_item(first.clone(), &why);
                continue;
            }
            let location = ItemLocation::new(ItemKind::Cycle, first.clone());
            let about = first.as_bytes().to_vec();
            self.add_candidate_group_if_in_scope(&location, &about, items)?;
        }
        Ok(())
    }
}

/// Finds dependency cycles, at least one in each strongly connected component. In the list of a cycle, each job
/// depends on the next job, and the last job depends on the first.
fn find_cycles(dependencies: &HashMap<Vec<u8>, Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
    let mut starts: Vec<&Vec<u8>> = dependencies.keys().collect();
    starts.sort_unstable();
    let mut cycles = Vec::new();
    let mut done: HashSet<&[u8]> = HashSet::new();
    for start in starts {
        // The path to the current job: each job with the number of its dependencies that the search has followed.
        let mut path: Vec<(&[u8], usize)> = vec![(start, 0)];
        let mut on_path: HashMap<&[u8], usize> = HashMap::from([(start.as_slice(), 0)]);
        if !done.insert(start) {
            continue;
        }
        while let Some((at, followed)) = path.last_mut() {
            let next = dependencies.get(*at).and_then(|list| list.get(*followed));
            *followed += 1;
            let Some(next) = next else {
                on_path.remove(*at);
                path.pop();
                continue;
            };
            if let Some(from) = on_path.get(next.as_slice()) {
                let cycle = path[*from..].iter().map(|(jid, _)| jid.to_vec());
                cycles.push(cycle.collect());
            } else if done.insert(next) {
                on_path.insert(next, path.len());
                path.push((next, 0));
            }
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> HashMap<Vec<u8>, Vec<Vec<u8>>> {
        let mut dependencies: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
        for pair in text.split(' ') {
            let (y, x) = pair.split_once('>').unwrap();
            dependencies.entry(y.into()).or_default().push(x.into());
        }
        dependencies
    }

    #[test]
    fn cycles_are_found_and_chains_are_not() {
        let found = |text: &str| {
            let cycles = find_cycles(&edges(text)).into_iter();
            let found = cycles.map(|cycle| String::from_utf8(cycle.join(&b' ')).unwrap());
            found.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(found("a>b b>c d>c"), "");
        assert_eq!(found("a>b b>c c>a d>a"), "a b c");
        assert_eq!(found("a>b b>a b>c c>d d>c"), "a b, c d");
    }

    #[test]
    fn only_jobs_on_a_cycle_or_depending_on_one_remain() {
        let salt = SaltedHasher::default();
        let mut cycles = DependencyEdges::default();
        // Two of 10,000 hashes of 32 bits are equal once in a hundred runs, which makes a cycle of the chain; two of
        // these once in a million.
        for n in 0..100_u32 {
            let name = |n: u32| n.to_string().into_bytes();
            cycles.add_edge(&salt, &name(n), &name(n + 1));
        }
        for (y, x) in [("p", "q"), ("q", "p"), ("r", "q")] {
            cycles.add_edge(&salt, y.as_bytes(), x.as_bytes());
        }
        let wanted = ["p", "q", "r"].map(|name| short_hash(&salt, name.as_bytes()));
        assert_eq!(
            cycles.job_hashes_on_or_behind_cycles(),
            HashSet::from(wanted)
        );
    }
}
