//! The findings that a repair expects to repair. If the reply to a call is lost, the repeated call no longer finds what
//! the first call has repaired. From this set, the repair then counts these findings as repaired.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::Verdict;
use crate::name::Name;

/// Hashes of findings by id and item.
#[derive(Debug, Default)]
pub(crate) struct ExpectedRepairHashes {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl ExpectedRepairHashes {
    /// Adds the finding of a verdict whose item the scan queues for the repair.
    pub(crate) fn expect_repair_of(&mut self, verdict: &Verdict) {
        let hash = self.hasher.hash_one((verdict.id, &verdict.item));
        self.hashes.insert(hash);
    }

    /// Removes the expected findings about these items that a stage repairs, and returns each with its item.
    pub(crate) fn take_repairs_about(
        &mut self,
        stage: RepairStage,
        items: &[Name],
    ) -> Vec<(FindingId, Name)> {
        let mut found = Vec::new();
        for item in items {
            for id in FindingId::all().filter(|id| id.row().stage == stage) {
                if self.hashes.remove(&self.hasher.hash_one((id, item))) {
                    found.push((id, item.clone()));
                }
            }
        }
        found
    }
}
