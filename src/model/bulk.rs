//! What became of many jobs that one command changed: each outcome, and the sum.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::field::Field;
use super::queue::Seconds;
use crate::name;
use crate::name::Name;

/// The most jobs that one call takes.
pub(crate) const MOST: usize = 500;

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
    pub const fn result(self) -> Result {
        match self {
            Code::Ok => Result::Done,
            Code::StateChanged | Code::Gone | Code::Complete => Result::Skipped,
            _ => Result::Failed,
        }
    }
}

/// How a job is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Result {
    Done,
    Skipped,
    Failed,
    /// In a dry run: would be tried.
    Planned,
}

impl Result {
    pub const fn word(self) -> &'static str {
        match self {
            Result::Done => "done",
            Result::Skipped => "skipped",
            Result::Failed => "failed",
            Result::Planned => "planned",
        }
    }
}

/// One job of a bulk action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub jid: Name,
    pub result: Result,
    pub code: Code,
    /// Why, or what further there is to say.
    pub detail: Option<String>,
    pub queue: Option<Name>,
    pub state_before: Option<Name>,
    pub state_after: Option<Name>,
    /// Where it stands in the file that was submitted.
    pub line: Option<u64>,
}

impl Item {
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

impl Item {
    /// Returns the outcome of a job.
    pub(crate) fn new(jid: &Name, code: Code) -> Item {
        Item {
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
    pub(crate) fn planned(jid: &Name) -> Item {
        Item {
            result: Result::Planned,
            ..Item::new(jid, Code::Ok)
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Item {
        self.detail = Some(detail.into());
        self
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
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
pub(crate) struct Sum {
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

impl Sum {
    /// Nothing so far.
    pub(crate) fn of(action: &'static str, dry_run: bool, matched: usize) -> Sum {
        Sum {
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
    pub(crate) fn within(self, context: Option<&str>) -> Sum {
        Sum {
            context: context.map(str::to_owned),
            ..self
        }
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
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
pub(crate) struct Bulk {
    #[serde(flatten)]
    pub sum: Sum,
    pub items: Vec<Item>,
    #[serde(skip)]
    pub shows: Shows,
    #[serde(skip)]
    pub rows: Vec<Row>,
}

impl Bulk {
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
            Item::FIELDS,
            "the jobs that were skipped or failed; with -v, all",
        )
        .list(),
    ];
}

/// What a table shows of each job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
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
pub(crate) struct Row {
    pub jid: Name,
    pub cells: Vec<Name>,
}
