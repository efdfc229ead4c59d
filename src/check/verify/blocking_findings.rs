//! Findings that block others: before a wrong index is repaired, no finding about its counter can be verified.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use super::bounded_set::SaturatingHashSet;
use super::finding_filter::FindingFilter;
use crate::model::finding::{FindingId, VerdictDetail};
use crate::model::verdict::Verdict;
use crate::name::Name;

/// The findings of a scan that block others.
#[derive(Debug, Default)]
pub(super) struct BlockingFindings {
    /// Tags with a wrong index: their counters are not compared with it.
    wrong_tags: SaturatingHashSet,
    /// Whether a failure list is wrong: no counter of failed jobs is compared with the lists.
    wrong_failure_lists: bool,
    /// Jobs with a dependency that only the other job lists: they are not released.
    one_sided: SaturatingHashSet,
    /// Findings that were not verified because their requirements are not reported.
    with_hidden_requirements: BTreeSet<FindingId>,
    hasher: RandomState,
}

impl BlockingFindings {
    /// Whether a finding cannot be verified before another one is repaired. If the options hide that
    /// other one, the finding is noted as unverified.
    pub(super) fn is_blocked(&mut self, verdict: &Verdict, filter: &FindingFilter) -> bool {
        let item = self.hasher.hash_one(&verdict.item);
        let is_blocked = match verdict.id {
            FindingId::TagCount => self.wrong_tags.may_contain(item),
            FindingId::FailedCounter => self.wrong_failure_lists,
            FindingId::DependsOnNothing => self.one_sided.may_contain(item),
            _ => false,
        };
        if is_blocked && filter.selects_finding(verdict.id) && filter.hides_requirements(verdict.id)
        {
            self.with_hidden_requirements.insert(verdict.id);
        }
        is_blocked
    }

    /// Notes a finding, if it blocks others.
    pub(super) fn note_if_blocking(&mut self, verdict: &Verdict) {
        match verdict.id {
            FindingId::TagIndex => self
                .wrong_tags
                .insert(self.hasher.hash_one(&verdict.detail)),
            FindingId::DependencyOneSided => self.note_one_sided_dependency(&verdict.item),
            id => {
                self.wrong_failure_lists |=
                    id.is_about_failure_list() || verdict.known_detail == VerdictDetail::InNoList;
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

    /// The findings that could not be verified, because one to repair first is not selected for the report.
    pub(super) fn findings_with_hidden_requirements(&self) -> Vec<FindingId> {
        self.with_hidden_requirements.iter().copied().collect()
    }
}
