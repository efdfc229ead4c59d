//! Findings that several locations report, or that cover each other: which of them is reported, and
//! where it is repaired.
//!
//! The set of an unlisted queue and the list of an unlisted failure group are seen only by a verdict
//! about them: a verdict about the job takes its entry for lost, or sees less of it. So a repair
//! leaves such a finding to the location that sees most of it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::model::finding::{FINDINGS, FindingId, LocationChoice};
use crate::model::verdict::{Location, RepairStatus, Verdict};
use crate::name::Name;

/// Maximum number of items remembered (10 MB). More than that wait for the next round.
const MAX_ITEMS: usize = 100_000;

/// The overlapping findings of a scan.
#[derive(Debug, Default)]
pub(crate) struct OverlappingFindings {
    hasher: RandomState,
    /// Findings that cover others, by id and item.
    covering: HashSet<u64>,
    /// The number of changes of a finding, by id, item and detail.
    changes: HashMap<u64, usize>,
    /// The only location that repairs a finding, by id and item; `None` if no location does.
    only: HashMap<u64, Option<u64>>,
    /// Whether more findings cover others than are remembered.
    overflowed: bool,
}

impl OverlappingFindings {
    /// Notes a verdict that a repair may act on. Returns whether it changes more than the verdict
    /// of another location did.
    pub(crate) fn replaces_earlier(&mut self, location: &Location, verdict: &Verdict) -> bool {
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
        if repair_at == LocationChoice::AnyLocation
            || self.changes.len().max(self.only.len()) >= MAX_ITEMS
        {
            return false;
        }
        if verdict.outcome != RepairStatus::Repairable {
            if repair_at == LocationChoice::LargestUnlessLocked {
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
    pub(crate) fn findings_to_exclude(&self, location: &Location, item: &Name) -> Vec<FindingId> {
        let mut excluded = Vec::new();
        for finding in FINDINGS.iter().filter(|finding| !finding.covers.is_empty()) {
            if self.overflowed || self.covering.contains(&self.overlap_key(finding.id, item)) {
                excluded.extend(finding.covers);
            }
        }
        if self.only.is_empty() {
            return excluded;
        }
        let single = |id: &FindingId| id.row().repair_at != LocationChoice::AnyLocation;
        for id in FindingId::all().filter(single) {
            let Some(only) = self.only.get(&self.overlap_key(id, item)) else {
                continue;
            };
            if only.is_none_or(|only| only != self.hasher.hash_one(location)) {
                excluded.push(id);
            }
            if only.is_none() {
                // The job has a lock: a release would put it into a set although it is running.
                excluded.push(FindingId::DependsOnNothing);
            }
        }
        excluded
    }

    fn overlap_key(&self, id: FindingId, item: &Name) -> u64 {
        self.hasher.hash_one((id, item))
    }
}
