//! The result of a scan.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::field::Field;
use super::finding::{Approval, Finding, FindingId, Form, Severity};
use super::repair::{Planned, RepairCounts};
use super::verdict::Verdict;
use crate::command_line::CommandLine;
use crate::json::Number;
use crate::name;
use crate::name::Name;

/// The document of `qless check`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Check {
    pub keys: u64,
    pub jobs: u64,
    pub queues: u64,
    pub elapsed_s: Number,
    /// Whether everything was scanned.
    pub complete: bool,
    /// Whether the scan was complete and found nothing at or above `fail_on`.
    pub clean: bool,
    pub fail_on: Severity,
    /// Likely causes of the findings.
    pub causes: Vec<String>,
    pub items: Vec<Found>,
}

/// A finding with its count and examples.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub finding: &'static Finding,
    pub severity: Severity,
    pub count: u64,
    /// Whether there may be more than `count`.
    pub at_least: bool,
    /// How many a repair would repair.
    pub repairable: u64,
    /// How many more it would repair if `--only` names the finding.
    pub needs_only: u64,
    /// The largest number in its details, if these decide something.
    pub largest: Option<f64>,
    pub examples: Vec<Example>,
}

/// One item of a finding.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Example {
    #[serde(flatten, serialize_with = "name::item")]
    pub item: Name,
    #[serde(flatten, serialize_with = "name::detail")]
    pub detail: Name,
    #[serde(skip)]
    pub number: Option<f64>,
    /// See [`Verdict::cycle`].
    #[serde(skip)]
    pub cycle: Vec<Name>,
}

impl From<&Verdict> for Example {
    fn from(verdict: &Verdict) -> Example {
        Example {
            number: verdict.number,
            cycle: verdict.cycle.clone(),
            ..Example::new(verdict.item.clone(), verdict.detail.clone())
        }
    }
}

impl Example {
    pub(crate) fn new(item: Name, detail: Name) -> Example {
        Example {
            item,
            detail,
            number: None,
            cycle: Vec::new(),
        }
    }

    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("item", "the job, name or key"),
        Field::name("detail", "the problem with it"),
    ];
}

impl Check {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
    Field::count("keys", "keys scanned"),
    Field::count("jobs", "keys of them that are jobs"),
    Field::count("queues", "queues that exist, or that were given"),
    Field::number("elapsed_s", "how long the scan took"),
    Field::bool("complete", "whether everything was scanned"),
    Field::bool("clean", "whether the scan is complete and no finding is at or above `fail_on`"),
    Field::text("fail_on", "the lowest severity of finding for which the exit code is 7"),
    Field::text("causes", "probable causes").list(),
    Field::text("run", "with --repair: the name under which whole keys were set aside; null if nothing was repaired").null().optional(),
    RepairCounts::MENDED,
    RepairCounts::GONE,
    RepairCounts::REFUSED,
    Field::bool("dry_run", "true if the repair was only simulated").optional(),
    Field::object("plan", Planned::FIELDS, "with --repair --dry-run: the repairs that would be made, in order").list().optional(),
    ];
}

impl Found {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("severity", "critical, error, warn or info"),
        Field::text(
            "finding",
            "the kind of problem; names are stable and never used again",
        ),
        Field::count("count", "how many there are"),
        Field::bool("at_least", "whether there may be more"),
        Field::text("problem", "the problem, in words"),
        Field::text("invariants", "the invariants of the core that it breaks").list(),
        Field::count("mends", "how many of them --repair repairs"),
        Field::count(
            "asks",
            "how many of them --repair repairs only if `--only` names the finding",
        ),
        Field::text(
            "choices",
            "the possible decisions, with the command for each",
        )
        .list(),
        Field::object("examples", Example::FIELDS, "the first few").list(),
        RepairCounts::MENDED,
        RepairCounts::GONE,
        RepairCounts::REFUSED,
    ];
}

impl Found {
    pub(crate) fn new(id: FindingId, severity: Severity) -> Found {
        Found {
            finding: id.row(),
            severity,
            count: 0,
            at_least: false,
            repairable: 0,
            needs_only: 0,
            largest: None,
            examples: Vec::new(),
        }
    }

    /// Returns what you can decide, with the command for each choice: for a dependency cycle, a
    /// command for each edge of the examples.
    pub(crate) fn choices(&self) -> Vec<String> {
        let choices = self
            .finding
            .choices
            .iter()
            .map(|choice| (*choice).to_owned());
        if self.finding.form != Form::Chain {
            return choices.collect();
        }
        let cuts = self.cuts().into_iter();
        let cuts: Vec<String> = cuts.map(|cut| format!("break it here: `{cut}`")).collect();
        // The first choice of the table is the same command without job names.
        let skipped = usize::from(!cuts.is_empty());
        cuts.into_iter().chain(choices.skip(skipped)).collect()
    }

    /// Returns a command for each edge of a dependency cycle that removes it, if it can be typed.
    pub(crate) fn cuts(&self) -> Vec<String> {
        let mut cuts = Vec::new();
        for Example { cycle, .. } in &self.examples {
            for (one, other) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                let cut = cut(one, other).filter(|cut| !cuts.contains(cut));
                cuts.extend(cut);
            }
        }
        cuts
    }

    /// Adds an example if it is among the first `most` in order, so that the examples do not depend
    /// on the order of the scan.
    pub(crate) fn add_example(&mut self, example: Example, most: usize) {
        let before =
            |other: &Example| (&other.detail, &other.item) < (&example.detail, &example.item);
        let position = self.examples.partition_point(before);
        if position < most {
            self.examples.insert(position, example);
            self.examples.truncate(most);
        }
    }
}

/// Returns the command that removes a dependency, if it can be typed.
fn cut(one: &Name, other: &Name) -> Option<String> {
    let command = CommandLine::new("depends").value("--off", other).name(one);
    command.line()
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        let invariants: Vec<String> = finding.invariants().collect();
        let choices = match finding.approval {
            Approval::Automatic if self.repairable == self.count => Vec::new(),
            _ => self.choices(),
        };
        let mut doc = serializer.serialize_struct("found", 10)?;
        doc.serialize_field("severity", &self.severity)?;
        doc.serialize_field("finding", finding.name)?;
        doc.serialize_field("count", &self.count)?;
        doc.serialize_field("at_least", &self.at_least)?;
        doc.serialize_field("problem", finding.problem)?;
        doc.serialize_field("invariants", &invariants)?;
        doc.serialize_field("mends", &self.repairable)?;
        doc.serialize_field("asks", &self.needs_only)?;
        doc.serialize_field("choices", &choices)?;
        doc.serialize_field("examples", &self.examples)?;
        doc.end()
    }
}
