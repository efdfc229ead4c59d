//! The candidates of a scan that wait for verification. Their number and their bytes are bounded.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::batch_size::MAX_BATCH;
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

/// Maximum number of candidates that wait for verification, apart from failed jobs.
const MAX_CANDIDATES: usize = 4_000;

/// Maximum total size of the names of the candidates that wait for verification.
const MAX_BYTES: usize = 4 << 20;

/// Maximum number of failed jobs of one group that wait for verification. The number is large, because each
/// verification of failed jobs reads all failure lists.
const MAX_FAILED: usize = 20_000;

/// Maximum number of candidates that are remembered after their verification.
const MAX_RECENT: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct CandidatesByLocation {
    waiting: HashMap<ItemLocation, Vec<Name>>,
    count: usize,
    bytes: usize,
    /// Hashes of candidates that were verified lately.
    recent: HashSet<u64>,
    hasher: RandomState,
}

impl CandidatesByLocation {
    pub(super) fn add_candidate(&mut self, location: &ItemLocation, item: Name) {
        let waiting = match self.waiting.get_mut(location) {
            Some(waiting) => waiting,
            None => self.waiting.entry(location.clone()).or_default(),
        };
        // Entries of a list come in order, so a second candidate for the same block directly follows the first one.
        if waiting.last() != Some(&item) {
            self.bytes += item.as_bytes().len();
            waiting.push(item);
            self.count += 1;
        }
    }

    /// Whether the candidates that wait at a location must be verified before another one is added.
    pub(super) fn is_location_full(&self, location: &ItemLocation) -> bool {
        let capacity = match location.kind {
            ItemKind::Failed => MAX_FAILED,
            _ => MAX_BATCH,
        };
        let waiting = self.waiting.get(location);
        waiting.is_some_and(|waiting| waiting.len() >= capacity)
    }

    /// Whether all candidates must be verified before another one is added.
    pub(super) fn is_full(&self) -> bool {
        self.count >= MAX_CANDIDATES + MAX_FAILED || self.bytes >= MAX_BYTES
    }

    /// Any location that has candidates.
    pub(super) fn any_waiting_location(&self) -> Option<ItemLocation> {
        self.waiting.keys().next().cloned()
    }

    /// Removes the waiting candidates of a location and returns them, except candidates that this scan has verified
    /// lately. `None` if none were waiting.
    pub(super) fn take_candidates_at(&mut self, location: &ItemLocation) -> Option<Vec<Name>> {
        let mut items = self.waiting.remove(location)?;
        self.count -= items.len();
        let bytes = items.iter().map(|item| item.as_bytes().len());
        self.bytes -= bytes.sum::<usize>();
        // Several index entries may lead to the same candidate: drop the ones that were verified lately.
        items.retain(|item| self.recent.insert(self.hasher.hash_one((location, item))));
        if self.recent.len() > MAX_RECENT {
            self.recent.clear();
        }
        if location.kind == ItemKind::Entries {
            items.sort_unstable();
        }
        Some(items)
    }

    /// From now on, candidates that were verified before are verified again.
    pub(super) fn forget_verified(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_was_verified_lately_is_not_verified_again() {
        let mut candidates = CandidatesByLocation::default();
        let job = ItemLocation::new(ItemKind::Job, "");
        candidates.add_candidate(&job, Name::from("a"));
        assert_eq!(candidates.any_waiting_location(), Some(job.clone()));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("a")])
        );
        assert_eq!(candidates.any_waiting_location(), None);
        candidates.add_candidate(&job, Name::from("a"));
        candidates.add_candidate(&job, Name::from("b"));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("b")])
        );
        candidates.forget_verified();
        candidates.add_candidate(&job, Name::from("a"));
        assert_eq!(
            candidates.take_candidates_at(&job),
            Some(vec![Name::from("a")])
        );
        assert_eq!((candidates.count, candidates.bytes), (0, 0));
    }

    #[test]
    fn a_full_batch_or_many_bytes_are_due() {
        let mut candidates = CandidatesByLocation::default();
        let job = ItemLocation::new(ItemKind::Job, "");
        for number in 0..MAX_BATCH {
            assert!(!candidates.is_location_full(&job), "{number}");
            candidates.add_candidate(&job, Name::from(number.to_string()));
        }
        assert!(candidates.is_location_full(&job) && !candidates.is_full());
        let large = Name::from("x".repeat(MAX_BYTES));
        candidates.add_candidate(&ItemLocation::new(ItemKind::Tag, "eu"), large);
        assert!(candidates.is_full());
    }
}
