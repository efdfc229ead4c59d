//! What the scan reads after a pass over all keys: the names of the unmatched entries, because the table has only their
//! hashes, and then the candidates that only a complete scan can verify, such as the counters of failed jobs.

use std::collections::HashMap;

use crate::clock::moment::SECONDS_PER_DAY;
use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys::{self, JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

use super::Scanner;
use super::dependencies::SETS_PER_READ;
use super::keys::indexed_set;
use super::unmatched::IndexEntryOrPairSide;

/// Maximum number of dependencies listed by one side only that are collected by dependent. One call verifies all
/// dependencies of a dependent; further ones are verified without this grouping.
const MAX_ONE_SIDED: usize = 20_000;

/// Maximum number of counters that the scan compares. If there are more, every counter becomes a candidate.
const MAX_COUNTERS: usize = 30_000;

/// Maximum size of the deferred candidates.
const MAX_DEFERRED_BYTES: usize = 4 << 20;

/// Maximum number of jobs in `depends` without dependencies that one scan remembers, to verify them (16 MiB).
const MAX_WITHOUT_DEPENDENCIES: usize = 1 << 20;

/// The failed jobs, by `day:queue`.
#[derive(Debug, Default)]
pub(super) struct FailedTally {
    counts: HashMap<Vec<u8>, FailedJobCountWithExample>,
    /// Whether there were more counters.
    pub overflowed: bool,
}

#[derive(Debug, Default)]
struct FailedJobCountWithExample {
    jobs: u64,
    /// One of the jobs.
    example: Option<Name>,
}

impl FailedTally {
    /// The count of a day and queue. `None` if it would be one count more than [`MAX_COUNTERS`].
    fn count_of_day_unless_full(
        &mut self,
        day_and_queue: Vec<u8>,
    ) -> Option<&mut FailedJobCountWithExample> {
        if self.counts.len() >= MAX_COUNTERS && !self.counts.contains_key(&day_and_queue) {
            self.overflowed = true;
            return None;
        }
        Some(self.counts.entry(day_and_queue).or_default())
    }

    pub(super) fn count_failed_job(&mut self, failed_at: f64, queue: &[u8], jid: &[u8]) {
        let day = failed_at - (failed_at - (failed_at / SECONDS_PER_DAY).floor() * SECONDS_PER_DAY);
        let of = [format!("{day:.0}:").as_bytes(), queue].concat();
        if let Some(counted) = self.count_of_day_unless_full(of) {
            counted.jobs += 1;
            counted.example.get_or_insert_with(|| Name::from(jid));
        }
    }

    /// Notes a counter that is not 0.
    pub(super) fn note_nonzero_counter(&mut self, day_and_queue: &[u8]) {
        _ = self.count_of_day_unless_full(day_and_queue.to_vec());
    }
}

impl Scanner<'_> {
    pub(super) fn rescan_to_name_unmatched_hashes(&mut self) -> Result<(), Error> {
        self.rescanning = true;
        self.known.clear();
        if self.unmatched.count_unmatched(IndexEntryOrPairSide::Entry) > 0 {
            self.scan_listed_indexes()?;
        }
        let unlisted =
            self.has_unlisted && self.unmatched.count_unmatched(IndexEntryOrPairSide::Entry) > 0;
        let pairs = self.unmatched.count_unmatched(IndexEntryOrPairSide::Upper)
            + self.unmatched.count_unmatched(IndexEntryOrPairSide::Lower)
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
            let entries = scanner
                .unmatched
                .count_unmatched(IndexEntryOrPairSide::Entry)
                > 0;
            for key in &keys {
                match scanner.keys.family_of_key(key) {
                    KeyFamily::Companion(
                        which @ (JobCompanionKey::History | JobCompanionKey::Payloads),
                        jid,
                    ) => {
                        let hash = scanner.hash_of_companion_key(which, jid);
                        if scanner
                            .unmatched
                            .contains_entry(hash, IndexEntryOrPairSide::Upper)
                        {
                            scanner.add_key_and_its_job(key)?;
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
                            IndexEntryOrPairSide::Upper,
                        )
                    };
                    if members.iter().any(is_unmatched) {
                        scanner.add_job_candidate(&dependent)
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
                            IndexEntryOrPairSide::Lower,
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
                            scanner.add_job_candidate(&dependency)?
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
                self.sink.note_dependencies_to_restore(&dependent, &there);
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
        self.sink.pace_members_read(self.core, jids.len())?;
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

    /// Keeps a candidate until the end of the scan, because only a complete scan allows to verify it. Drops it if too
    /// many are kept.
    pub(super) fn defer_candidate_to_scan_end(&mut self, kind: ItemKind, name: &[u8], item: &[u8]) {
        let size = name.len() + item.len() + 100;
        self.deferred_bytes += size;
        if self.deferred_bytes <= MAX_DEFERRED_BYTES {
            self.deferred
                .push((ItemLocation::new(kind, name), Name::from(item)));
        }
    }

    /// Remembers a job in `depends` that has no dependencies, and keeps it as a candidate until the end of the scan.
    pub(super) fn defer_job_without_dependencies(&mut self, jid: &[u8]) {
        if self.without_dependencies.len() < MAX_WITHOUT_DEPENDENCIES {
            let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
            self.without_dependencies.insert(hash);
            self.defer_candidate_to_scan_end(ItemKind::Job, b"", jid);
        }
    }

    /// Whether the scan found the job in `depends` without dependencies.
    pub(super) fn was_deferred_without_dependencies(&self, jid: &[u8]) -> bool {
        let hash = self.hash_entry(ItemKind::Job, b"", jid, 0);
        self.without_dependencies.contains(&hash)
    }

    pub(super) fn run_checks_deferred_to_end(&mut self) -> Result<(), Error> {
        self.note_dependents_without_dependencies()?;
        for (location, item) in std::mem::take(&mut self.deferred) {
            self.add_candidate_if_in_scope(
                location.kind,
                location.name.as_bytes(),
                item.as_bytes(),
            )?;
        }
        if self.covers_all_queues() {
            self.check_tag_counters()?;
            self.check_failed_counters()?;
        }
        if self.deferred_bytes > MAX_DEFERRED_BYTES || self.tally.overflowed {
            self.rescan_for_dropped_candidates()?;
        }
        Ok(())
    }

    fn check_tag_counters(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::TAGS).into_bytes();
        self.for_each_scored_page(&key, |scanner, tags| {
            let reads = tags.iter().map(|(tag, _)| {
                let key = scanner.keys.tag_key(tag);
                ReadCommand::sorted_set_size(&key)
            });
            let reads = reads.collect();
            let replies = scanner.run_reads(reads)?;
            scanner.sink.pace_members_read(scanner.core, tags.len())?;
            for ((tag, score), reply) in tags.iter().zip(replies) {
                let right = match reply {
                    ReadReply::Number(count) => count > 0 && *score == Some(count as f64),
                    _ => false,
                };
                if !right {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"tags", tag)?;
                }
            }
            Ok(())
        })
    }

    /// Scans again for the candidates that were dropped because there were too many to keep.
    fn rescan_for_dropped_candidates(&mut self) -> Result<(), Error> {
        let pattern = self.keys.with_prefix("*");
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            let (mut tags, mut jobs) = (Vec::new(), Vec::new());
            for key in &keys {
                match scanner.keys.family_of_key(key) {
                    KeyFamily::Tag(tag) => tags.push(tag.to_vec()),
                    KeyFamily::Job(jid) => jobs.push(jid.to_vec()),
                    KeyFamily::DayCounters(_) if scanner.tally.overflowed => {
                        scanner.add_key_candidate(key)?;
                    }
                    _ => {}
                }
            }
            let list = scanner.keys.with_prefix(keys::TAGS).into_bytes();
            let reads = tags
                .iter()
                .map(|tag| ReadCommand::member_score(&list, tag))
                .collect();
            for (tag, reply) in tags.iter().zip(scanner.run_reads(reads)?) {
                if matches!(reply, ReadReply::Text(None)) {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"tags", tag)?;
                }
            }
            let reads = jobs.iter().flat_map(|jid| {
                let above = scanner
                    .keys
                    .companion_key(JobCompanionKey::Dependencies, jid);
                [
                    ReadCommand::hash_field(&scanner.keys.job_key(jid), "state"),
                    ReadCommand::key_exists(&above),
                ]
            });
            let reads = reads.collect();
            let replies = scanner.run_reads(reads)?;
            for (jid, replies) in jobs.iter().zip(replies.chunks_exact(2)) {
                if let [ReadReply::Text(Some(state)), ReadReply::Number(0)] = replies
                    && state == b"depends"
                    && scanner.was_deferred_without_dependencies(jid)
                {
                    scanner.add_job_candidate(jid)?;
                }
            }
            Ok(())
        })
    }

    /// Adds as candidates the counters that differ from the number of failed jobs that the scan found.
    fn check_failed_counters(&mut self) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.tally.counts);
        let counts: Vec<(Vec<u8>, FailedJobCountWithExample)> = counts.into_iter().collect();
        for counts in counts.chunks(500) {
            let keys = counts.iter().map(|(of, _)| self.keys.day_counters_key(of));
            let keys: Vec<Vec<u8>> = keys.collect();
            let reads = keys
                .iter()
                .map(|key| ReadCommand::hash_field(key, "failed"));
            let replies = self.run_reads(reads.collect())?;
            self.sink.pace_members_read(self.core, counts.len())?;
            for (((_, counted), key), reply) in counts.iter().zip(keys).zip(replies) {
                let stored = match reply {
                    ReadReply::Text(stored) => stored,
                    _ => None,
                };
                let stored = stored.unwrap_or_else(|| b"0".to_vec());
                if stored == counted.jobs.to_string().into_bytes() {
                    continue;
                }
                self.add_key_candidate(&key)?;
                // A missing counter has no key to verify: verify one of its jobs.
                if let Some(jid) = &counted.example {
                    self.add_job_candidate(jid.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}
