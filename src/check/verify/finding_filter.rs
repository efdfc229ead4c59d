//! The findings that `--only` and `--skip` select, and the list of them that the core receives.

use std::collections::HashSet;
use std::sync::Arc;

use crate::args::value;
use crate::command_line::CommandLine;
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
pub(super) fn exclude_failure_list_searches_if_jobs(
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

/// The findings that `--only` and `--skip` select.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FindingFilter {
    /// Only these findings; `all` means every one
    #[arg(long, value_name = "FINDING", value_delimiter = ',', hide_possible_values = true,
          value_parser = value::finding_id(true))]
    only: Vec<String>,
    /// All findings except these
    #[arg(long, value_name = "FINDING", value_delimiter = ',', hide_possible_values = true,
          value_parser = value::finding_id(false))]
    skip: Vec<String>,
    /// The jobs from which this repair removed a missing dependency. The filter also selects their release.
    #[arg(skip)]
    freed: Arc<HashSet<Name>>,
}

/// When the core verifies findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerifyPhase {
    DuringScan,
    /// After a complete scan.
    AfterScan,
}

impl FindingFilter {
    /// Adds `--only` and `--skip` to a command line.
    pub(crate) fn add_flags_to(&self, mut command: CommandLine) -> CommandLine {
        for (flag, names) in [("--only", &self.only), ("--skip", &self.skip)] {
            if !names.is_empty() {
                command = command.with_flag(flag, names.join(","));
            }
        }
        command
    }

    /// A copy of the filter that also selects the release of these jobs.
    pub(crate) fn also_selecting_releases_of(&self, freed: HashSet<Name>) -> FindingFilter {
        FindingFilter {
            freed: Arc::new(freed),
            ..self.clone()
        }
    }

    /// Whether a finding is reported.
    pub(crate) fn selects_finding(&self, id: FindingId) -> bool {
        let frees = id == FindingId::DependsOnNothing && !self.freed.is_empty();
        (self.selects_for_all_items(id) || frees) && !has_name(&self.skip, id)
    }

    /// Whether a finding of an undo file is selected. A name that this version of `qless` does not know is selected only
    /// if no finding is excluded.
    pub(crate) fn selects_finding_by_name(&self, name: &str) -> bool {
        match FindingId::from_name(name) {
            Some(id) => self.selects_finding(id),
            None => !self.excludes_any_finding(),
        }
    }

    /// Whether this finding is reported about this item.
    pub(crate) fn selects_for_item(&self, id: FindingId, item: &Name) -> bool {
        self.selects_finding(id) && (self.selects_for_all_items(id) || self.freed.contains(item))
    }

    fn selects_for_all_items(&self, id: FindingId) -> bool {
        self.only.is_empty() || self.names_all() || has_name(&self.only, id)
    }

    /// Whether `--only` names `all`.
    fn names_all(&self) -> bool {
        self.only.iter().any(|name| name == "all")
    }

    /// Whether any finding is not reported.
    pub(crate) fn excludes_any_finding(&self) -> bool {
        !self.names_all() && !self.only.is_empty() || !self.skip.is_empty()
    }

    /// Whether this finding can be verified only after other findings are repaired, and the filter selects none of them.
    pub(crate) fn hides_all_required_findings(&self, id: FindingId) -> bool {
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

    /// The list of the findings to repair in a stage about items of a kind, except the `excluded` ones, as text for the
    /// core; `None` if there are none.
    pub(crate) fn finding_list_to_repair(
        &self,
        stage: RepairStage,
        kind: ItemKind,
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
        let findings = match stage {
            RepairStage::Keys | RepairStage::Edges => in_stages(&[stage]),
            RepairStage::Entries => in_stages(&[RepairStage::Keys, RepairStage::Entries]),
            RepairStage::Counts => self.finding_list(VerifyPhase::AfterScan, true, include),
        };
        findings.map(|findings| exclude_failure_list_searches_if_jobs(findings, kind))
    }

    /// Whether the repair of a finding deletes keys and lacks an approval: `--only` has to name the finding itself, not
    /// `all`.
    fn lacks_deletion_approval(&self, finding: &FindingKind) -> bool {
        finding.approval == RepairApproval::Typed && !has_name(&self.only, finding.id)
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
        let by_name = phase == VerifyPhase::AfterScan || for_repair && !self.only.is_empty();
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

fn has_name(names: &[String], id: FindingId) -> bool {
    names.iter().any(|name| name == id.into_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(id: FindingId) -> FindingFilter {
        FindingFilter {
            only: vec![id.to_string()],
            ..FindingFilter::default()
        }
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
            filter.finding_list_to_repair(RepairStage::Entries, ItemKind::Tag, &[]),
            None
        );
        assert_eq!(
            filter
                .finding_list_to_repair(RepairStage::Counts, ItemKind::Tag, &[])
                .unwrap(),
            "tag-count"
        );
    }

    #[test]
    fn the_first_stage_repairs_keys_only() {
        let repair = FindingFilter::default()
            .finding_list_to_repair(RepairStage::Keys, ItemKind::Key, &[])
            .unwrap();
        assert!(repair.contains("-ghost-waiting"), "{repair}");
        assert!(!repair.contains("-job-stub"), "{repair}");
    }
}
