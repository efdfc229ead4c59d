//! How `put` makes jids, and its result.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::path::JsonPath;
use crate::name::Name;
use crate::text::short_jid;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// How `put` makes the jid of a job whose input line gives none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum MissingJidSource {
    /// A new jid for each job.
    #[default]
    Fresh,
    /// A hash of the job's content.
    Content,
    /// The text at a path in the data. The second field is the path as the user typed it.
    Path(JsonPath, String),
}

/// A job that was put, or that existed already.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PutOrExistingJob {
    /// The job's id
    pub jid: Name,
    /// The job's queue
    pub queue: Option<Name>,
    /// The job's state now; a throttle without a free slot may hold it later
    pub state: Option<Name>,
    /// False if the put made no job: the job existed and was left as it is, replaced or added to
    pub created: bool,
    /// False if a job that is not complete answered the put: `--if-absent`, `--merge`, `--unique`, `--dup`
    pub new: bool,
    /// The job before it in its lane
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_behind: Option<Name>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    #[serde(skip)]
    pub duplicate: DuplicateOutcome,
}

/// Whether the job was a duplicate of an existing one, and what the core did about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DuplicateOutcome {
    /// The job was no duplicate.
    #[default]
    None,
    /// The job exists and stays as it is.
    Exists,
    Merged,
    Replaced,
    Skipped,
}

impl PutOrExistingJob {
    pub(crate) fn creates_or_changes_job(&self) -> bool {
        use DuplicateOutcome as Duplicate;

        !matches!(self.duplicate, Duplicate::Exists | Duplicate::Skipped)
    }

    /// What the put did, or in a dry run would do, in a line for people.
    pub(crate) fn change_text(&self) -> String {
        use DuplicateOutcome as Duplicate;

        let place = self.queue_and_state_text();
        if self.dry_run {
            let (jid, behind) = (&self.jid, self.queued_behind_text(Name::to_string));
            return match self.duplicate {
                Duplicate::None => format!("would put a job {place}{behind}"),
                Duplicate::Exists => "would leave the job as it is".to_owned(),
                Duplicate::Merged => format!("would merge the data into {jid} {place}"),
                Duplicate::Replaced => format!("would replace {jid} {place}"),
                Duplicate::Skipped => format!("would put nothing: {jid} is {place}"),
            };
        }
        let jid = short_jid(self.jid.as_bytes());
        let behind = self.queued_behind_text(|jid| short_jid(jid.as_bytes()));
        match self.duplicate {
            Duplicate::None => format!("put {jid} {place}{behind}"),
            Duplicate::Merged => format!("merged into {jid} {place}"),
            Duplicate::Replaced => format!("replaced {jid} {place}"),
            Duplicate::Skipped => format!("skipped: {jid} is {place}"),
            Duplicate::Exists if self.queue.is_none() => format!("{jid} exists already, {place}"),
            Duplicate::Exists => format!("{jid} exists already {place}"),
        }
    }

    /// The queue and the state of the job. A complete job is in no queue.
    fn queue_and_state_text(&self) -> String {
        let state = self.state.as_ref().map_or("–".into(), Name::to_string);
        match &self.queue {
            Some(queue) => format!("in {queue}, {state}"),
            None => state,
        }
    }

    fn queued_behind_text(&self, jid_text: impl Fn(&Name) -> String) -> String {
        let behind = self.queued_behind.as_ref();
        behind.map_or_else(String::new, |behind| {
            format!(", behind {}", jid_text(behind))
        })
    }
}

impl View for PutOrExistingJob {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<PutOrExistingJob>("put", "A job that was put: put");

    fn text(&self, _: &RenderOptions) -> String {
        String::new()
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }

    fn text_is_jids(&self) -> bool {
        !self.dry_run
    }
}
