//! Failure groups: jobs that failed for the same reason.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;

/// A group with its newest failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FailureGroup {
    /// The kind of failure
    pub group: Name,
    /// How many jobs are in it
    pub jobs: u64,
    /// Its newest failure
    pub last: Option<Moment>,
    /// The queues of its newest and oldest 100 jobs
    pub queues: Vec<Name>,
    /// Whether these are all its jobs, so that no queue is missing
    pub queues_complete: bool,
    /// The message of its newest failure
    pub sample: Option<Name>,
}
