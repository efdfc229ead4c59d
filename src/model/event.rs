//! Events that the core publishes about jobs.

use crate::name::Name;

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobEvent {
    pub jid: Name,
    pub kind: EventKind,
}

/// What happened, as far as the job itself cannot tell it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// Completed for good. The job may expire immediately.
    Completed,
    /// Deleted.
    Cancelled,
    /// Anything that the state of the job shows.
    Other,
}
