//! A job of a bulk action: as it was just before the change, and the outcome.

pub(crate) mod report;

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub(crate) use self::report::{BulkReport, BulkTableColumns, BulkTableRow, BulkTotals, Verb};
use super::job::Job;
use crate::clock::moment::Moment;
use crate::error::{Error, JobChangeRefusal, Kind};
use crate::name::Name;

/// Maximum number of jobs that one call of a command of the core changes or returns.
pub(crate) const MAX_JOBS_PER_CALL: usize = 500;

/// A job as it was when `qless` read it: the fields that a write depends on, and the mark that shows whether the job has
/// changed since. A plan may hold a million snapshots, so fields that many jobs share are stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSnapshot {
    pub jid: Name,
    /// The mark of the job. The call that writes compares it with the present mark, and leaves a job that has changed.
    pub mark: Box<[u8]>,
    pub common: Arc<SharedJobFields>,
    pub since: Option<Moment>,
    /// When a scheduled job is due. For a job in state `depends`, when it is due if all dependencies are complete by
    /// then.
    pub due: Option<Moment>,
    /// The delay of this job after the first one, if an operator spreads the starts of the jobs over a time.
    pub later: Duration,
}

/// Fields that many jobs share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedJobFields {
    /// The stored state.
    pub stored: Name,
    /// The state that `qless` shows: `stalled` for a running job whose lock has expired, else the stored state.
    pub state: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    /// The worker that holds the job. For a stalled job, the worker that lost its lock.
    pub worker: Option<Name>,
    pub priority: Option<Name>,
    /// The retries of a fresh run.
    pub retries: Option<Name>,
    /// The group of the last failure.
    pub group: Option<Name>,
}

/// Stores equal fields once.
#[derive(Debug, Default)]
pub struct FieldInterner(HashSet<Arc<SharedJobFields>>);

impl FieldInterner {
    /// The stored copy of equal fields. If there is none, stores these.
    pub fn intern(&mut self, fields: SharedJobFields) -> Arc<SharedJobFields> {
        if let Some(shared) = self.0.get(&fields) {
            return shared.clone();
        }
        let fields = Arc::new(fields);
        self.0.insert(fields.clone());
        fields
    }
}

impl Deref for JobSnapshot {
    type Target = SharedJobFields;

    fn deref(&self) -> &SharedJobFields {
        &self.common
    }
}

impl JobSnapshot {
    pub fn has_stored_state(&self, state: &str) -> bool {
        self.stored.as_bytes() == state.as_bytes()
    }

    pub fn has_failed_in_group(&self, group: &Name) -> bool {
        self.has_stored_state("failed") && self.group.as_ref() == Some(group)
    }

    pub fn from_job(job: Job, interner: &mut FieldInterner) -> JobSnapshot {
        let since = job.unchanged_since();
        let stored = job.state_stored.unwrap_or_default();
        let common = SharedJobFields {
            state: job
                .state
                .map_or(stored.clone(), |state| state.into_str().into()),
            stored,
            queue: job.queue,
            worker: job.worker,
            priority: job.priority.map(|priority| priority.to_string().into()),
            retries: job.retries.map(|retries| retries.to_string().into()),
            group: job.failure.map(|failure| failure.group),
        };
        JobSnapshot {
            jid: job.jid,
            mark: job.mark.into(),
            common: interner.intern(common),
            since,
            due: job.scheduled_for,
            later: Duration::ZERO,
        }
    }
}

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
            _ => format!("it is {}", self.reason_text_for_summary()),
        }
    }

    /// The detail in a summary of several jobs: `depends, not running`.
    pub(crate) fn reason_text_for_summary(&self) -> String {
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
        Error::new(self.code.error_kind(), message)
            .about_jid(jid)
            .hint_if(self.hint.clone())
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
