//! Dependencies between jobs. The scan matches the two sides of each dependency: the entry in the dependent's set of
//! dependencies, and the entry in the dependency's set of dependents.
//!
//! To find cycles, it stores each dependency as two short hashes. Dependencies that are on no cycle are pruned,
//! beginning at jobs without dependencies. The scan reads the rest again by name.

use std::collections::{HashMap, HashSet};

use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys::{self, JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::unmatched::{IndexEntryOrPairSide, SaltedHasher};
use super::{Replies, Scanner};

/// The fields that tell whether a job with dependencies or dependents exists, and its state.
pub(super) const STATE_FIELDS: [&str; 3] = ["state", "jid", "klass"];

/// Maximum number of sets whose first page is read in one round trip.
pub(super) const SETS_PER_READ: usize = 24;

/// Maximum number of dependencies, or of dependents, of a job that the core can verify. A job with more becomes a
/// candidate, so that the core reports it.
const MAX_EDGES_OF_JOB: usize = 1000;

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

impl Scanner<'_> {
    /// Two reads for each job: the first page of its set of dependencies or dependents, then its state.
    pub(super) fn edge_and_state_reads(
        &self,
        sets: JobCompanionKey,
        jids: &[Vec<u8>],
    ) -> Vec<ReadCommand> {
        let page = self.members_per_page(jids.len());
        let mut reads = Vec::with_capacity(jids.len() * 2);
        for jid in jids {
            let set = self.keys.companion_key(sets, jid);
            reads.push(ReadCommand::scan_set(&set, START, page));
            reads.push(ReadCommand::hash_fields(
                &self.keys.job_key(jid),
                &self.state_fields,
            ));
        }
        reads
    }

    /// Examines the dependencies of jobs.
    pub(super) fn match_dependencies_of_jobs(
        &mut self,
        jids: &[Vec<u8>],
        mut replies: Replies,
    ) -> Result<(), Error> {
        for dependent in jids {
            let (page, state) = (replies.next(), replies.next());
            let (missing, state) = missing_and_state(state);
            let in_depends = state.as_deref() == Some(b"depends");
            let mut is_candidate = !in_depends;
            let key = self
                .keys
                .companion_key(JobCompanionKey::Dependencies, dependent);
            if missing {
                self.add_key_and_its_job_in_first_pass(&key)?;
            }
            let mut count = 0;
            let page = page.unwrap_or(ReadReply::WrongType);
            self.for_each_edge_page(&key, page, |scanner, members| {
                count += members.len();
                for dependency in members {
                    is_candidate |= dependency == *dependent;
                    let hash = scanner.hash_edge(dependent, &dependency);
                    scanner
                        .unmatched
                        .match_other_side_or_add(hash, IndexEntryOrPairSide::Upper);
                    if missing {
                        scanner.add_candidate_if_first_pass(ItemKind::Job, &dependency)?;
                    }
                    if in_depends && scanner.first_pass && dependency != *dependent {
                        scanner
                            .cycles
                            .add_edge(&scanner.salt, dependent, &dependency);
                    }
                }
                Ok(())
            })?;
            if is_candidate || count > MAX_EDGES_OF_JOB {
                self.add_candidate_if_first_pass(ItemKind::Job, dependent)?;
            }
        }
        Ok(())
    }

    /// Examines the dependents of jobs.
    pub(super) fn match_dependents_of_jobs(
        &mut self,
        jids: &[Vec<u8>],
        mut replies: Replies,
    ) -> Result<(), Error> {
        for dependency in jids {
            let (page, state) = (replies.next(), replies.next());
            let (missing, state) = missing_and_state(state);
            let key = self
                .keys
                .companion_key(JobCompanionKey::Dependents, dependency);
            if missing {
                self.add_key_and_its_job_in_first_pass(&key)?;
            }
            // A missing, complete or failed job should have no dependents: each dependent becomes a candidate.
            let should_have_no_dependents =
                missing || matches!(state.as_deref(), Some(b"complete" | b"failed"));
            let mut count = 0;
            let page = page.unwrap_or(ReadReply::WrongType);
            self.for_each_edge_page(&key, page, |scanner, members| {
                count += members.len();
                for dependent in members {
                    let hash = scanner.hash_edge(&dependent, dependency);
                    scanner
                        .unmatched
                        .match_other_side_or_add(hash, IndexEntryOrPairSide::Lower);
                    if should_have_no_dependents {
                        scanner.add_candidate_if_first_pass(ItemKind::Job, &dependent)?;
                    }
                }
                Ok(())
            })?;
            if should_have_no_dependents || count > MAX_EDGES_OF_JOB {
                self.add_candidate_if_first_pass(ItemKind::Job, dependency)?;
            }
        }
        Ok(())
    }

    /// Notes each job in `depends` that has no dependencies although another job lists it as a dependent, so that no
    /// repair releases it. The scan may have matched both sides of such a dependency before one side was lost. So this
    /// reads all sets of dependents once more, after the scan saw which jobs have no dependencies.
    pub(super) fn note_dependents_without_dependencies(&mut self) -> Result<(), Error> {
        if self.without_dependencies.is_empty() {
            return Ok(());
        }
        let pattern = self.keys.with_prefix(keys::JOB) + "*";
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            let dependents = |key: &Vec<u8>| {
                matches!(
                    scanner.keys.family_of_key(key),
                    KeyFamily::Companion(JobCompanionKey::Dependents, _)
                )
            };
            let sets: Vec<Vec<u8>> = keys.into_iter().filter(dependents).collect();
            for sets in sets.chunks(scanner.pages_per_round_trip(SETS_PER_READ)) {
                let page = scanner.members_per_page(sets.len());
                let reads = sets
                    .iter()
                    .map(|key| ReadCommand::scan_set(key, START, page));
                let firsts = scanner.run_reads(reads.collect())?;
                for (key, first) in sets.iter().zip(firsts) {
                    scanner.for_each_edge_page(key, first, |scanner, members| {
                        for dependent in members {
                            if scanner.was_deferred_without_dependencies(&dependent) {
                                scanner.sink.note_one_sided_dependency(&dependent);
                            }
                        }
                        Ok(())
                    })?;
                }
            }
            Ok(())
        })
    }

    /// Calls `each` with the pages of a set of dependencies or dependents. The caller has read `first`, the first
    /// page. If the key is not a set, it becomes a candidate.
    pub(super) fn for_each_edge_page(
        &mut self,
        key: &[u8],
        first: ReadReply,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut reply = first;
        loop {
            let ReadReply::Page(next, members) = reply else {
                if let KeyFamily::Companion(JobCompanionKey::Dependents, _) =
                    self.keys.family_of_key(key)
                {
                    self.sink.note_unreadable_dependents();
                }
                return self.add_key_and_its_job_in_first_pass(key);
            };
            let read = members.len();
            each(self, members)?;
            self.sink.pace_members_read(self.core, read)?;
            let Some(next) = next else {
                return Ok(());
            };
            let read = ReadCommand::scan_set(key, &next, self.members_per_page(1));
            reply = self.core.run_read(self.now, read)?;
        }
    }

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
        for cycle in find_cycle_in_each_component(&dependencies) {
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

/// Whether a job is missing, and its state.
fn missing_and_state(reply: Option<ReadReply>) -> (bool, Option<Vec<u8>>) {
    let Some(ReadReply::Texts(fields)) = reply else {
        return (true, None);
    };
    let mut fields = fields.into_iter();
    let state = fields.next().flatten();
    (fields.all(|field| field.is_none()), state)
}

fn short_hash(salt: &SaltedHasher, jid: &[u8]) -> u32 {
    (salt.hash_entry(0, jid, 0) >> 32) as u32
}

/// Finds dependency cycles, at least one in each strongly connected component. In the list of a cycle, each job
/// depends on the next job, and the last job depends on the first.
fn find_cycle_in_each_component(
    dependencies: &HashMap<Vec<u8>, Vec<Vec<u8>>>,
) -> Vec<Vec<Vec<u8>>> {
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
            let cycles = find_cycle_in_each_component(&edges(text)).into_iter();
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
