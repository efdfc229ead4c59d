//! Failure groups: jobs that failed for the same reason.

use serde::Serialize;

use super::field::Field;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A group with its newest failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FailureGroup {
    pub group: Name,
    pub jobs: u64,
    pub last: Option<Moment>,
    /// The queues of its newest and oldest 100 jobs.
    pub queues: Vec<Name>,
    /// Whether these are all its jobs.
    pub queues_complete: bool,
    /// The message of its newest failure.
    pub sample: Option<Name>,
}

impl FailureGroup {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("group", "the kind of failure"),
        Field::count("jobs", "how many jobs are in it"),
        Field::moment("last", "its newest failure").null(),
        Field::name("queues", "the queues of its newest and oldest 100 jobs").list(),
        Field::bool(
            "queues_complete",
            "whether these are all its jobs, so that no queue is missing",
        ),
        Field::name("sample", "the message of its newest failure").null(),
    ];
}
