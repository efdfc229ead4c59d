//! Scans the indexes: the sets of queues, workers, failure groups and tags. Adds each entry to the table of unmatched
//! entries.

use crate::clock::moment::{MAX_DELAY, SECONDS_PER_DAY};
use crate::core::api::read::{ReadCommand, ReadReply, START};
use crate::core::script::keys;
use crate::error::Error;
use crate::model::verdict::{BLOCK, ItemKind};

use super::set::{
    SETS_PER_READ, ScannedSet, ScoredMember, pair_with_scores, priority_bucket, time_bucket,
    whole_second_bucket,
};
use super::unmatched::{HashedNameKind, IndexEntryOrPairSide, MAX_KNOWN};
use super::{MAX_CLOCK_DRIFT, ScanCounts, Scanner};

/// Kinds of sets with times: an entry that has been due for more than a day makes its queue a candidate.
const STUCK: [ItemKind; 3] = [ItemKind::Locks, ItemKind::Scheduled, ItemKind::Recur];

/// Whether a set has a lock that has not expired.
fn has_live_lock(set: &ScannedSet) -> bool {
    set.kind == ItemKind::Locks && set.live > 0
}

impl Scanner<'_> {
    /// Scans all indexes whose name is listed.
    pub(super) fn scan_listed_indexes(&mut self) -> Result<(), Error> {
        if !self.rescanning && self.first_pass {
            self.scan_config()?;
            self.check_pause_key_types()?;
        }
        self.scan_listed_queues()?;
        self.scan_workers()?;
        self.scan_failure_groups()?;
        self.scan_tags()?;
        let mut completed = self.new_scanned_set(ItemKind::Completed, b"");
        completed.scored =
            self.first_pass && !self.rescanning && self.has_future_completion(&completed)?;
        self.scan_sets(&mut [completed])?;
        let mut marked =
            [ItemKind::Tracked, ItemKind::FailedTimes].map(|kind| self.new_scanned_set(kind, b""));
        self.scan_sets(&mut marked)?;
        [self.has_tracked, self.has_failed_times] = marked.map(|set| set.count > 0);
        if !self.rescanning && self.first_pass {
            self.check_paused_queues_are_listed()?;
            self.add_paused_template_candidates()?;
            if self.covers_all_queues() {
                self.check_throttles_have_maxima()?;
            }
        }
        Ok(())
    }

    /// Whether any completion time is in the future by more than [`MAX_CLOCK_DRIFT`].
    fn has_future_completion(&mut self, completed: &ScannedSet) -> Result<bool, Error> {
        let read =
            ReadCommand::count_above(&completed.key, self.now_in_seconds() + MAX_CLOCK_DRIFT);
        let reply = self.core.run_read(self.now, read)?;
        Ok(matches!(reply, ReadReply::Number(some) if some > 0))
    }

    /// Adds an entry of an index to the table of unmatched entries. During the rescan, adds the entry as a candidate
    /// instead, if it is still unmatched. The score is NaN if it was not read. `entries_behind` is for lists only.
    pub(super) fn add_unmatched_or_candidate_entry(
        &mut self,
        set: &mut ScannedSet,
        member: &[u8],
        score: f64,
        entries_behind: u64,
    ) -> Result<(), Error> {
        let now = self.now_in_seconds();
        set.count += 1;
        set.live += u64::from(score > now);
        let bucket = match set.kind {
            ItemKind::Work => priority_bucket(score),
            ItemKind::Locks | ItemKind::Worker => time_bucket(score),
            ItemKind::FailedTimes => whole_second_bucket(score),
            _ => 0,
        };
        let hash = self.salt.hash_entry(set.location, member, bucket);
        if let ItemKind::Lane | ItemKind::Slots | ItemKind::Pending = set.kind {
            return self.match_or_add_lane_or_throttle_entry(set, member, hash, entries_behind);
        }
        if self.rescanning {
            if self
                .unmatched
                .contains_entry(hash, IndexEntryOrPairSide::Entry)
            {
                // A complete job may be in the sets of several queues. Its entries in all of them have the same hash
                // value. Keep this value in the table, so that each entry becomes a candidate.
                if set.kind != ItemKind::CompletedIn {
                    self.unmatched.remove_matching_entry(hash);
                }
                if set.kind == ItemKind::Group {
                    // Leading zeros, so that the texts sort as their numbers.
                    let block = format!("{:012}", entries_behind / BLOCK * BLOCK);
                    return self.add_candidate_if_in_scope(
                        ItemKind::Entries,
                        &set.name,
                        block.as_bytes(),
                    );
                }
                self.add_candidate_if_in_scope(set.kind, &set.name, member)?;
            }
            return Ok(());
        }
        let is_duplicate = self.unmatched.check_duplicate_and_add_entry(hash);
        let is_candidate = match set.kind {
            // A duplicate makes a candidate only in a list: a scan may return a member of a growing set twice.
            ItemKind::Group => is_duplicate,
            _ if !self.first_pass => false,
            ItemKind::Recur => !self.now.score_can_become_due(score),
            ItemKind::Scheduled => !score.is_nan() && !self.now.score_can_become_due(score),
            ItemKind::Completed => score > now + MAX_CLOCK_DRIFT,
            _ => false,
        };
        if is_candidate {
            self.add_candidate_if_in_scope(set.kind, &set.name, member)
        } else {
            Ok(())
        }
    }

    /// Adds an entry of a lane or of a throttle, or matches it if the scan has read its job before. No list names
    /// all of these sets, so the scan finds their keys among the keys of jobs.
    fn match_or_add_lane_or_throttle_entry(
        &mut self,
        set: &ScannedSet,
        member: &[u8],
        hash: u64,
        entries_behind: u64,
    ) -> Result<(), Error> {
        let is_candidate = if self.rescanning {
            self.unmatched
                .contains_entry(hash, IndexEntryOrPairSide::Upper)
        } else {
            self.unmatched
                .match_other_side_or_add(hash, IndexEntryOrPairSide::Upper);
            // The core verifies that each job of a lane depends on the job before it. A lane with a single job needs
            // no such check.
            let is_alone = set.count == 1 && entries_behind == 0 && set.is_read_completely();
            self.first_pass && set.kind == ItemKind::Lane && !is_alone
        };
        if is_candidate {
            self.add_candidate_if_in_scope(set.kind, &set.name, member)
        } else {
            Ok(())
        }
    }

    /// Reads the entries of lanes, and of the slots and waiting lists of throttles, and matches them with the fields of their
    /// jobs.
    pub(super) fn scan_lane_and_throttle_entries(
        &mut self,
        sets: &[(ItemKind, Vec<u8>)],
    ) -> Result<(), Error> {
        let sets = sets
            .iter()
            .map(|(kind, name)| self.new_scanned_set(*kind, name));
        let mut sets: Vec<ScannedSet> = sets.collect();
        self.scan_sets(&mut sets)
    }

    /// Scans the sets of queues. A queue comes with its score in the list of queues, if it is listed.
    pub(super) fn scan_queues(&mut self, queues: &[ScoredMember]) -> Result<(), Error> {
        let kinds = [
            ItemKind::Work,
            ItemKind::Locks,
            ItemKind::Scheduled,
            ItemKind::Depends,
            ItemKind::Throttled,
            ItemKind::Recur,
            ItemKind::CompletedIn,
        ];
        for queues in queues.chunks((self.pages_per_round_trip(SETS_PER_READ) / kinds.len()).max(1))
        {
            for (queue, _) in queues {
                let remembered = remembered_key(ItemKind::Work, queue);
                self.remember_name(HashedNameKind::Scanned, &remembered);
            }
            let sets = queues.iter().flat_map(|(queue, _)| {
                let set = |kind| self.new_scanned_set(kind, queue);
                kinds.map(set)
            });
            let mut sets: Vec<ScannedSet> = sets.collect();
            if self.first_pass && !self.rescanning {
                self.mark_schedules_with_never_due_jobs(&mut sets)?;
            }
            self.scan_sets(&mut sets)?;
            let lists_completed =
                |set: &ScannedSet| set.kind == ItemKind::CompletedIn && set.count > 0;
            self.has_completed_in |= sets.iter().any(lists_completed);
            for ((_, listed_at), sets) in queues.iter().zip(sets.chunks(kinds.len())) {
                if listed_at.is_none() && sets.iter().any(has_live_lock) {
                    self.sink.note_lock_in_unlisted_queue();
                }
            }
            if self.rescanning || !self.first_pass {
                continue;
            }
            let due = sets.iter().filter(|set| STUCK.contains(&set.kind));
            let reads = due.map(|set| {
                ReadCommand::count_up_to(&set.key, self.now_in_seconds() - SECONDS_PER_DAY + 1.0)
            });
            let replies = self.run_reads(reads.collect())?;
            let stuck: Vec<bool> = replies
                .into_iter()
                .map(|reply| !matches!(reply, ReadReply::Number(0)))
                .collect();
            let stuck = stuck.chunks(STUCK.len()).map(|stuck| stuck.contains(&true));
            let queues = queues.iter().zip(sets.chunks(kinds.len())).zip(stuck);
            for ((queue, sets), stuck) in queues {
                if stuck || self.is_queue_candidate(queue, sets) {
                    self.add_candidate_if_in_scope(ItemKind::Names, b"queues", &queue.0)?;
                }
            }
        }
        Ok(())
    }

    /// Marks each schedule that has entries that never become due, so that the scan reads its scores.
    fn mark_schedules_with_never_due_jobs(&mut self, sets: &mut [ScannedSet]) -> Result<(), Error> {
        let mut schedules: Vec<&mut ScannedSet> = sets
            .iter_mut()
            .filter(|set| set.kind == ItemKind::Scheduled)
            .collect();
        let latest = self.now_in_seconds() + MAX_DELAY;
        let reads = schedules.iter().flat_map(|set| {
            [
                ReadCommand::count_below(&set.key, 0.0),
                ReadCommand::count_above(&set.key, latest),
            ]
        });
        let replies = self.run_reads(reads.collect())?;
        for (set, replies) in schedules.iter_mut().zip(replies.chunks(2)) {
            let any = |reply: &ReadReply| matches!(reply, ReadReply::Number(1..));
            set.scored = replies.iter().any(any);
        }
        Ok(())
    }

    fn is_queue_candidate(&self, (queue, listed_at): &ScoredMember, sets: &[ScannedSet]) -> bool {
        let now = self.now_in_seconds();
        let Some(listed_at) = *listed_at else {
            return true;
        };
        let mut of_queue = sets.iter().filter(|set| set.kind != ItemKind::CompletedIn);
        let used = of_queue.any(|set| set.count > 0);
        let locks = sets.iter().find(|set| set.kind == ItemKind::Locks);
        let limit = self.limits.get(queue).copied().unwrap_or(f64::INFINITY);
        let over = locks.is_some_and(|set| limit >= 1.0 && set.live as f64 > limit.floor());
        !used || over || listed_at > now + MAX_CLOCK_DRIFT
    }

    fn scan_listed_queues(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::QUEUES).into_bytes();
        let mut listed = 0;
        self.for_each_scored_page(&key, |scanner, page| {
            listed += page.len() as u64;
            for (queue, _) in &page {
                scanner.remember_name(HashedNameKind::Queue, queue);
            }
            scanner.scan_queues(&page)
        })?;
        if self.first_pass && !self.rescanning {
            let seen = ScanCounts {
                queues: listed,
                ..ScanCounts::default()
            };
            self.sink.note_and_pace_keys_scanned(self.core, seen)?;
        }
        Ok(())
    }

    fn scan_workers(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::WORKERS).into_bytes();
        self.for_each_scored_page(&key, |scanner, page| {
            let ahead = scanner.now_in_seconds() + MAX_CLOCK_DRIFT;
            let mut sets = Vec::with_capacity(page.len());
            for (worker, at) in page {
                scanner.remember_name(HashedNameKind::Worker, &worker);
                if at.is_some_and(|at| at > ahead) && scanner.first_pass && !scanner.rescanning {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"workers", &worker)?;
                }
                sets.push(scanner.new_listed_set(ItemKind::Worker, &worker));
            }
            scanner.scan_sets(&mut sets)
        })
    }

    fn scan_failure_groups(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::FAILURES).into_bytes();
        self.for_each_set_page(&key, |scanner, page| {
            let sets = page
                .iter()
                .map(|group| scanner.new_listed_set(ItemKind::Group, group));
            let mut sets: Vec<ScannedSet> = sets.collect();
            scanner.scan_sets(&mut sets)?;
            if scanner.first_pass && !scanner.rescanning {
                for set in sets.iter().filter(|set| set.count == 0) {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"failures", &set.name)?;
                }
            }
            Ok(())
        })
    }

    fn scan_tags(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::TAGS).into_bytes();
        self.for_each_scored_page(&key, |scanner, page| {
            let sets = page
                .iter()
                .map(|(tag, _)| scanner.new_listed_set(ItemKind::Tag, tag));
            let mut sets: Vec<ScannedSet> = sets.collect();
            scanner.scan_sets(&mut sets)
        })
    }

    /// A set whose name is listed. The scan does not read it again as an unlisted one.
    fn new_listed_set(&mut self, kind: ItemKind, name: &[u8]) -> ScannedSet {
        self.remember_name(HashedNameKind::Scanned, &remembered_key(kind, name));
        self.new_scanned_set(kind, name)
    }

    /// Scans the sets of a queue, worker, failure group or tag that is in no list. Returns false if the scan has
    /// already read them.
    pub(super) fn scan_unlisted_once(
        &mut self,
        kind: ItemKind,
        name: &[u8],
    ) -> Result<bool, Error> {
        let kind = match kind {
            ItemKind::Locks
            | ItemKind::Scheduled
            | ItemKind::Depends
            | ItemKind::Throttled
            | ItemKind::Recur => ItemKind::Work,
            ItemKind::Completed
            | ItemKind::CompletedIn
            | ItemKind::FailedTimes
            | ItemKind::Tracked => return Ok(false),
            kind => kind,
        };
        if !self.remember_name(HashedNameKind::Scanned, &remembered_key(kind, name)) {
            return Ok(false);
        }
        // If there are too many names to remember all of them, ask the server whether this name is listed.
        if self.known.len() >= MAX_KNOWN && self.is_listed(kind, name)? {
            return Ok(false);
        }
        self.has_unlisted = true;
        if kind == ItemKind::Work {
            self.scan_queues(&[(name.to_vec(), None)])?;
            return Ok(true);
        }
        let mut set = [self.new_scanned_set(kind, name)];
        self.scan_sets(&mut set)?;
        if self.first_pass && !self.rescanning && set[0].count > 0 {
            let list: &[u8] = match kind {
                ItemKind::Worker => b"workers",
                ItemKind::Group => b"failures",
                _ => {
                    self.defer_candidate_to_scan_end(ItemKind::Names, b"tags", name);
                    return Ok(true);
                }
            };
            self.add_candidate_if_in_scope(ItemKind::Names, list, name)?;
        }
        Ok(true)
    }

    fn is_listed(&mut self, kind: ItemKind, name: &[u8]) -> Result<bool, Error> {
        let list = match kind {
            ItemKind::Work => keys::QUEUES,
            ItemKind::Worker => keys::WORKERS,
            ItemKind::Tag => keys::TAGS,
            _ => return Ok(false),
        };
        let list = self.keys.with_prefix(list);
        let read = ReadCommand::member_score(list.as_bytes(), name);
        Ok(matches!(
            self.core.run_read(self.now, read)?,
            ReadReply::Text(Some(_))
        ))
    }

    /// Calls `each` with the names of a sorted set and their scores, page by page.
    pub(super) fn for_each_scored_page(
        &mut self,
        key: &[u8],
        mut each: impl FnMut(&mut Self, Vec<ScoredMember>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.for_each_cursor_page(
            key,
            2,
            |cursor, count| ReadCommand::scan_sorted_set(key, cursor, count),
            |scanner, items| each(scanner, pair_with_scores(items)),
        )
    }

    /// Calls `each` with the names of a set, page by page.
    pub(super) fn for_each_set_page(
        &mut self,
        key: &[u8],
        each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.for_each_cursor_page(
            key,
            1,
            |cursor, count| ReadCommand::scan_set(key, cursor, count),
            each,
        )
    }

    /// Reads a key with a cursor, and calls `each` with the values of each page. A sorted set or a hash has 2 values
    /// per member, a set has 1.
    pub(super) fn for_each_cursor_page(
        &mut self,
        key: &[u8],
        values_per_member: usize,
        read: impl Fn(&[u8], usize) -> ReadCommand,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut cursor = START.to_vec();
        let count = self.members_per_page(1);
        loop {
            let ReadReply::Page(next, items) =
                self.core.run_read(self.now, read(&cursor, count))?
            else {
                return self.add_key_and_its_job_in_first_pass(key);
            };
            let read = items.len() / values_per_member;
            each(self, items)?;
            self.sink.pace_members_read(self.core, read)?;
            match next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }
}

/// The bytes by which the scanner remembers a set: its kind and its name.
pub(super) fn remembered_key(kind: ItemKind, name: &[u8]) -> Vec<u8> {
    [&[kind as u8], name].concat()
}
