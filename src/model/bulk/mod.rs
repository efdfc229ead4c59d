//! The report of a bulk action: the outcome of each job, and the totals.

pub(crate) mod text;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::job_snapshot::JobSnapshot;
use super::queue::RoundedSeconds;
use crate::error::{Error, JobChangeRefusal, Kind};
use crate::name::Name;

/// Maximum number of jobs that one call of a command of the core changes or returns.
pub(crate) const MAX_JOBS_PER_CALL: usize = 500;

/// The reason reported for a job if nothing shows its outcome.
pub(crate) const LOST: &str = "the reply was lost; the change may or may not have happened";

/// The outcome of the change of one job. The core's guards report most of them: calls that change a job only if its
/// mark is still the one that was read.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum OutcomeCode {
    #[serde(rename(deserialize = "done"))]
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

impl OutcomeCode {
    /// Whether a job with this outcome counts as done, skipped or failed. A job that another client changed is skipped.
    pub const fn item_result(self) -> ItemResult {
        match self {
            OutcomeCode::Ok => ItemResult::Done,
            OutcomeCode::StateChanged | OutcomeCode::Gone | OutcomeCode::Complete => {
                ItemResult::Skipped
            }
            _ => ItemResult::Failed,
        }
    }

    /// The kind of error for the outcome of a job, if only this job was named.
    pub(crate) const fn error_kind(self) -> Kind {
        match self {
            OutcomeCode::Gone | OutcomeCode::MissingDependency => Kind::NotFound,
            OutcomeCode::Invalid | OutcomeCode::Ok => Kind::Error,
            OutcomeCode::Server => Kind::Server,
            OutcomeCode::Unknown => Kind::OutcomeUnknown,
            OutcomeCode::StateChanged
            | OutcomeCode::Complete
            | OutcomeCode::NotHolder
            | OutcomeCode::HasDependents
            | OutcomeCode::Cycle
            | OutcomeCode::Exists => Kind::Conflict,
        }
    }
}

/// The total of a bulk action in which a job counts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ItemResult {
    Done,
    Skipped,
    Failed,
    /// In a dry run: the action would try to change the job.
    Planned,
}

/// What an outcome says beyond its code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub(crate) enum OutcomeDetail {
    /// The job is in a state that forbids the change. `required` is the state that the change
    /// requires, if there is exactly one.
    State {
        is: Name,
        required: Option<&'static str>,
    },
    /// A text about the job that is shown after "it is".
    Is(String),
    /// A text that is shown as it is.
    Text(String),
    /// A text that names the jobs that cause the refusal. A summary counts the jobs by the reason, which names none.
    Caused { reason: &'static str, text: String },
}

impl OutcomeDetail {
    /// The detail in documents and report files: `it is depends, not running`.
    pub(crate) fn detail_for_documents(&self) -> String {
        match self {
            OutcomeDetail::Text(text) | OutcomeDetail::Caused { text, .. } => text.clone(),
            _ => format!("it is {}", self.shared_reason_text()),
        }
    }

    /// The detail in a summary of several jobs: `depends, not running`.
    pub(crate) fn shared_reason_text(&self) -> String {
        match self {
            OutcomeDetail::State { is, required: None } => is.to_string(),
            OutcomeDetail::State {
                is,
                required: Some(required),
            } => format!("{is}, not {required}"),
            OutcomeDetail::Is(text) | OutcomeDetail::Text(text) => text.clone(),
            OutcomeDetail::Caused { reason, .. } => (*reason).to_owned(),
        }
    }
}

/// Displays the detail in an error about one job: ``its state is `depends`, not `running` ``.
impl fmt::Display for OutcomeDetail {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            OutcomeDetail::State { is, required } => {
                write!(f, "its state is `{is}`")?;
                match required {
                    Some(required) => write!(f, ", not `{required}`"),
                    None => Ok(()),
                }
            }
            _ => f.write_str(&self.detail_for_documents()),
        }
    }
}

impl From<OutcomeDetail> for String {
    fn from(detail: OutcomeDetail) -> String {
        detail.detail_for_documents()
    }
}

impl From<String> for OutcomeDetail {
    fn from(text: String) -> OutcomeDetail {
        OutcomeDetail::Text(text)
    }
}

impl From<&str> for OutcomeDetail {
    fn from(text: &str) -> OutcomeDetail {
        OutcomeDetail::Text(text.into())
    }
}

/// One job of a bulk action.
// The doc comment is in the document. The fields that serde skips are for the text of the report.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct JobOutcome {
    /// The job's id
    pub jid: Name,
    /// One of done, skipped, failed or planned
    #[schemars(with = "String")]
    pub result: ItemResult,
    /// `ok`, or why not
    #[schemars(with = "String")]
    pub code: OutcomeCode,
    /// Why, in words
    #[schemars(with = "Option<String>")]
    pub detail: Option<OutcomeDetail>,
    /// The job's queue
    pub queue: Option<Name>,
    /// The job's state when it was read
    pub state_before: Option<Name>,
    /// The job's state now
    pub state_after: Option<Name>,
    /// The job's line in the file: put --from
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The next step after a refusal.
    #[serde(skip)]
    pub hint: Option<String>,
    /// The cells of the table's row after the jid.
    #[serde(skip)]
    pub cells: Vec<Name>,
    /// The reply that `qless-core` would give to its command of this name, for `-o raw`.
    #[serde(skip)]
    pub raw: Vec<u8>,
    /// On which worker, and for how long, the job ran until it was cancelled.
    #[serde(skip)]
    pub running_on: Option<String>,
    /// Whether the job itself was not given, but was changed because it depends on a given job.
    #[serde(skip)]
    pub cascaded: bool,
    /// Whether the job needed no change, because it already was as the command would leave it.
    #[serde(skip)]
    pub as_asked: bool,
}

impl JobOutcome {
    pub(crate) fn new(jid: &Name, code: OutcomeCode) -> JobOutcome {
        JobOutcome {
            jid: jid.clone(),
            result: code.item_result(),
            code,
            detail: None,
            queue: None,
            state_before: None,
            state_after: None,
            line: None,
            hint: None,
            cells: Vec::new(),
            raw: Vec::new(),
            running_on: None,
            cascaded: false,
            as_asked: false,
        }
    }

    /// The outcome of a job that was not changed. `why` ends a sentence about the job.
    pub(crate) fn refused(
        jid: &Name,
        code: OutcomeCode,
        why: impl Into<OutcomeDetail>,
    ) -> JobOutcome {
        JobOutcome {
            detail: Some(why.into()),
            ..JobOutcome::new(jid, code)
        }
    }

    /// The outcome of a job that was changed.
    pub(crate) fn done(jid: &Name) -> JobOutcome {
        JobOutcome::new(jid, OutcomeCode::Ok)
    }

    /// The outcome of a job that a dry run would change.
    pub(crate) fn planned(job: &JobSnapshot) -> JobOutcome {
        JobOutcome {
            result: ItemResult::Planned,
            ..JobOutcome::done(&job.jid).with_snapshot(job)
        }
    }

    /// The outcome of a job that does not exist.
    pub(crate) fn gone(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, OutcomeCode::Gone, "it does not exist")
    }

    /// The outcome of a complete job, which cannot be changed.
    pub(crate) fn already_complete(jid: &Name) -> JobOutcome {
        JobOutcome::refused(
            jid,
            OutcomeCode::Complete,
            OutcomeDetail::Is("complete".into()),
        )
    }

    /// The outcome of a job that another client changed since its snapshot.
    pub(crate) fn changed_meanwhile(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, OutcomeCode::StateChanged, "it changed meanwhile")
    }

    /// The outcome of a job whose state forbids the change; `required` is the state that
    /// the change requires, if there is exactly one.
    pub(crate) fn wrong_state(
        jid: &Name,
        is: impl Into<Name>,
        required: Option<&'static str>,
    ) -> JobOutcome {
        let is = is.into();
        JobOutcome::refused(
            jid,
            OutcomeCode::StateChanged,
            OutcomeDetail::State { is, required },
        )
    }

    /// The outcome of a job that another worker holds.
    pub(crate) fn held_by_other(jid: &Name, worker: &Name) -> JobOutcome {
        let why = OutcomeDetail::Is(format!("held by `{worker}`"));
        JobOutcome::refused(jid, OutcomeCode::NotHolder, why)
            .hint("`--as-holder` acts as the worker that holds the job")
    }

    /// The outcome of a job for an error by which the core refused its call; `None` for any other error.
    pub(crate) fn from_refusal(jid: &Name, error: &Error) -> Option<JobOutcome> {
        let why = match error.refusal_of(jid)? {
            JobChangeRefusal::Gone => return Some(JobOutcome::gone(jid)),
            JobChangeRefusal::Holder(worker) => {
                return Some(JobOutcome::held_by_other(jid, worker));
            }
            JobChangeRefusal::State(None) => OutcomeDetail::Is("not running".into()),
            JobChangeRefusal::State(Some(state)) => OutcomeDetail::State {
                is: state.clone(),
                required: None,
            },
            JobChangeRefusal::Queue(queue) => format!("it runs in `{queue}`").into(),
        };
        Some(JobOutcome::refused(jid, OutcomeCode::StateChanged, why))
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> JobOutcome {
        self.hint_if(Some(hint.into()))
    }

    /// Adds a hint, if there is one.
    pub(crate) fn hint_if(mut self, hint: Option<String>) -> JobOutcome {
        self.hint = hint.or(self.hint);
        self
    }

    pub(crate) fn with_state_after(mut self, state: &str) -> JobOutcome {
        self.state_after = Some(state.into());
        self
    }

    pub(crate) fn with_cells(mut self, cells: impl IntoIterator<Item = Name>) -> JobOutcome {
        self.cells = cells.into_iter().collect();
        self
    }

    pub(crate) fn with_raw_reply(mut self, raw: impl Into<Vec<u8>>) -> JobOutcome {
        self.raw = raw.into();
        self
    }

    /// Sets whether the job already was as the command would leave it.
    pub(crate) fn with_already_as_asked(mut self, as_asked: bool) -> JobOutcome {
        self.as_asked = as_asked;
        self
    }

    /// If an error is the core's refusal to change this job, turns it into an error with the words of bulk commands.
    pub(crate) fn refusal_or_error(jid: &Name, verb: &str, error: Error) -> Error {
        match JobOutcome::from_refusal(jid, &error) {
            Some(outcome) => outcome.to_error(verb),
            None => error,
        }
    }

    /// The refusal of a job as the error of a command that named only this job.
    pub(crate) fn to_error(&self, verb: &str) -> Error {
        let jid = &self.jid;
        let message = match (self.code, &self.detail) {
            (OutcomeCode::Gone, _) => format!("job `{jid}` does not exist"),
            (_, Some(why)) => format!("cannot {verb} `{jid}`: {why}"),
            (code, None) => format!("cannot {verb} `{jid}`: {}", code.into_str()),
        };
        let error = Error::new(self.code.error_kind(), message).about_jid(jid);
        match &self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// The outcome of a job whose call ended in an error.
    pub(crate) fn of_failed_call(job: &JobSnapshot, error: &Error) -> JobOutcome {
        let (code, why) = match error.kind() {
            Kind::OutcomeUnknown => (OutcomeCode::Unknown, LOST.into()),
            _ => (OutcomeCode::Server, error.message()),
        };
        JobOutcome::refused(&job.jid, code, &*why).with_snapshot(job)
    }

    /// Sets the queue and the state that the job had before the change.
    pub(crate) fn with_snapshot(mut self, job: &JobSnapshot) -> JobOutcome {
        self.queue = job.queue.clone();
        self.state_before = Some(job.state.clone()).filter(|state| !state.is_empty());
        self
    }
}

/// The totals of a bulk action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BulkTotals {
    /// The command
    pub action: &'static str,
    /// True if nothing was changed
    pub dry_run: bool,
    /// The context that was used
    pub context: Option<String>,
    /// Jobs that were selected
    pub matched: usize,
    /// Jobs that were changed
    pub done: usize,
    /// Jobs that changed after they were read, or no longer exist
    pub skipped: usize,
    /// Jobs that could not be changed
    pub failed: usize,
    /// Jobs that were not tried
    pub remaining: usize,
    /// How long the command took
    pub elapsed_s: RoundedSeconds,
}

impl BulkTotals {
    /// Totals without any outcome.
    pub(crate) fn new(action: &'static str, dry_run: bool, matched: usize) -> BulkTotals {
        BulkTotals {
            action,
            dry_run,
            matched,
            ..BulkTotals::default()
        }
    }

    /// Sets the name of the context in use.
    pub(crate) fn in_context(self, context: Option<&str>) -> BulkTotals {
        BulkTotals {
            context: context.map(str::to_owned),
            ..self
        }
    }
}

/// The document of a bulk action, and the rows of its table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BulkReport {
    #[serde(flatten)]
    pub sum: BulkTotals,
    /// The jobs that were skipped or failed; with -v, all
    pub items: Vec<JobOutcome>,
    #[serde(skip)]
    pub table_columns: BulkTableColumns,
    #[serde(skip)]
    pub rows: Vec<BulkRow>,
}

/// Whether a bulk command has a table, and which columns follow the jid in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BulkTableColumns {
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

/// A row of the table of a bulk action: the jid, and the cells after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkRow {
    pub jid: Name,
    pub cells: Vec<Name>,
}

/// The words of a bulk command for its plan, question, report and documents, and the form of its table.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The document's `action`, as on the command line: `retry`.
    pub word: &'static str,
    /// The verb in plans and questions: `time out`.
    pub infinitive: &'static str,
    /// The verb in reports: `retried`.
    pub past: &'static str,
    /// The words before the jid in the report about one job, instead of `past`. Then the report does not name the queue
    /// and the state of the job.
    pub of_one: Option<&'static str>,
    pub table_columns: BulkTableColumns,
    /// Whether `-o raw` shows the core's reply for each job.
    pub raw: bool,
}

impl Verb {
    /// A verb without a table and without `-o raw`.
    pub(crate) const fn new(
        word: &'static str,
        infinitive: &'static str,
        past: &'static str,
    ) -> Verb {
        Verb {
            word,
            infinitive,
            past,
            of_one: None,
            table_columns: BulkTableColumns::Nothing,
            raw: false,
        }
    }

    pub(crate) const fn with_table(self, table_columns: BulkTableColumns) -> Verb {
        Verb {
            table_columns,
            ..self
        }
    }

    pub(crate) const fn with_raw_replies(self) -> Verb {
        Verb { raw: true, ..self }
    }
}
