//! What became of what a look found.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::check::{Check, Found};
use super::field::Field;
use crate::name;
use crate::name::Name;

/// The document of a repair.
#[derive(Clone, Debug)]
pub(crate) struct Repaired {
    /// What the last look walked; what it found is in the rows.
    pub check: Check,
    /// The name under which this repair has set aside whole keys; none if nothing was to be mended.
    pub run: Option<String>,
    pub sum: RepairCounts,
    pub items: Vec<Row>,
}

impl Serialize for Repaired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Repaired {
            check,
            run,
            sum,
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
        doc.serialize_field("mended", &sum.mended)?;
        doc.serialize_field("gone", &sum.gone)?;
        doc.serialize_field("refused", &sum.refused)?;
        doc.serialize_field("items", items)?;
        doc.end()
    }
}

/// What became of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct RepairCounts {
    pub mended: u64,
    /// It was found, and was no longer there when it was to be mended.
    pub gone: u64,
    /// The server did not take it.
    pub refused: u64,
}

/// A finding, as often as it is still there, and what became of it otherwise.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub found: Found,
    #[serde(flatten)]
    pub fate: RepairCounts,
}

impl From<Found> for Row {
    fn from(found: Found) -> Row {
        let fate = RepairCounts::default();
        Row { found, fate }
    }
}

impl RepairCounts {
    /// The field of [`RepairCounts::mended`] in documents.
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
        self.mended += other.mended;
        self.gone += other.gone;
        self.refused += other.refused;
    }
}

/// What a repair would do about one finding: an item of `--dry-run`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Planned {
    pub finding: String,
    #[serde(flatten, serialize_with = "name::item")]
    pub item: Name,
    #[serde(flatten, serialize_with = "name::detail")]
    pub detail: Name,
    /// The commands of Redis that would do it, as redis-cli takes them.
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

/// The document of a repair that only shows what it would do.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Rehearsed {
    #[serde(flatten)]
    pub check: Check,
    pub dry_run: bool,
    pub plan: Vec<Planned>,
}
