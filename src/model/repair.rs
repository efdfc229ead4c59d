//! The result of a repair.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::check::{Check, Found};
use super::field::Field;
use super::finding::FindingId;
use crate::name::Name;

/// The document of a repair.
#[derive(Clone, Debug)]
pub(crate) struct Repaired {
    /// The last scan; its findings are in `items`.
    pub check: Check,
    /// The name under which this repair sets keys aside; `None` if there was nothing to repair.
    pub run: Option<String>,
    pub totals: RepairCounts,
    pub items: Vec<Row>,
}

impl Serialize for Repaired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Repaired {
            check,
            run,
            totals,
            items,
        } = self;
        let mut doc = serializer.serialize_struct("repaired", 13)?;
        doc.serialize_field("keys", &check.keys)?;
        doc.serialize_field("jobs", &check.jobs)?;
        doc.serialize_field("queues", &check.queues)?;
        doc.serialize_field("elapsed_s", &check.elapsed_s)?;
        doc.serialize_field("complete", &check.complete)?;
        doc.serialize_field("clean", &check.clean)?;
        doc.serialize_field("fail_on", &check.fail_on)?;
        doc.serialize_field("causes", &check.causes)?;
        doc.serialize_field("run", run)?;
        doc.serialize_field("mended", &totals.repaired)?;
        doc.serialize_field("gone", &totals.gone)?;
        doc.serialize_field("refused", &totals.refused)?;
        doc.serialize_field("items", items)?;
        doc.end()
    }
}

/// How often a finding was repaired, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct RepairCounts {
    #[serde(rename = "mended")]
    pub repaired: u64,
    /// The scan found it, but it was no longer there when it was to be repaired.
    pub gone: u64,
    /// The server refused the repair.
    pub refused: u64,
}

/// A finding: the remaining count, and how many were repaired or not.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub found: Found,
    #[serde(flatten)]
    pub counts: RepairCounts,
}

impl From<Found> for Row {
    fn from(found: Found) -> Row {
        let counts = RepairCounts::default();
        Row { found, counts }
    }
}

impl RepairCounts {
    /// The field of [`RepairCounts::repaired`] in documents.
    pub(crate) const MENDED: Field =
        Field::count("mended", "with --repair: how many were repaired").optional();

    /// The field of [`RepairCounts::gone`] in documents.
    pub(crate) const GONE: Field = Field::count(
        "gone",
        "how many no longer existed when they were to be repaired",
    )
    .optional();

    /// The field of [`RepairCounts::refused`] in documents.
    pub(crate) const REFUSED: Field =
        Field::count("refused", "how many repairs the server refused").optional();

    pub(crate) fn add(&mut self, other: RepairCounts) {
        self.repaired += other.repaired;
        self.gone += other.gone;
        self.refused += other.refused;
    }
}

/// The planned repair of one finding: an item of `--dry-run`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Planned {
    pub finding: FindingId,
    pub item: Name,
    pub detail: Name,
    /// The commands of Redis that would repair it, as redis-cli accepts them.
    pub commands: Vec<String>,
}

impl Planned {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("finding", "the kind of problem"),
        Field::name("item", "the job, name or key"),
        Field::name("detail", "the problem with it"),
        Field::text("commands", "the Redis commands, as redis-cli takes them").list(),
    ];
}

/// The document of a repair with `--dry-run`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct RepairPlan {
    #[serde(flatten)]
    pub check: Check,
    pub dry_run: bool,
    pub plan: Vec<Planned>,
}
