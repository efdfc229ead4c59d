//! The findings that a repair expects to meet. A repair whose reply was lost is sent again, and does
//! not find what the first call has repaired: this set has those findings.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::Verdict;
use crate::name::Name;

/// Findings by id and item.
#[derive(Debug, Default)]
pub(crate) struct ExpectedFindings {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl ExpectedFindings {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        let hash = self.hasher.hash_one((verdict.id, &verdict.item));
        self.hashes.insert(hash);
    }

    /// Removes the expected findings about these items in a stage, and returns each with its item.
    pub(crate) fn take_findings_about(
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
