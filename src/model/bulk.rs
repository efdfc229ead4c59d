//! The report of a bulk action: the outcome of each job, and the totals.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use strum::{EnumString, IntoStaticStr};

use super::field::Field;
use super::queue::Seconds;
use crate::name;
use crate::name::Name;

/// Maximum number of jobs in one call.
pub(crate) const MAX_JOBS_PER_CALL: usize = 500;

/// The outcome of one job, as the core's guarded calls report it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Code {
    Ok,
    /// The job differs from its snapshot, or its state forbids the change.
    StateChanged,
    /// The job does not exist.
    Gone,
    Complete,
    /// Another worker holds the job.
    NotHolder,
    /// Other jobs depend on the job.
    HasDependents,
    MissingDependency,
    Cycle,
    Exists,
    Invalid,
    /// The server refused the call.
    Server,
    /// The reply was lost.
    Unknown,
}

impl Code {
    /// Reads the code of a guarded call; its `done` is `ok` here.
    pub fn read(word: &[u8]) -> Option<Code> {
        match word {
            b"done" => Some(Code::Ok),
            _ => std::str::from_utf8(word).ok()?.parse().ok(),
        }
    }

    /// Returns how a job with this code is counted. A change by another client is not a failure.
    pub const fn result(self) -> ItemResult {
        match self {
            Code::Ok => ItemResult::Done,
            Code::StateChanged | Code::Gone | Code::Complete => ItemResult::Skipped,
            _ => ItemResult::Failed,
        }
    }
}

/// How a job is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ItemResult {
    Done,
    Skipped,
    Failed,
    /// In a dry run: the job would be tried.
    Planned,
}

/// The part of an outcome that its code does not say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemDetail {
    /// The job is in a state that forbids the change; `required` is the state that the change
    /// requires, if there is exactly one.
    State {
        is: Name,
        required: Option<&'static str>,
    },
    /// The end of a sentence that begins with "it is".
    Is(String),
    /// A clause, or any other text.
    Text(String),
}

impl ItemDetail {
    /// Returns the text in documents and report files.
    pub(crate) fn document(&self) -> String {
        match self {
            ItemDetail::Text(text) => text.clone(),
            _ => format!("it is {}", self.short()),
        }
    }

    /// Returns the text in a summary of several jobs: `depends, not running`.
    pub(crate) fn short(&self) -> String {
        match self {
            ItemDetail::State { is, required: None } => is.to_string(),
            ItemDetail::State {
                is,
                required: Some(required),
            } => format!("{is}, not {required}"),
            ItemDetail::Is(text) | ItemDetail::Text(text) => text.clone(),
        }
    }
}

/// Displays the text in an error about one job: ``its state is `depends`, not `running` ``.
impl fmt::Display for ItemDetail {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ItemDetail::State { is, required } => {
                write!(f, "its state is `{is}`")?;
                match required {
                    Some(required) => write!(f, ", not `{required}`"),
                    None => Ok(()),
                }
            }
            ItemDetail::Is(_) | ItemDetail::Text(_) => f.write_str(&self.document()),
        }
    }
}

impl From<String> for ItemDetail {
    fn from(text: String) -> ItemDetail {
        ItemDetail::Text(text)
    }
}

impl From<&str> for ItemDetail {
    fn from(text: &str) -> ItemDetail {
        ItemDetail::Text(text.into())
    }
}

/// One job of a bulk action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkItem {
    pub jid: Name,
    pub result: ItemResult,
    pub code: Code,
    /// The reason of a refusal, or further information.
    pub detail: Option<ItemDetail>,
    pub queue: Option<Name>,
    pub state_before: Option<Name>,
    pub state_after: Option<Name>,
    /// The line of the job in the file that was submitted.
    pub line: Option<u64>,
}

impl BulkItem {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::text("result", "done, skipped, failed or planned"),
        Field::text("code", "ok, or why not"),
        Field::text("detail", "why, in words").null(),
        Field::name("queue", "its queue").null(),
        Field::name("state_before", "its state when it was read").null(),
        Field::name("state_after", "its state now").null(),
        Field::count("line", "its line in the file: put --from").optional(),
    ];
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

    /// Returns the outcome of a job that a dry run would try.
    pub(crate) fn planned(jid: &Name) -> BulkItem {
        BulkItem {
            result: ItemResult::Planned,
            ..BulkItem::new(jid, Code::Ok)
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<ItemDetail>) -> BulkItem {
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
            result: ItemResult,
            code: Code,
            detail: Option<String>,
            #[serde(flatten, serialize_with = "name::queue")]
            queue: Option<Name>,
            state_before: &'a Option<Name>,
            state_after: &'a Option<Name>,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<u64>,
        }
        Fields {
            jid: self.jid.clone(),
            result: self.result,
            code: self.code,
            detail: self.detail.as_ref().map(ItemDetail::document),
            queue: self.queue.clone(),
            state_before: &self.state_before,
            state_after: &self.state_after,
            line: self.line,
        }
        .serialize(serializer)
    }
}

/// The totals of a bulk action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Totals {
    pub action: &'static str,
    pub dry_run: bool,
    /// The name of the context in use.
    pub context: Option<String>,
    pub matched: usize,
    pub done: usize,
    pub skipped: usize,
    pub failed: usize,
    /// Jobs that were not tried, because the action was interrupted or the server went away.
    pub remaining: usize,
    pub elapsed_s: Seconds,
}

impl Totals {
    /// Returns totals without any outcome.
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

    /// Sets the name of the context in use.
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

/// The document of a bulk action, and the rows of its table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct BulkReport {
    #[serde(flatten)]
    pub sum: Totals,
    pub items: Vec<BulkItem>,
    #[serde(skip)]
    pub row_content: RowContent,
    #[serde(skip)]
    pub rows: Vec<BulkRow>,
}

impl BulkReport {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("action", "the command"),
        Field::bool("dry_run", "true if nothing was changed"),
        Field::text("context", "the context that was used").null(),
        Field::count("matched", "jobs that were selected"),
        Field::count("done", "jobs that were changed"),
        Field::count(
            "skipped",
            "jobs that had changed meanwhile or no longer exist",
        ),
        Field::count("failed", "jobs that could not be changed"),
        Field::count("remaining", "jobs that were not tried"),
        Field::number("elapsed_s", "how long it took"),
        Field::object(
            "items",
            BulkItem::FIELDS,
            "the jobs that were skipped or failed; with -v, all",
        )
        .list(),
    ];
}

/// The rows that a table shows for a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowContent {
    Nothing,
    Jids,
    /// The old and the new priority of each job.
    Priorities,
    /// All tags of each job.
    Tags,
    /// How many retries each job has left.
    Remaining,
    /// The new state of each job.
    States,
    /// When the lock of each job expires.
    Expiries,
}

/// A row of that table: the jid, and the cells after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkRow {
    pub jid: Name,
    pub cells: Vec<Name>,
}
