//! Findings that several locations report, or that cover others: which location repairs them, and which findings a
//! repair leaves out.
//!
//! Only a verdict about an unlisted queue sees the entries in its sets, and only a verdict about an unlisted failure
//! group sees the entries in its list. A verdict about a job does not see these entries, so its repair changes less.
//! So a repair leaves such a finding to the location whose repair changes most.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::model::finding::{FINDINGS, FindingId, RepairLocationChoice};
use crate::model::verdict::{FindingRepairState, ItemLocation, Verdict};
use crate::name::Name;

/// Maximum number of items remembered (10 MB). The next round of the repair handles further items.
const MAX_ITEMS: usize = 100_000;

/// The overlapping findings of a scan.
#[derive(Debug, Default)]
pub(crate) struct OverlappingFindings {
    hasher: RandomState,
    /// Findings that cover others, as hashes of id and item.
    covering: HashSet<u64>,
    /// The number of changes of the largest repair of a finding, by a hash of id, item and detail.
    changes: HashMap<u64, usize>,
    /// The hash of the only location that repairs a finding, by a hash of id and item. `None` if no location does.
    only: HashMap<u64, Option<u64>>,
    /// Whether there are more covering findings than are remembered.
    overflowed: bool,
}

impl OverlappingFindings {
    /// Notes a verdict that a repair may act on. Returns true if its repair makes more changes than the repair that
    /// another location noted for this finding before. Then only this location repairs the finding.
    pub(crate) fn note_and_take_over_if_larger(
        &mut self,
        location: &ItemLocation,
        verdict: &Verdict,
    ) -> bool {
        let id = verdict.id;
        let key = self.overlap_key(id, &verdict.item);
        if !id.row().covers.is_empty() {
            if self.covering.len() < MAX_ITEMS {
                _ = self.covering.insert(key)
            } else {
                self.overflowed = true
            }
        }
        let repair_at = id.row().repair_at;
        if repair_at == RepairLocationChoice::AnyLocation
            || self.changes.len().max(self.only.len()) >= MAX_ITEMS
        {
            return false;
        }
        if verdict.outcome != FindingRepairState::Repairable {
            if repair_at == RepairLocationChoice::LargestUnlessLocked {
                // The job has a lock that other locations may not see: no location repairs the finding.
                self.only.insert(key, None);
            }
            return false;
        }
        let finding = self.hasher.hash_one((id, &verdict.item, &verdict.detail));
        let count = verdict.changes.len();
        match self.changes.insert(finding, count) {
            Some(before) if before < count && self.only.get(&key) != Some(&None) => {
                self.only.insert(key, Some(self.hasher.hash_one(location)));
                true
            }
            Some(before) => {
                self.changes.insert(finding, before.max(count));
                false
            }
            None => false,
        }
    }

    /// The findings that a repair must leave out for this item at this location, because another
    /// finding covers them, another location repairs them, or no location does.
    pub(crate) fn findings_left_out_of_repair(
        &self,
        location: &ItemLocation,
        item: &Name,
    ) -> Vec<FindingId> {
        let mut excluded = Vec::new();
        for finding in FINDINGS.iter().filter(|finding| !finding.covers.is_empty()) {
            if self.overflowed || self.covering.contains(&self.overlap_key(finding.id, item)) {
                excluded.extend(finding.covers);
            }
        }
        if self.only.is_empty() {
            return excluded;
        }
        let single = |id: &FindingId| id.row().repair_at != RepairLocationChoice::AnyLocation;
        for id in FindingId::all().filter(single) {
            let Some(only) = self.only.get(&self.overlap_key(id, item)) else {
                continue;
            };
            if only.is_none_or(|only| only != self.hasher.hash_one(location)) {
                excluded.push(id);
            }
            if only.is_none() {
                // The job has a lock: a release would put the job into a set to run although it is running.
                excluded.push(FindingId::DependsOnNothing);
            }
        }
        excluded
    }

    fn overlap_key(&self, id: FindingId, item: &Name) -> u64 {
        self.hasher.hash_one((id, item))
    }
}
