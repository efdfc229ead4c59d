//! The results of completing or advancing a job, and of extending its lock.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// The job, with its new state and queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CompletedJob {
    /// The job's id
    pub jid: Name,
    /// The job's state now
    pub state: Name,
    /// The job's queue now; null when complete
    pub queue: Option<Name>,
}

/// A lock and when it expires now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ExtendedLock {
    /// The job's id
    pub jid: Name,
    /// The holder of the lock
    pub worker: Name,
    /// When the lock expires
    pub expires: Moment,
}

impl View for CompletedJob {
    const DOCUMENT: DocumentKind = DocumentKind::new::<CompletedJob>(
        "complete",
        "A job that was completed or advanced: complete",
    );

    fn text(&self, _: &RenderOptions) -> String {
        format!("{}\n", self.state)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}

impl View for ExtendedLock {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<ExtendedLock>("lock", "A lock that was extended: heartbeat");

    fn text(&self, _: &RenderOptions) -> String {
        let expires = self.expires.to_rfc3339();
        format!("{}\n", expires.unwrap_or_else(|| self.expires.to_string()))
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}
