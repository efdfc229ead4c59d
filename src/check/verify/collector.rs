//! The findings of a scan: each is counted once, with a bounded number of examples.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::model::check::{FindingExample, ReportedFinding};
use crate::model::finding::{FindingId, Severity};
use crate::model::verdict::{Repairability, Verdict};
use crate::name::Name;

/// Maximum number of findings remembered, so that the report counts none twice (10 MB). If there are more, the report
/// says `at least` before the counts.
const MAX_REPORTED: usize = 900_000;

/// The findings so far.
#[derive(Debug)]
pub(crate) struct FindingCollector {
    found: Vec<ReportedFinding>,
    /// Hashes of the findings that were counted.
    reported: HashSet<u64>,
    hasher: RandomState,
    max_examples: usize,
}

impl FindingCollector {
    pub(crate) fn new(max_examples: usize) -> FindingCollector {
        FindingCollector {
            found: Vec::new(),
            reported: HashSet::new(),
            hasher: RandomState::new(),
            max_examples,
        }
    }

    /// The findings, the worst and most frequent first.
    pub(crate) fn into_sorted_findings(mut self) -> Vec<ReportedFinding> {
        self.found.retain(|found| found.count > 0);
        self.found.sort_by(|one, other| {
            let by_severity = other.severity.cmp(&one.severity);
            by_severity
                .then(other.count.cmp(&one.count))
                .then(one.finding.id.into_str().cmp(other.finding.id.into_str()))
        });
        self.found
    }

    /// Whether a finding with this detail was counted.
    pub(crate) fn has_reported(&self, id: FindingId, item: &Name, detail: &Name) -> bool {
        self.reported
            .contains(&self.finding_key(id, item, Some(detail)))
    }

    /// Notes a verdict, and withdraws the counted findings that its finding covers. Returns whether the verdict is to
    /// count: its finding was not counted before, and no counted finding covers it.
    pub(crate) fn note_if_new_and_withdraw_covered(&mut self, verdict: &Verdict) -> bool {
        let (finding, item) = (verdict.id.row(), &verdict.item);
        let detail = finding.by_detail.then_some(&verdict.detail);
        let own = self.finding_key(finding.id, item, detail);
        if self.reported.contains(&own) {
            return false;
        }
        let covering = finding.id.covered_by();
        if covering.is_some_and(|id| self.reported.contains(&self.finding_key(id, item, None))) {
            return false;
        }
        for id in finding.covers {
            if self.reported.remove(&self.finding_key(*id, item, None)) {
                self.withdraw_covered(*id, item);
            }
        }
        if self.reported.len() < MAX_REPORTED {
            self.reported.insert(own);
            if !finding.covers.is_empty() {
                self.reported
                    .insert(self.finding_key(finding.id, item, None));
            }
            return true;
        }
        // The collector is full and cannot tell whether the finding is new: its count becomes `at least`.
        let mut first = true;
        for found in self.findings_with_id(finding.id) {
            found.at_least = true;
            first = false;
        }
        first
    }

    pub(crate) fn count_finding(&mut self, severity: Severity, verdict: &Verdict) {
        let fits =
            |found: &ReportedFinding| found.finding.id == verdict.id && found.severity == severity;
        let at = match self.found.iter().position(fits) {
            Some(at) => at,
            None => {
                self.found.push(ReportedFinding::new(verdict.id, severity));
                self.found.len() - 1
            }
        };
        let found = &mut self.found[at];
        found.count += 1;
        if found.largest < verdict.number {
            found.largest = verdict.number;
        }
        match verdict.outcome {
            Repairability::Repairable | Repairability::Repaired => found.repairable += 1,
            Repairability::NeedsOnly => found.needs_only += 1,
            Repairability::Report => {}
        }
        found.add_sorted_example(FindingExample::from(verdict), self.max_examples);
    }

    /// Replaces the example for the verdict's item if the verdict has a larger number. So a recurring job with a wrong
    /// count is reported once, with the largest number among its jobs.
    pub(crate) fn keep_example_with_largest_number(&mut self, verdict: &Verdict) {
        for example in self
            .findings_with_id(verdict.id)
            .flat_map(|found| &mut found.examples)
        {
            if example.item == verdict.item && example.number < verdict.number {
                *example = FindingExample::from(verdict);
            }
        }
    }

    /// Removes a finding about an item from the counts and the examples, because another finding covers it.
    fn withdraw_covered(&mut self, id: FindingId, item: &Name) {
        for found in self.findings_with_id(id) {
            found.count = found.count.saturating_sub(1);
            found.repairable = found.repairable.min(found.count);
            found.needs_only = found.needs_only.min(found.count);
            found.examples.retain(|example| example.item != *item);
        }
    }

    /// The rows collected so far for a finding, one for each severity with which it was found.
    fn findings_with_id(&mut self, id: FindingId) -> impl Iterator<Item = &mut ReportedFinding> {
        self.found
            .iter_mut()
            .filter(move |found| found.finding.id == id)
    }

    fn finding_key(&self, id: FindingId, item: &Name, detail: Option<&Name>) -> u64 {
        self.hasher.hash_one((id, item, detail))
    }
}
