//! Findings that block others: for example, the core cannot verify a counter before its index is repaired.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::finding_filter::FindingFilter;
use crate::model::finding::{DecisiveDetail, FindingId};
use crate::model::verdict::Verdict;
use crate::name::Name;

/// The findings of a scan that block others.
#[derive(Debug, Default)]
pub(super) struct BlockingFindings {
    /// Hashes of the tags whose index is wrong. They block findings about the counters of these tags.
    wrong_tags: SaturatingHashSet,
    /// Whether any failure list is wrong. This blocks all findings about counters of failed jobs.
    wrong_failure_lists: bool,
    /// Hashes of the jobs with a dependency that only the other job lists. No repair releases these jobs.
    one_sided: SaturatingHashSet,
    /// Findings that were blocked by findings which the options leave out of the report.
    with_hidden_requirements: BTreeSet<FindingId>,
    hasher: RandomState,
}

impl BlockingFindings {
    /// Whether a finding cannot be verified before a repair of another finding. If the options leave that other
    /// finding out of the report, notes the blocked finding as unverified.
    pub(super) fn cannot_be_verified_yet(
        &mut self,
        verdict: &Verdict,
        filter: &FindingFilter,
    ) -> bool {
        let item = self.hasher.hash_one(&verdict.item);
        let cannot_be_verified_yet = match verdict.id {
            FindingId::TagCount => self.wrong_tags.may_contain(item),
            FindingId::FailedCounter => self.wrong_failure_lists,
            FindingId::DependsOnNothing => self.one_sided.may_contain(item),
            _ => false,
        };
        if cannot_be_verified_yet
            && filter.selects_finding(verdict.id)
            && filter.hides_requirements(verdict.id)
        {
            self.with_hidden_requirements.insert(verdict.id);
        }
        cannot_be_verified_yet
    }

    /// Notes a finding, if it blocks others.
    pub(super) fn note_if_blocking(&mut self, verdict: &Verdict) {
        match verdict.id {
            FindingId::TagIndex => self
                .wrong_tags
                .insert(self.hasher.hash_one(&verdict.detail)),
            FindingId::DependencyOneSided => self.note_one_sided_dependency(&verdict.item),
            id => {
                self.wrong_failure_lists |= id.is_about_failure_list()
                    || verdict.decisive_detail() == DecisiveDetail::InNoList;
            }
        }
    }

    /// Notes a job with a dependency that only the other job lists.
    pub(super) fn note_one_sided_dependency(&mut self, jid: &Name) {
        self.one_sided.insert(self.hasher.hash_one(jid));
    }

    /// Notes that any job may have a dependency that only the other job lists.
    pub(super) fn note_unreadable_dependents(&mut self) {
        self.one_sided.insert_every_hash();
    }

    /// The findings that could not be verified, because a finding that has to be repaired first is not selected.
    pub(super) fn findings_blocked_by_unselected(&self) -> Vec<FindingId> {
        self.with_hidden_requirements.iter().copied().collect()
    }
}

/// Maximum number of hashes that a set remembers.
const MAX_HASHES: usize = 100_000;

/// A set of hashes that counts as containing every hash, once more than [`MAX_HASHES`] were added.
#[derive(Debug, Default)]
struct SaturatingHashSet {
    hashes: HashSet<u64>,
    overflowed: bool,
}

impl SaturatingHashSet {
    fn insert(&mut self, hash: u64) {
        if self.hashes.len() < MAX_HASHES {
            _ = self.hashes.insert(hash)
        } else {
            self.overflowed = true
        }
    }

    /// From now on, the set counts as containing every hash.
    fn insert_every_hash(&mut self) {
        self.overflowed = true;
    }

    fn may_contain(&self, hash: u64) -> bool {
        self.overflowed || self.hashes.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_set_may_contain_everything() {
        let mut set = SaturatingHashSet::default();
        set.insert(7);
        assert!(set.may_contain(7) && !set.may_contain(8));
        (0..=MAX_HASHES as u64).for_each(|hash| set.insert(hash));
        assert!(set.may_contain(u64::MAX));
    }
}
