//! Matches the two sides of each dependency: the entry in the dependent's set of dependencies, and the entry in the
//! dependency's set of dependents.

use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys::{self, JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::unmatched::MatchSide;
use super::{RememberedAs, Replies, Scanner};

/// The fields that tell whether a job with dependencies or dependents exists, and its state.
pub(super) const STATE_FIELDS: [&str; 3] = ["state", "jid", "klass"];

/// Maximum number of sets whose first page is read in one round trip.
pub(super) const SETS_PER_READ: usize = 24;

/// Maximum number of dependencies, or of dependents, of a job that the core can verify. A job with more becomes a
/// candidate, so that the core reports it.
const MAX_EDGES: usize = 1000;

impl Scanner<'_> {
    /// The hash of the dependency of `dependent` on `dependency`.
    pub(super) fn hash_edge(&self, dependent: &[u8], dependency: &[u8]) -> u64 {
        let place = self
            .salt
            .hash_location(RememberedAs::Edge as u8, dependency);
        self.salt.hash_entry(place, dependent, 0)
    }

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
                        .match_other_side_or_add(hash, MatchSide::Upper);
                    if missing {
                        scanner.add_candidate_in_first_pass(ItemKind::Job, &dependency)?;
                    }
                    if in_depends && scanner.first_pass && dependency != *dependent {
                        scanner
                            .cycles
                            .add_edge(&scanner.salt, dependent, &dependency);
                    }
                }
                Ok(())
            })?;
            if is_candidate || count > MAX_EDGES {
                self.add_candidate_in_first_pass(ItemKind::Job, dependent)?;
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
                        .match_other_side_or_add(hash, MatchSide::Lower);
                    if should_have_no_dependents {
                        scanner.add_candidate_in_first_pass(ItemKind::Job, &dependent)?;
                    }
                }
                Ok(())
            })?;
            if should_have_no_dependents || count > MAX_EDGES {
                self.add_candidate_in_first_pass(ItemKind::Job, dependency)?;
            }
        }
        Ok(())
    }

    /// Notes each job in `depends` that has no dependencies although another job lists it as a dependent, so that no
    /// repair releases it. The scan may have matched both sides of such a dependency before one side was lost. So this
    /// reads all sets of dependents once more, after the scan saw which jobs have no dependencies.
    pub(super) fn report_one_sided_dependencies(&mut self) -> Result<(), Error> {
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
            self.sink.note_and_pace_members_read(self.core, read)?;
            let Some(next) = next else {
                return Ok(());
            };
            let read = ReadCommand::scan_set(key, &next, self.members_per_page(1));
            reply = self.core.run_read(self.now, read)?;
        }
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
