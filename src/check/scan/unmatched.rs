//! The table of the index entries that no job has matched so far.
//!
//! A slot of 8 bytes has a salted hash of an entry. The table takes up to 32 MiB. If it is full, it drops the
//! upper half of its hashes, and another pass of the scan covers them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::core::script::keys::JobCompanionKey;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::Scanner;

/// Maximum number of slots of 8 bytes.
pub const MAX_TABLE_SLOTS: usize = 1 << 22;

/// Maximum number of names remembered as listed or scanned.
pub(super) const MAX_KNOWN: usize = 400_000;

/// The number of slots at first.
const INITIAL_SLOTS: usize = 1 << 14;

/// The lowest bits of a slot. They hold the [`IndexEntryOrPairSide`] of its entry instead of bits of the hash.
const SIDE_BITS: u64 = 3;

/// What a hash of a name stands for. The numbers are above the numbers of [`ItemKind`], so that the hashes differ.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum HashedNameKind {
    /// The queue is in the list of queues.
    Queue = 100,
    Worker,
    /// The sets of this name were scanned.
    Scanned,
    /// A candidate was added because this name is not listed.
    Reported,
    /// The history or the payloads of a job.
    CompanionKey,
    Edge,
}

/// Which side of a match a stored entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexEntryOrPairSide {
    /// An entry of an index matches its job.
    Entry = 1,
    /// The first side of a pair that must match its other side, such as a dependency that both of its jobs list.
    Upper = 2,
    /// The other side of such a pair.
    Lower = 3,
}

/// Hashes names, with another salt in each run.
#[derive(Debug, Default)]
pub(super) struct SaltedHasher(RandomState);

impl SaltedHasher {
    pub(super) fn hash_location(&self, kind: u8, name: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u8(kind);
        hasher.write(name);
        hasher.finish()
    }

    /// The hash of a member of a set, by the set's own hash. `bucket` is the part of the member's score that the job
    /// must agree with, or 0.
    pub(super) fn hash_entry(&self, location: u64, member: &[u8], score_bucket: u64) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u64(location);
        hasher.write_u64(score_bucket);
        hasher.write(member);
        hasher.finish()
    }
}

/// The table, with open addressing: an entry takes the next free slot.
#[derive(Debug)]
pub(super) struct UnmatchedTable {
    slots: Vec<u64>,
    max_slots: usize,
    /// The number of entries of each side.
    counts: [usize; 4],
    /// The lowest hash that this pass covers.
    first_hash: u64,
    /// The highest hash that this pass covers.
    last_hash: u64,
}

impl UnmatchedTable {
    /// Creates a table of up to `max_slots` slots, a power of two.
    pub(super) fn new(max_slots: usize) -> UnmatchedTable {
        UnmatchedTable {
            slots: vec![0; max_slots.min(INITIAL_SLOTS)],
            max_slots,
            counts: [0; 4],
            first_hash: 0,
            last_hash: u64::MAX,
        }
    }

    /// Clears the table for a pass over the hashes that it has dropped. Returns false if it dropped none.
    pub(super) fn begin_next_hash_range_if_any(&mut self) -> bool {
        if self.last_hash == u64::MAX {
            return false;
        }
        self.slots.fill(0);
        self.counts = [0; 4];
        self.first_hash = self.last_hash + 1;
        self.last_hash = u64::MAX;
        true
    }

    /// The number of unmatched entries of a side.
    pub(super) fn count_unmatched(&self, side: IndexEntryOrPairSide) -> usize {
        self.counts[side as usize]
    }

    /// Adds an entry of an index, if this pass covers it. Returns whether the table had it already.
    pub(super) fn check_duplicate_and_add_entry(&mut self, hash: u64) -> bool {
        if !self.covers_hash(hash) {
            return false;
        }
        let slot = self.find_slot(hash, IndexEntryOrPairSide::Entry);
        if let Err(free) = slot {
            self.fill_slot_and_make_room(free, hash, IndexEntryOrPairSide::Entry);
        }
        slot.is_ok()
    }

    /// Removes an entry that a job should have. Returns whether the table had it.
    pub(super) fn remove_matching_entry(&mut self, hash: u64) -> bool {
        let slot = self.find_slot(hash, IndexEntryOrPairSide::Entry);
        if let Ok(at) = slot {
            self.empty_slot(at);
        }
        slot.is_ok()
    }

    /// Removes the other side of a pair, or adds this side if the table lacks the other one and this pass covers it.
    pub(super) fn match_other_side_or_add(&mut self, hash: u64, side: IndexEntryOrPairSide) {
        if !self.covers_hash(hash) {
            return;
        }
        let other = match side {
            IndexEntryOrPairSide::Lower => IndexEntryOrPairSide::Upper,
            _ => IndexEntryOrPairSide::Lower,
        };
        if let Ok(at) = self.find_slot(hash, other) {
            self.empty_slot(at);
        } else if let Err(free) = self.find_slot(hash, side) {
            self.fill_slot_and_make_room(free, hash, side);
        }
    }

    /// Whether the table has an entry.
    pub(super) fn contains_entry(&self, hash: u64, side: IndexEntryOrPairSide) -> bool {
        self.covers_hash(hash) && self.find_slot(hash, side).is_ok()
    }

    /// Whether the current pass covers a hash.
    fn covers_hash(&self, hash: u64) -> bool {
        (self.first_hash..=self.last_hash).contains(&hash)
    }

    fn first_slot_of_hash(&self, hash: u64) -> usize {
        (hash >> 2) as usize & (self.slots.len() - 1)
    }

    /// `Ok` with the slot of an entry, or `Err` with the free slot that the entry would take.
    fn find_slot(&self, hash: u64, side: IndexEntryOrPairSide) -> Result<usize, usize> {
        let slot_of_hash = hash & !SIDE_BITS | side as u64;
        let mut at = self.first_slot_of_hash(slot_of_hash);
        loop {
            match self.slots[at] {
                0 => return Err(at),
                slot if slot == slot_of_hash => return Ok(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn fill_slot_and_make_room(&mut self, at: usize, hash: u64, side: IndexEntryOrPairSide) {
        self.slots[at] = hash & !SIDE_BITS | side as u64;
        self.counts[side as usize] += 1;
        if self.counts.iter().sum::<usize>() * 4 > self.slots.len() * 3 {
            if self.slots.len() < self.max_slots {
                self.grow_table()
            } else {
                self.leave_upper_hashes_to_next_pass()
            }
        }
    }

    /// Empties a slot. Moves up the entries behind it that had to take a later slot than the first slot of their hash.
    fn empty_slot(&mut self, at: usize) {
        let mask = self.slots.len() - 1;
        self.counts[(self.slots[at] & SIDE_BITS) as usize] -= 1;
        let (mut hole, mut next) = (at, at);
        loop {
            next = (next + 1) & mask;
            let slot = self.slots[next];
            if slot == 0 {
                break;
            }
            let home = self.first_slot_of_hash(slot);
            // An entry may move to the hole if the hole is the first slot of its hash, or behind that slot.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.slots[hole] = slot;
                hole = next;
            }
        }
        self.slots[hole] = 0;
    }

    /// Grows the table by a factor of 4. The last step is larger, so that the old table is small while both exist.
    fn grow_table(&mut self) {
        let len = match self.slots.len() * 4 {
            more if more * 2 > self.max_slots => self.max_slots,
            more => more,
        };
        let old = std::mem::replace(&mut self.slots, vec![0; len]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = self.first_slot_of_hash(slot);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Drops the upper half of the hashes that this pass covers, and leaves them to the next pass.
    fn leave_upper_hashes_to_next_pass(&mut self) {
        // One pass covers all hashes that differ only in the bits that a slot does not keep.
        self.last_hash = (self.first_hash + (self.last_hash - self.first_hash) / 2) | SIDE_BITS;
        let mut at = 0;
        while at < self.slots.len() {
            match self.slots[at] {
                slot if slot != 0 && slot & !SIDE_BITS > self.last_hash => self.empty_slot(at),
                _ => at += 1,
            }
        }
    }
}

impl Scanner<'_> {
    /// Remembers a name, unless there are too many. Returns whether the name is not remembered yet.
    pub(super) fn remember_name(&mut self, what: HashedNameKind, name: &[u8]) -> bool {
        let hash = self.salt.hash_location(what as u8, name);
        if self.known.len() < MAX_KNOWN {
            self.known.insert(hash)
        } else {
            !self.known.contains(&hash)
        }
    }

    pub(super) fn is_remembered(&self, what: HashedNameKind, name: &[u8]) -> bool {
        self.known
            .contains(&self.salt.hash_location(what as u8, name))
    }

    pub(super) fn hash_entry(
        &self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        score_bucket: u64,
    ) -> u64 {
        let location = self.salt.hash_location(kind as u8, name);
        self.salt.hash_entry(location, member, score_bucket)
    }

    /// Whether an index has the entry that a job should have. Such an entry leaves the table of unmatched entries. An
    /// entry that another pass covers counts as present.
    pub(super) fn match_entry_expected_in_index(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        score_bucket: u64,
    ) -> Result<bool, Error> {
        Ok(
            self.match_entry_of_this_pass(kind, name, member, score_bucket)?
                || !self
                    .unmatched
                    .covers_hash(self.hash_entry(kind, name, member, score_bucket)),
        )
    }

    /// As [`Scanner::match_entry_expected_in_index`], but an entry that another pass covers counts as missing.
    pub(super) fn match_entry_of_this_pass(
        &mut self,
        kind: ItemKind,
        name: &[u8],
        member: &[u8],
        score_bucket: u64,
    ) -> Result<bool, Error> {
        let hash = self.hash_entry(kind, name, member, score_bucket);
        self.match_hash_or_scan_its_unlisted_set(hash, kind, name)
    }

    /// Removes an entry that a job should have from the table of unmatched entries. If the table lacks the entry, and
    /// the scan has not read its set because no list names it, reads the set and tries again.
    fn match_hash_or_scan_its_unlisted_set(
        &mut self,
        hash: u64,
        kind: ItemKind,
        name: &[u8],
    ) -> Result<bool, Error> {
        Ok(self.unmatched.remove_matching_entry(hash)
            || self.unmatched.covers_hash(hash)
                && self.scan_unlisted_once(kind, name)?
                && self.unmatched.remove_matching_entry(hash))
    }

    /// The hash of the dependency of `dependent` on `dependency`.
    pub(super) fn hash_edge(&self, dependent: &[u8], dependency: &[u8]) -> u64 {
        let place = self
            .salt
            .hash_location(HashedNameKind::Edge as u8, dependency);
        self.salt.hash_entry(place, dependent, 0)
    }

    /// The hash of the history or of the payloads of a job.
    pub(super) fn hash_of_companion_key(&self, which: JobCompanionKey, jid: &[u8]) -> u64 {
        let what = HashedNameKind::CompanionKey as u8;
        let location = self.salt.hash_location(what, &[which as u8]);
        self.salt.hash_entry(location, jid, 0)
    }

    /// Matches the key of a history or of payloads with its job.
    pub(super) fn match_companion_key(
        &mut self,
        which: JobCompanionKey,
        jid: &[u8],
        side: IndexEntryOrPairSide,
    ) {
        let hash = self.hash_of_companion_key(which, jid);
        self.unmatched.match_other_side_or_add(hash, side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u64) -> u64 {
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ n
    }

    #[test]
    fn matched_entries_are_removed_and_others_remain() {
        let mut table = UnmatchedTable::new(MAX_TABLE_SLOTS);
        for n in 1..100_000 {
            assert!(!table.check_duplicate_and_add_entry(hash(n)));
        }
        assert!(table.check_duplicate_and_add_entry(hash(7)));
        for n in (1..100_000).filter(|n| n % 1000 != 0) {
            assert!(table.remove_matching_entry(hash(n)), "{n}");
        }
        assert!(!table.remove_matching_entry(hash(1)));
        assert_eq!(table.count_unmatched(IndexEntryOrPairSide::Entry), 99);
        for n in 1..100_000 {
            assert_eq!(
                table.contains_entry(hash(n), IndexEntryOrPairSide::Entry),
                n % 1000 == 0,
                "{n}"
            );
        }
        assert!(!table.begin_next_hash_range_if_any());
    }

    #[test]
    fn pairs_match_from_either_side() {
        let mut table = UnmatchedTable::new(MAX_TABLE_SLOTS);
        for n in 1..1000 {
            let (one, other) = match n % 2 {
                0 => (IndexEntryOrPairSide::Upper, IndexEntryOrPairSide::Lower),
                _ => (IndexEntryOrPairSide::Lower, IndexEntryOrPairSide::Upper),
            };
            table.match_other_side_or_add(hash(n), one);
            // The scan may read one side twice.
            table.match_other_side_or_add(hash(n), one);
            assert!(table.contains_entry(hash(n), one), "{n}");
            if n % 10 != 0 {
                table.match_other_side_or_add(hash(n), other);
                assert!(!table.contains_entry(hash(n), one), "{n}");
            }
        }
        assert_eq!(table.count_unmatched(IndexEntryOrPairSide::Upper), 99);
        assert_eq!(table.count_unmatched(IndexEntryOrPairSide::Lower), 0);
        assert!(table.contains_entry(hash(10), IndexEntryOrPairSide::Upper));
        assert!(!table.contains_entry(hash(10), IndexEntryOrPairSide::Entry));
    }

    #[test]
    fn a_full_table_takes_several_passes() {
        let mut table = UnmatchedTable::new(1 << 10);
        let (mut matched, mut unmatched, mut parts) = (0, 0, 0);
        loop {
            parts += 1;
            // Some entries match before the table is full, some after.
            for n in 1..10_000u64 {
                table.check_duplicate_and_add_entry(hash(n));
                if n % 3 == 0 {
                    matched += usize::from(table.remove_matching_entry(hash(n - 1)));
                }
            }
            // Dropped entries are not in this part.
            let remains = |n: &u64| table.contains_entry(hash(*n), IndexEntryOrPairSide::Entry);
            unmatched += (1..10_000).filter(remains).count();
            assert!(table.slots.len() <= 1 << 10);
            if !table.begin_next_hash_range_if_any() {
                break;
            }
        }
        assert!(parts > 5, "{parts}");
        assert_eq!(unmatched, 9_999 - 3_333);
        assert!(matched >= 3_333, "{matched}");
    }

    #[test]
    fn each_run_has_its_own_salt() {
        let (one, other) = (SaltedHasher::default(), SaltedHasher::default());
        assert_ne!(one.hash_location(1, b"q"), other.hash_location(1, b"q"));
        assert_eq!(one.hash_location(1, b"q"), one.hash_location(1, b"q"));
        let location = one.hash_location(1, b"q");
        assert_ne!(
            one.hash_entry(location, b"a", 0),
            one.hash_entry(location, b"a", 1)
        );
        assert_ne!(
            one.hash_entry(location, b"a", 0),
            one.hash_entry(location, b"b", 0)
        );
    }
}
