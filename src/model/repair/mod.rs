//! The documents of `qless check --repair`: its result, and the plan of a dry run.

pub(crate) mod text;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{CheckReport, ReportedFinding, ScanSummary};
use super::finding::FindingId;
use crate::name::Name;

/// The document of a repair.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RepairReport {
    /// The last scan; its findings are in `items`.
    #[serde(flatten)]
    pub scan: ScanSummary,
    /// With --repair: the name under which whole keys were set aside; null if nothing was repaired
    #[serde(rename = "run")]
    pub run_name: Option<String>,
    #[serde(flatten)]
    pub totals: RepairCounts,
    /// One for each finding, the lines of ndjson
    pub items: Vec<RepairRow>,
}

/// How often a finding was repaired, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RepairCounts {
    /// With --repair: how many were repaired
    #[serde(rename = "mended")]
    pub repaired: u64,
    /// How many no longer existed when they were to be repaired
    pub gone: u64,
    /// How many repairs the server refused
    pub refused: u64,
}

/// A finding: the remaining count, and how many were repaired or not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RepairRow {
    #[serde(flatten)]
    pub found: ReportedFinding,
    #[serde(flatten)]
    pub counts: RepairCounts,
}

impl From<ReportedFinding> for RepairRow {
    fn from(found: ReportedFinding) -> RepairRow {
        let counts = RepairCounts::default();
        RepairRow { found, counts }
    }
}

impl RepairCounts {
    pub(crate) fn add_counts(&mut self, other: RepairCounts) {
        self.repaired += other.repaired;
        self.gone += other.gone;
        self.refused += other.refused;
    }
}

/// The planned repair of one finding: an item of `--dry-run`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PlannedItemRepair {
    /// The kind of problem
    #[schemars(with = "String")]
    pub finding: FindingId,
    /// The job, name or key
    pub item: Name,
    /// The problem with it
    pub detail: Name,
    /// The Redis commands, as redis-cli takes them
    pub commands: Vec<String>,
}

/// The document of a repair with `--dry-run`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RepairPlan {
    #[serde(flatten)]
    pub check: CheckReport,
    /// True if the repair was only simulated
    pub dry_run: bool,
    /// With --repair --dry-run: the repairs that would be made, in order
    pub plan: Vec<PlannedItemRepair>,
}
