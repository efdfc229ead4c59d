//! The documents of `qless check`: the result of a scan, of a repair, and the plan of a dry run.

pub(crate) mod text;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::finding::{ExampleForm, FindingId, FindingKind, RepairApproval, Severity};
use super::verdict::Verdict;
use crate::command_line::CommandLine;
use crate::json::Number;
use crate::name::Name;

/// The document of `qless check`, and of a repair with `--dry-run`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    #[serde(flatten)]
    pub scan: ScanSummary,
    /// One for each finding, the lines of ndjson
    pub items: Vec<ReportedFinding>,
    /// True if the repair was only simulated
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// With --repair --dry-run: the repairs that would be made, in order
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<FindingRepairCommands>>,
}

/// The extent of a scan, and its verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScanSummary {
    #[serde(flatten)]
    pub counts: ScanCounts,
    /// How long the scan took
    pub elapsed_s: Number,
    /// Whether everything was scanned
    pub complete: bool,
    /// Whether the scan is complete and no finding is at or above `fail_on`
    pub clean: bool,
    /// The lowest severity of finding for which the exit code is 7
    #[schemars(with = "String")]
    pub fail_on: Severity,
    /// Probable causes
    pub causes: Vec<String>,
}

/// How much a scan has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScanCounts {
    /// Keys scanned
    pub keys: u64,
    /// Keys of them that are jobs
    pub jobs: u64,
    /// Queues that exist, or that were given
    pub queues: u64,
}

/// A finding with its count and examples.
#[derive(Clone, Debug)]
pub(crate) struct ReportedFinding {
    pub finding: &'static FindingKind,
    pub severity: Severity,
    pub count: u64,
    /// Whether there may be more than `count`.
    pub at_least: bool,
    /// The number of items that `--repair` repairs.
    pub repairable: u64,
    /// The number of items that `--repair` repairs only if `--only` names the finding.
    pub needs_only: u64,
    /// The largest [number](Verdict::number) in the details of the items. `None` if they contain none.
    pub largest: Option<f64>,
    /// Without their changes.
    pub examples: Vec<Verdict>,
    /// What a repair did. `None` without `--repair`.
    pub repair: Option<RepairCounts>,
}

impl ReportedFinding {
    pub(crate) fn new(id: FindingId, severity: Severity) -> ReportedFinding {
        ReportedFinding {
            finding: id.row(),
            severity,
            count: 0,
            at_least: false,
            repairable: 0,
            needs_only: 0,
            largest: None,
            examples: Vec::new(),
            repair: None,
        }
    }

    pub(crate) fn repair_counts_or_zeros(&self) -> RepairCounts {
        self.repair.unwrap_or_default()
    }

    /// What the operator can do about the finding, with the commands. For a dependency cycle, the first choices are
    /// commands that each remove one dependency of the cycle.
    pub(crate) fn choices_with_commands(&self) -> Vec<String> {
        let choices = self
            .finding
            .choices
            .iter()
            .map(|choice| (*choice).to_owned());
        if self.finding.form != ExampleForm::Chain {
            return choices.collect();
        }
        let cuts = self.cycle_breaking_commands().into_iter();
        let cuts: Vec<String> = cuts.map(|cut| format!("break it here: `{cut}`")).collect();
        // These commands replace the first choice of the table, which has placeholders for the jids.
        let skipped = usize::from(!cuts.is_empty());
        cuts.into_iter().chain(choices.skip(skipped)).collect()
    }

    /// A command for each edge of the dependency cycles in the examples, which removes the edge. An edge has none
    /// if no shell can pass one of its jids, because it is empty or contains NUL.
    pub(crate) fn cycle_breaking_commands(&self) -> Vec<String> {
        let mut cuts = Vec::new();
        for Verdict { cycle, .. } in &self.examples {
            for (one, other) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                let cut = remove_edge_command(one, other).filter(|cut| !cuts.contains(cut));
                cuts.extend(cut);
            }
        }
        cuts
    }

    /// Adds an example and keeps the first `max_examples`, sorted by detail and item. So the examples do not depend on
    /// the order of the scan.
    pub(crate) fn add_sorted_example(&mut self, example: Verdict, max_examples: usize) {
        let before =
            |other: &Verdict| (&other.detail, &other.item) < (&example.detail, &example.item);
        let position = self.examples.partition_point(before);
        if position < max_examples {
            self.examples.insert(position, example);
            self.examples.truncate(max_examples);
        }
    }
}

/// The `qless depends --off` command that removes a dependency. `None` if a jid is empty or contains NUL.
fn remove_edge_command(dependent: &Name, dependency: &Name) -> Option<String> {
    let command = CommandLine::new("depends")
        .with_flag("--off", dependency)
        .with_name_argument(dependent);
    command.shell_line()
}

/// A finding in a document.
#[derive(Serialize, JsonSchema)]
struct FindingDocument<'a> {
    /// One of critical, error, warn or info
    #[schemars(with = "String")]
    severity: Severity,
    /// The kind of problem; names are stable and never used again
    finding: &'static str,
    /// How many items have the finding
    count: u64,
    /// Whether there may be more
    at_least: bool,
    /// The problem, in words
    problem: &'static str,
    /// The invariants of the core that it breaks
    invariants: Vec<String>,
    /// How many of these items --repair repairs
    #[serde(rename = "mends")]
    repairable: u64,
    /// How many of these items --repair repairs only if `--only` names the finding
    asks: u64,
    /// The possible decisions, with the command for each
    choices: Vec<String>,
    /// The first few
    examples: &'a [Verdict],
    #[serde(flatten)]
    repair: Option<RepairCounts>,
}

impl Serialize for ReportedFinding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        FindingDocument {
            severity: self.severity,
            finding: finding.id.into_str(),
            count: self.count,
            at_least: self.at_least,
            problem: finding.problem,
            invariants: finding.broken_invariant_names().collect(),
            repairable: self.repairable,
            asks: self.needs_only,
            choices: match finding.approval {
                RepairApproval::Automatic if self.repairable == self.count => Vec::new(),
                _ => self.choices_with_commands(),
            },
            examples: &self.examples,
            repair: self.repair,
        }
        .serialize(serializer)
    }
}

/// The schema of [`FindingDocument`], as which a finding is serialized.
impl JsonSchema for ReportedFinding {
    fn schema_name() -> Cow<'static, str> {
        "Found".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FindingDocument::json_schema(generator)
    }
}

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
    pub items: Vec<ReportedFinding>,
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

/// The repair of one finding, as `--dry-run` shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FindingRepairCommands {
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
