//! The findings that `--only` and `--skip` select, and the list of them that the core receives.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::finding::{Approval, FINDINGS, Finding, FindingId, RepairStage};
use crate::model::verdict::ItemKind;
use crate::name::Name;

/// A value of `--only`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FindingSelection {
    All,
    One(FindingId),
}

/// Findings whose verdict searches failure lists. They are verified for the failed jobs of a group together.
const LIST_SEARCHING_FINDINGS: [FindingId; 3] = [
    FindingId::FailedStray,
    FindingId::FailedUnlisted,
    FindingId::FailedTwice,
];

/// Completes the text that tells the core which findings to verify for items of a kind. For jobs, it leaves out the
/// findings whose verdict has to search failure lists.
pub(crate) fn findings_argument(mut findings: String, kind: ItemKind) -> String {
    if kind == ItemKind::Job {
        for id in LIST_SEARCHING_FINDINGS {
            let comma = if findings.is_empty() { "" } else { "," };
            findings.push_str(&format!("{comma}-{id}"));
        }
    }
    findings
}

/// The selected findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindingFilter {
    only: Vec<FindingSelection>,
    skip: Vec<FindingId>,
    /// The jobs whose missing dependency this repair has removed: their release is selected, too.
    freed: Rc<HashSet<Name>>,
}

/// When the core verifies findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerifyPhase {
    DuringScan,
    /// After a complete scan.
    AfterScan,
}

impl FindingFilter {
    pub(crate) fn new(only: Vec<FindingSelection>, skip: Vec<FindingId>) -> FindingFilter {
        FindingFilter {
            only,
            skip,
            freed: Rc::default(),
        }
    }

    /// A copy of the filter that also selects the release of these jobs.
    pub(crate) fn with_releases_of(&self, freed: HashSet<Name>) -> FindingFilter {
        FindingFilter {
            freed: Rc::new(freed),
            ..self.clone()
        }
    }

    /// Whether a finding is reported.
    pub(crate) fn selects_finding(&self, id: FindingId) -> bool {
        let frees = id == FindingId::DependsOnNothing && !self.freed.is_empty();
        (self.selects_for_all_items(id) || frees) && !self.skip.contains(&id)
    }

    /// Whether this finding is reported about this item.
    pub(crate) fn selects_for_item(&self, id: FindingId, item: &Name) -> bool {
        self.selects_finding(id) && (self.selects_for_all_items(id) || self.freed.contains(item))
    }

    fn selects_for_all_items(&self, id: FindingId) -> bool {
        self.only.is_empty() || self.is_named_by_only(id)
    }

    /// Whether any finding is not reported.
    pub(crate) fn excludes_any_finding(&self) -> bool {
        let all = self.only.is_empty()
            || self
                .only
                .iter()
                .any(|selection| matches!(selection, FindingSelection::All));
        !all || !self.skip.is_empty()
    }

    /// Whether the filter selects none of the findings that have to be absent before this one can be verified.
    pub(crate) fn hides_requirements(&self, id: FindingId) -> bool {
        let requires = id.row().requires;
        !requires.is_empty() && !requires.iter().any(|id| self.selects_finding(*id))
    }

    /// Whether `--only` names a finding, which approves its repair.
    fn is_named_by_only(&self, id: FindingId) -> bool {
        self.only.iter().any(|selection| match selection {
            FindingSelection::All => true,
            FindingSelection::One(one) => *one == id,
        })
    }

    /// The findings to scan for, in the form for the core; `None` if there are none.
    /// `for_repair`: a repair follows, so `--only` approves the findings that it names.
    pub(crate) fn finding_list_to_scan(
        &self,
        phase: VerifyPhase,
        for_repair: bool,
    ) -> Option<String> {
        let include = |finding: &Finding| {
            let mut selected = FINDINGS
                .iter()
                .filter(|other| self.selects_finding(other.id));
            let needed = selected.any(|other| other.requires.contains(&finding.id))
                || finding.covers.iter().any(|id| self.selects_finding(*id));
            self.selects_finding(finding.id) || phase == VerifyPhase::DuringScan && needed
        };
        self.finding_list(phase, for_repair, include)
    }

    /// The findings to repair in a stage, except the `excluded` ones, in the form for the
    /// core; `None` if there are none.
    pub(crate) fn finding_list_to_repair(
        &self,
        stage: RepairStage,
        excluded: &[FindingId],
    ) -> Option<String> {
        let include =
            |finding: &Finding| self.selects_finding(finding.id) && !excluded.contains(&finding.id);
        let in_stages = |stages: &[RepairStage]| {
            self.finding_list(VerifyPhase::DuringScan, true, |finding| {
                include(finding) && stages.contains(&finding.stage)
            })
        };
        match stage {
            RepairStage::Keys | RepairStage::Edges => in_stages(&[stage]),
            RepairStage::Entries => in_stages(&[RepairStage::Keys, RepairStage::Entries]),
            RepairStage::Counts => self.finding_list(VerifyPhase::AfterScan, true, include),
        }
    }

    /// Whether the repair of a finding deletes keys, and `--only` does not name the finding: `all` does not approve
    /// it.
    fn lacks_deletion_approval(&self, finding: &Finding) -> bool {
        let named = |selection: &FindingSelection| matches!(selection, FindingSelection::One(one) if *one == finding.id);
        finding.approval == Approval::Typed && !self.only.iter().any(named)
    }

    fn finding_list(
        &self,
        phase: VerifyPhase,
        for_repair: bool,
        include: impl Fn(&Finding) -> bool,
    ) -> Option<String> {
        // Only a complete scan can verify the findings of this stage, or they require that other findings are absent.
        // None of them requires an approval.
        let deferred = |finding: &Finding| finding.stage == RepairStage::Counts;
        let by_name = phase == VerifyPhase::AfterScan || for_repair && !self.only.is_empty();
        let is_in_phase = |finding: &&Finding| match phase {
            VerifyPhase::DuringScan if by_name && self.lacks_deletion_approval(finding) => false,
            VerifyPhase::DuringScan => include(finding) && !deferred(finding),
            // Items that cannot be verified are reported in both phases.
            VerifyPhase::AfterScan => {
                include(finding) && (deferred(finding) || finding.id == FindingId::NotJudged)
            }
        };
        let (named, others): (Vec<&Finding>, Vec<&Finding>) =
            FINDINGS.iter().partition(is_in_phase);
        let some = |finding: &&Finding| {
            finding.id != FindingId::NotJudged || phase == VerifyPhase::DuringScan
        };
        if !named.iter().any(some) {
            return None;
        }
        let names: Vec<String> = if by_name {
            named.iter().map(|of| of.id.to_string()).collect()
        } else {
            others.iter().map(|of| format!("-{}", of.id)).collect()
        };
        Some(names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(id: FindingId) -> FindingFilter {
        FindingFilter::new(vec![FindingSelection::One(id)], Vec::new())
    }

    #[test]
    fn findings_that_require_a_complete_scan_are_deferred() {
        let all = FindingFilter::default();
        assert_eq!(
            all.finding_list_to_scan(VerifyPhase::DuringScan, false)
                .unwrap(),
            "-depends-on-nothing,-failed-counter,-tag-count"
        );
        assert_eq!(
            all.finding_list_to_scan(VerifyPhase::AfterScan, false)
                .unwrap(),
            "depends-on-nothing,failed-counter,tag-count,not-judged"
        );
    }

    #[test]
    fn a_scan_without_repair_approves_nothing() {
        let filter = only(FindingId::DependencyMissing);
        let scan = filter
            .finding_list_to_scan(VerifyPhase::DuringScan, false)
            .unwrap();
        assert!(scan.starts_with("-ghost-waiting,-"), "{scan}");
        assert!(!scan.contains("-dependency-missing"), "{scan}");
        assert_eq!(
            filter
                .finding_list_to_scan(VerifyPhase::DuringScan, true)
                .unwrap(),
            "dependency-missing"
        );
        assert_eq!(
            filter.finding_list_to_scan(VerifyPhase::AfterScan, true),
            None
        );
    }

    #[test]
    fn requirements_of_a_finding_are_scanned_but_not_repaired() {
        let filter = only(FindingId::TagCount);
        assert_eq!(
            filter
                .finding_list_to_scan(VerifyPhase::DuringScan, true)
                .unwrap(),
            "tag-index"
        );
        assert_eq!(
            filter.finding_list_to_repair(RepairStage::Entries, &[]),
            None
        );
        assert_eq!(
            filter
                .finding_list_to_repair(RepairStage::Counts, &[])
                .unwrap(),
            "tag-count"
        );
    }

    #[test]
    fn a_deletion_requires_that_only_names_the_finding_itself() {
        let all = FindingFilter::new(vec![FindingSelection::All], Vec::new());
        let repair = all
            .finding_list_to_repair(RepairStage::Entries, &[])
            .unwrap();
        assert!(!repair.contains("lost-key"), "{repair}");
        assert!(repair.contains("dependency-missing"), "{repair}");
        let one = only(FindingId::LostKey);
        assert_eq!(
            one.finding_list_to_repair(RepairStage::Entries, &[])
                .unwrap(),
            "lost-key"
        );
        assert_eq!(one.finding_list_to_repair(RepairStage::Keys, &[]), None);
        // A scan reports it in any case.
        let scan = all
            .finding_list_to_scan(VerifyPhase::DuringScan, false)
            .unwrap();
        assert!(!scan.contains("-lost-key"), "{scan}");
    }

    #[test]
    fn the_first_stage_repairs_keys_only() {
        let repair = FindingFilter::default()
            .finding_list_to_repair(RepairStage::Keys, &[])
            .unwrap();
        assert!(repair.contains("-ghost-waiting"), "{repair}");
        assert!(!repair.contains("-job-stub"), "{repair}");
    }
}
