//! The events of the jobs of `qless work`.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::queue::RoundedSeconds;
use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text::{Sanitized, format_duration_tenths_below_second};
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WorkEventKind {
    Started,
    Completed,
    /// The job went on to another queue.
    Advanced,
    Retried,
    Failed,
    /// The worker lost its lock on the job, or the job was cancelled. The worker wrote nothing.
    Lost,
    /// The worker gave up the lock without using a retry of the job.
    Released,
    /// The server's reply was lost, and the job's present state does not show whether the call changed it.
    Unknown,
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkEvent {
    /// When the event happened
    pub at: Moment,
    /// One of started, completed, advanced, retried, failed, lost, released, unknown
    #[schemars(with = "String")]
    pub event: WorkEventKind,
    /// The job's id
    pub jid: Name,
    /// The queue from which the job was popped
    pub queue: Option<Name>,
    /// The job's class
    pub klass: Name,
    /// The name of this worker
    pub worker: Name,
    /// 1 for the first attempt
    pub attempt: i64,
    /// Exit code of the process; null if it did not decide
    pub exit: Option<i32>,
    /// Signal that ended the process, such as KILL; else null
    pub signal: Option<String>,
    /// How long the job ran; null when it starts
    pub elapsed_s: Option<RoundedSeconds>,
    /// More about it; null if there is nothing to say
    pub message: Option<String>,
}

impl View for WorkEvent {
    const DOCUMENT: DocumentKind = DocumentKind::new::<WorkEvent>(
        "work-event",
        "What happened to a job, as lines of ndjson: work",
    );

    fn text(&self, _: &RenderOptions) -> String {
        self.event_line()
    }
}

impl WorkEvent {
    /// The line for people.
    pub(crate) fn event_line(&self) -> String {
        let mut line = format!("{:<9} {}", self.event.into_str(), self.jid);
        if let Some(queue) = &self.queue {
            line.push_str(&format!(" of {queue}"));
        }
        match (self.event, self.elapsed_s) {
            (WorkEventKind::Started, _) => {
                line.push_str(&format!(": {}", self.klass));
                if self.attempt > 1 {
                    line.push_str(&format!(", attempt {}", self.attempt));
                }
            }
            (_, Some(elapsed)) => {
                line.push_str(&format!(
                    " after {}",
                    format_duration_tenths_below_second(elapsed.0)
                ));
            }
            _ => {}
        }
        if let Some(message) = &self.message {
            line.push_str(&format!(": {}", Sanitized(message)));
        }
        line.push('\n');
        line
    }
}
