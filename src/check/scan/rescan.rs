//! Finds the names of the unmatched entries. The table has only their hashes, so this code scans the names again.

use std::collections::HashMap;

use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys::{JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::edges::SETS_PER_READ;
use super::keys::indexed_set;
use super::unmatched::MatchSide;
use super::{RememberedAs, Scanner};

/// Maximum number of dependencies listed by one side only that are collected by dependent. One call verifies all
/// dependencies of a dependent; further ones are verified without this grouping.
const MAX_ONE_SIDED: usize = 20_000;

impl Scanner<'_> {
    pub(super) fn rescan_for_unmatched_names(&mut self) -> Result<(), Error> {
        self.rescanning = true;
        self.known.clear();
        if self.unmatched.count_unmatched(MatchSide::Entry) > 0 {
            self.scan_listed_indexes()?;
        }
        let unlisted = self.has_unlisted && self.unmatched.count_unmatched(MatchSide::Entry) > 0;
        let pairs = self.unmatched.count_unmatched(MatchSide::Upper)
            + self.unmatched.count_unmatched(MatchSide::Lower)
            > 0;
        if unlisted || pairs {
            self.scan_keys_of_unmatched()?;
        }
        self.rescanning = false;
        Ok(())
    }

    fn scan_keys_of_unmatched(&mut self) -> Result<(), Error> {
        // For each dependent: the jobs that list it although it does not list them as dependencies. One call
        // verifies these jobs.
        let mut one_sided: HashMap<Vec<u8>, Vec<Name>> = HashMap::new();
        let mut count = 0;
        let pattern = self.keys.with_prefix("*");
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            let (mut with_dependencies, mut with_dependents) = (Vec::new(), Vec::new());
            let mut sets = Vec::new();
            let entries = scanner.unmatched.count_unmatched(MatchSide::Entry) > 0;
            for key in &keys {
                match scanner.keys.family_of_key(key) {
                    KeyFamily::Companion(
                        which @ (JobCompanionKey::History | JobCompanionKey::Payloads),
                        jid,
                    ) => {
                        let what = match which {
                            JobCompanionKey::Payloads => RememberedAs::Payloads,
                            _ => RememberedAs::History,
                        };
                        let hash = scanner.hash_of_job_key(what, jid);
                        if scanner.unmatched.contains_entry(hash, MatchSide::Upper) {
                            scanner.add_key_candidate(key)?;
                            let jid = scanner.keys.without_job_prefix(key);
                            scanner.add_candidate_if_in_scope(
                                ItemKind::Job,
                                b"",
                                jid.unwrap_or_default(),
                            )?;
                        }
                    }
                    KeyFamily::Companion(JobCompanionKey::Dependencies, dependent) => {
                        with_dependencies.push(dependent.to_vec())
                    }
                    KeyFamily::Companion(JobCompanionKey::Dependents, dependency) => {
                        with_dependents.push(dependency.to_vec())
                    }
                    family => match indexed_set(family) {
                        Some((
                            kind @ (ItemKind::Lane | ItemKind::Slots | ItemKind::Pending),
                            name,
                        )) => sets.push((kind, name.to_vec())),
                        Some((kind, name)) if entries => {
                            _ = scanner.scan_unlisted_once(kind, name)?
                        }
                        _ => {}
                    },
                }
            }
            scanner.scan_lane_and_throttle_entries(&sets)?;
            for (dependent, first_page) in
                scanner.read_first_edge_pages(JobCompanionKey::Dependencies, &with_dependencies)?
            {
                let key = scanner
                    .keys
                    .companion_key(JobCompanionKey::Dependencies, &dependent);
                scanner.for_each_edge_page(&key, first_page, |scanner, members| {
                    let is_unmatched = |dependency: &Vec<u8>| {
                        scanner.unmatched.contains_entry(
                            scanner.hash_edge(&dependent, dependency),
                            MatchSide::Upper,
                        )
                    };
                    if members.iter().any(is_unmatched) {
                        scanner.add_candidate_if_in_scope(ItemKind::Job, b"", &dependent)
                    } else {
                        Ok(())
                    }
                })?;
            }
            for (dependency, first_page) in
                scanner.read_first_edge_pages(JobCompanionKey::Dependents, &with_dependents)?
            {
                let key = scanner
                    .keys
                    .companion_key(JobCompanionKey::Dependents, &dependency);
                let mut in_scope = false;
                scanner.for_each_edge_page(&key, first_page, |scanner, mut members| {
                    members.retain(|dependent| {
                        scanner.unmatched.contains_entry(
                            scanner.hash_edge(dependent, &dependency),
                            MatchSide::Lower,
                        )
                    });
                    in_scope = in_scope
                        || scanner.is_any_in_named_queues(members.iter().map(Vec::as_slice))?;
                    for dependent in members {
                        scanner.sink.note_one_sided_dependency(&dependent);
                        count += 1;
                        if count <= MAX_ONE_SIDED {
                            one_sided
                                .entry(dependent)
                                .or_default()
                                .push(Name::from(dependency.as_slice()))
                        } else {
                            scanner.add_candidate_if_in_scope(ItemKind::Job, b"", &dependency)?
                        }
                    }
                    Ok(())
                })?;
                if in_scope {
                    scanner.add_dependents_key_if_job_missing(&key, &dependency)?;
                }
            }
            Ok(())
        })?;
        let location = ItemLocation::new(ItemKind::Job, "");
        for (dependent, jids) in one_sided {
            if self.covers_all_queues() {
                let there = self.existing_jobs(&jids)?;
                self.sink.note_lost_dependencies(&dependent, &there);
            }
            self.add_candidate_group_if_in_scope(&location, &dependent, jids)?;
        }
        Ok(())
    }

    fn existing_jobs(&mut self, jids: &[Name]) -> Result<Vec<Name>, Error> {
        let reads = jids.iter().map(|jid| {
            let key = self.keys.job_key(jid.as_bytes());
            ReadCommand::hash_field(&key, "jid")
        });
        let replies = self.run_reads(reads.collect())?;
        self.sink
            .note_and_pace_members_read(self.core, jids.len())?;
        let there = jids.iter().zip(replies);
        let there = there.filter(|(_, reply)| matches!(reply, ReadReply::Text(Some(_))));
        Ok(there.map(|(jid, _)| jid.clone()).collect())
    }

    /// Reads the first page of each job's set of dependencies or dependents. Each page comes with the jid.
    fn read_first_edge_pages(
        &mut self,
        which: JobCompanionKey,
        jids: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, ReadReply)>, Error> {
        let mut pages = Vec::with_capacity(jids.len());
        for jids in jids.chunks(self.pages_per_round_trip(SETS_PER_READ)) {
            let page = self.members_per_page(jids.len());
            let reads = jids.iter().map(|jid| {
                let key = self.keys.companion_key(which, jid);
                ReadCommand::scan_set(&key, START, page)
            });
            let replies = self.run_reads(reads.collect())?;
            pages.extend(jids.iter().cloned().zip(replies));
        }
        Ok(pages)
    }
}
