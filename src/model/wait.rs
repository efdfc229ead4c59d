//! The document of `qless wait`: how the wait for each job ended.

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::job::State;
use super::queue::RoundedSeconds;
use crate::error::Kind;
use crate::name::Name;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::{NdjsonLines, RenderOptions, View};

/// How the wait for one job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(into = "&'static str")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum JobWaitResult {
    /// The wait for the job has not ended.
    #[default]
    Pending,
    /// The job reached the awaited state.
    #[strum(transparent)]
    Reached(State),
    /// The job completed or failed, and that is not the awaited state.
    #[strum(transparent)]
    Ended(State),
    /// A client cancelled the job during the wait.
    Cancelled,
    /// The job does not exist: it was cancelled, or it completed and has expired.
    Gone,
}

/// Why the whole wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(into = "&'static str")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum WaitOutcome {
    /// The jobs reached the awaited state.
    #[strum(transparent)]
    Reached(State),
    /// A job can no longer reach the awaited state.
    #[strum(transparent)]
    Ended(JobWaitResult),
    Deadline,
    /// A signal, as the kind of its error.
    #[strum(transparent)]
    Interrupted(Kind),
}

/// A job that was waited for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct WaitItem {
    /// The job's id
    pub jid: Name,
    /// The job's state when it was last read; null for a job that does not exist
    #[schemars(with = "Option<String>")]
    pub state: Option<State>,
    /// The state that ended the wait, or cancelled, gone (cancelled, or complete and expired),
    /// pending
    #[schemars(with = "String")]
    pub result: JobWaitResult,
    /// How long the wait for it took; null while pending
    pub elapsed_s: Option<RoundedSeconds>,
}

/// The counts of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct WaitTotals {
    /// The awaited state, or what prevented it: failed, complete, cancelled, gone, deadline,
    /// interrupted; pending if another member of the context decided the wait
    #[schemars(with = "String")]
    pub outcome: WaitOutcome,
    /// The awaited state
    #[serde(rename = "for")]
    #[schemars(with = "String")]
    pub awaited: State,
    /// Jobs that were waited for
    pub jobs: usize,
    /// Jobs that reached the awaited state
    pub reached: usize,
    /// Jobs whose wait had not ended
    pub pending: usize,
    /// How long the wait took
    pub elapsed_s: RoundedSeconds,
    /// How long the server had not replied when the deadline passed, if it did not
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_s: Option<RoundedSeconds>,
}

/// A wait that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FinishedWait {
    #[serde(flatten)]
    pub totals: WaitTotals,
    /// One for each job, the lines of ndjson
    pub items: Vec<WaitItem>,
    /// The index in `items` of the job that decided the outcome, or else of the first pending job.
    #[serde(skip)]
    pub decisive: Option<usize>,
    /// The server and how it may have lost jobs during the wait. `None` if no job is missing or no such cause is known.
    #[serde(skip)]
    pub lost_by: Option<String>,
}

impl View for FinishedWait {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<FinishedWait>("wait", "Jobs that were waited for: wait");

    fn text(&self, options: &RenderOptions) -> String {
        self.items
            .iter()
            .map(|item| item.job_result_line(options))
            .collect()
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(self.items.iter().map(|item| &item.jid).collect())
    }
}

impl WaitItem {
    /// The line of a job whose wait has ended.
    pub(crate) fn job_result_line(&self, options: &RenderOptions) -> String {
        let gap = if options.terminal { "  " } else { "\t" };
        let elapsed = self.elapsed_s.map_or(0.0, |elapsed| elapsed.0);
        let elapsed = text::format_duration(elapsed);
        let jid = options.name(&self.jid);
        let result: &str = self.result.into();
        format!("{jid}{gap}{result}{gap}{elapsed}\n")
    }
}

/// The line of a job whose wait goes on: jid, state, elapsed time.
pub(crate) fn pending_line(jid: &Name, state: Option<State>, elapsed: f64) -> String {
    let state = state.as_ref().map_or("gone", State::into_str);
    format!("{jid}  {state}  {}", text::format_duration(elapsed))
}
