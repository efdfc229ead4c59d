//! The findings that `--only` and `--skip` select, and the list of them that the core receives.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::finding::{FINDINGS, FindingId, FindingKind, RepairApproval, RepairStage};
use crate::model::verdict::ItemKind;
use crate::name::Name;

/// Findings for whose verdict the core searches failure lists. So the failed jobs of a group are verified together.
const LIST_SEARCHING_FINDINGS: [FindingId; 3] = [
    FindingId::FailedStray,
    FindingId::FailedUnlisted,
    FindingId::FailedTwice,
];

/// Excludes findings from the list that a call passes to the core. If the items are jobs, these are the findings for
/// which the core would search failure lists. For other kinds of items, the list stays as it is.
pub(crate) fn exclude_failure_list_searches_if_jobs(
    mut findings: String,
    kind: ItemKind,
) -> String {
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
    /// Whether `--only` names `all`.
    names_all: bool,
    /// The findings that `--only` names.
    only: Vec<FindingId>,
    skip: Vec<FindingId>,
    /// The jobs from which this repair removed a missing dependency. The filter also selects their release.
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
    /// The filter of the values of `--only` and `--skip`.
    pub(crate) fn from_args(only: &[String], skip: &[String]) -> FindingFilter {
        let ids = |names: &[String]| {
            let ids = names.iter().filter_map(|name| FindingId::from_name(name));
            ids.collect()
        };
        FindingFilter {
            names_all: only.iter().any(|name| name == "all"),
            only: ids(only),
            skip: ids(skip),
            freed: Rc::default(),
        }
    }

    /// A copy of the filter that also selects the release of these jobs.
    pub(crate) fn also_selecting_releases_of(&self, freed: HashSet<Name>) -> FindingFilter {
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
        self.names_all || self.only.is_empty() || self.only.contains(&id)
    }

    /// Whether any finding is not reported.
    pub(crate) fn excludes_any_finding(&self) -> bool {
        !self.names_all && !self.only.is_empty() || !self.skip.is_empty()
    }

    /// Whether this finding requires a repair of other findings first, and the filter selects none of those.
    pub(crate) fn hides_requirements(&self, id: FindingId) -> bool {
        let requires = id.row().requires;
        !requires.is_empty() && !requires.iter().any(|id| self.selects_finding(*id))
    }

    /// The list of the findings to scan for, as text for the core; `None` if there are none. `for_repair` says that a
    /// repair follows: then `--only` approves the repair of the findings that it names.
    pub(crate) fn finding_list_to_scan(
        &self,
        phase: VerifyPhase,
        for_repair: bool,
    ) -> Option<String> {
        let include = |finding: &FindingKind| {
            let mut selected = FINDINGS
                .iter()
                .filter(|other| self.selects_finding(other.id));
            let needed = selected.any(|other| other.requires.contains(&finding.id))
                || finding.covers.iter().any(|id| self.selects_finding(*id));
            self.selects_finding(finding.id) || phase == VerifyPhase::DuringScan && needed
        };
        self.finding_list(phase, for_repair, include)
    }

    /// The list of the findings to repair in a stage, except the `excluded` ones, as text for the core; `None` if there
    /// are none.
    pub(crate) fn finding_list_to_repair(
        &self,
        stage: RepairStage,
        excluded: &[FindingId],
    ) -> Option<String> {
        let include = |finding: &FindingKind| {
            self.selects_finding(finding.id) && !excluded.contains(&finding.id)
        };
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

    /// Whether the repair of a finding deletes keys and lacks an approval: `--only` has to name the finding itself, not
    /// `all`.
    fn lacks_deletion_approval(&self, finding: &FindingKind) -> bool {
        finding.approval == RepairApproval::Typed && !self.only.contains(&finding.id)
    }

    fn finding_list(
        &self,
        phase: VerifyPhase,
        for_repair: bool,
        include: impl Fn(&FindingKind) -> bool,
    ) -> Option<String> {
        // The core verifies the findings of the last stage after the scan. They require a complete scan, or the absence
        // of other findings. None of them requires an approval.
        let deferred = |finding: &FindingKind| finding.stage == RepairStage::Counts;
        let names_any = self.names_all || !self.only.is_empty();
        let by_name = phase == VerifyPhase::AfterScan || for_repair && names_any;
        let is_in_phase = |finding: &&FindingKind| match phase {
            VerifyPhase::DuringScan if by_name && self.lacks_deletion_approval(finding) => false,
            VerifyPhase::DuringScan => include(finding) && !deferred(finding),
            // Both phases report items that the core cannot verify.
            VerifyPhase::AfterScan => {
                include(finding) && (deferred(finding) || finding.id == FindingId::NotJudged)
            }
        };
        let (named, others): (Vec<&FindingKind>, Vec<&FindingKind>) =
            FINDINGS.iter().partition(is_in_phase);
        let some = |finding: &&FindingKind| {
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
        FindingFilter::from_args(&[id.to_string()], &[])
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
    fn the_first_stage_repairs_keys_only() {
        let repair = FindingFilter::default()
            .finding_list_to_repair(RepairStage::Keys, &[])
            .unwrap();
        assert!(repair.contains("-ghost-waiting"), "{repair}");
        assert!(!repair.contains("-job-stub"), "{repair}");
    }
}
