//! What became of many jobs that one command changed: each outcome, and the sum.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::queue::Seconds;
use crate::name;
use crate::name::Name;

/// The most jobs that one call takes.
pub(crate) const MAX_JOBS_PER_CALL: usize = 500;

/// What became of one job, as the core's guarded calls say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    Ok,
    /// It is not as it was seen, or its state forbids it.
    StateChanged,
    /// There is no such job.
    Gone,
    Complete,
    /// Another worker holds it.
    NotHolder,
    /// Other jobs wait for it.
    HasDependents,
    MissingDependency,
    Cycle,
    Exists,
    Invalid,
    /// The server refused the call.
    Server,
    /// The answer was lost.
    Unknown,
}

impl Code {
    /// All codes, for reading one.
    const ALL: [Code; 12] = [
        Code::Ok,
        Code::StateChanged,
        Code::Gone,
        Code::Complete,
        Code::NotHolder,
        Code::HasDependents,
        Code::MissingDependency,
        Code::Cycle,
        Code::Exists,
        Code::Invalid,
        Code::Server,
        Code::Unknown,
    ];

    /// Returns the word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Code::Ok => "ok",
            Code::StateChanged => "state_changed",
            Code::Gone => "gone",
            Code::Complete => "complete",
            Code::NotHolder => "not_holder",
            Code::HasDependents => "has_dependents",
            Code::MissingDependency => "missing_dependency",
            Code::Cycle => "cycle",
            Code::Exists => "exists",
            Code::Invalid => "invalid",
            Code::Server => "server",
            Code::Unknown => "unknown",
        }
    }

    /// Reads the word of a guarded call; its `done` is `ok` here.
    pub fn read(word: &[u8]) -> Option<Code> {
        match word {
            b"done" => Some(Code::Ok),
            _ => Code::ALL
                .into_iter()
                .find(|code| code.word().as_bytes() == word),
        }
    }

    /// Returns how such a job is counted: what changed meanwhile is no failure.
    pub const fn result(self) -> ItemResult {
        match self {
            Code::Ok => ItemResult::Done,
            Code::StateChanged | Code::Gone | Code::Complete => ItemResult::Skipped,
            _ => ItemResult::Failed,
        }
    }
}

/// How a job is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemResult {
    Done,
    Skipped,
    Failed,
    /// In a dry run: would be tried.
    Planned,
}

impl ItemResult {
    pub const fn word(self) -> &'static str {
        match self {
            ItemResult::Done => "done",
            ItemResult::Skipped => "skipped",
            ItemResult::Failed => "failed",
            ItemResult::Planned => "planned",
        }
    }
}

/// One job of a bulk action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkItem {
    pub jid: Name,
    pub result: ItemResult,
    pub code: Code,
    /// Why, or what further there is to say.
    pub detail: Option<String>,
    pub queue: Option<Name>,
    pub state_before: Option<Name>,
    pub state_after: Option<Name>,
    /// Where it stands in the file that was submitted.
    pub line: Option<u64>,
}

impl BulkItem {
    /// Returns the outcome of a job.
    pub(crate) fn new(jid: &Name, code: Code) -> BulkItem {
        BulkItem {
            jid: jid.clone(),
            result: code.result(),
            code,
            detail: None,
            queue: None,
            state_before: None,
            state_after: None,
            line: None,
        }
    }

    /// Returns a job that would be tried.
    pub(crate) fn planned(jid: &Name) -> BulkItem {
        BulkItem {
            result: ItemResult::Planned,
            ..BulkItem::new(jid, Code::Ok)
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> BulkItem {
        self.detail = Some(detail.into());
        self
    }
}

impl Serialize for BulkItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            #[serde(flatten, serialize_with = "name::jid")]
            jid: Name,
            result: &'static str,
            code: &'static str,
            detail: &'a Option<String>,
            #[serde(flatten, serialize_with = "name::queue")]
            queue: Option<Name>,
            state_before: &'a Option<Name>,
            state_after: &'a Option<Name>,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<u64>,
        }
        Fields {
            jid: self.jid.clone(),
            result: self.result.word(),
            code: self.code.word(),
            detail: &self.detail,
            queue: self.queue.clone(),
            state_before: &self.state_before,
            state_after: &self.state_after,
            line: self.line,
        }
        .serialize(serializer)
    }
}

/// The sum of a bulk action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Totals {
    pub action: &'static str,
    pub dry_run: bool,
    /// The settings by name.
    pub context: Option<String>,
    pub matched: usize,
    pub done: usize,
    pub skipped: usize,
    pub failed: usize,
    /// Not tried, because the action was interrupted or the server went away.
    pub remaining: usize,
    pub elapsed_s: Seconds,
}

impl Totals {
    /// Nothing so far.
    pub(crate) fn of(action: &'static str, dry_run: bool, matched: usize) -> Totals {
        Totals {
            action,
            dry_run,
            context: None,
            matched,
            done: 0,
            skipped: 0,
            failed: 0,
            remaining: 0,
            elapsed_s: Seconds(0.0),
        }
    }

    /// Says which settings hold.
    pub(crate) fn within(self, context: Option<&str>) -> Totals {
        Totals {
            context: context.map(str::to_owned),
            ..self
        }
    }
}

impl Serialize for Totals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut doc = serializer.serialize_struct("sum", 9)?;
        doc.serialize_field("action", self.action)?;
        doc.serialize_field("dry_run", &self.dry_run)?;
        doc.serialize_field("context", &self.context)?;
        doc.serialize_field("matched", &self.matched)?;
        doc.serialize_field("done", &self.done)?;
        doc.serialize_field("skipped", &self.skipped)?;
        doc.serialize_field("failed", &self.failed)?;
        doc.serialize_field("remaining", &self.remaining)?;
        doc.serialize_field("elapsed_s", &self.elapsed_s)?;
        doc.end()
    }
}

/// The document of a bulk action, and its table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BulkReport {
    #[serde(flatten)]
    pub sum: Totals,
    pub items: Vec<BulkItem>,
    #[serde(skip)]
    pub shows: RowContent,
    #[serde(skip)]
    pub rows: Vec<BulkRow>,
}

/// What a table shows of each job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowContent {
    Nothing,
    Jids,
    /// The old and the new priority.
    Priorities,
    /// All its tags.
    Tags,
    /// How many tries it has left.
    Left,
}

/// A job in that table, with what is shown besides the jid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkRow {
    pub jid: Name,
    pub cells: Vec<Name>,
}
