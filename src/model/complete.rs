//! A job that was completed or advanced, and a lock that was extended.

use serde::Serialize;

use super::field::Field;
use crate::clock::moment::Moment;
use crate::name::Name;

/// The job, with its new state and queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Complete {
    pub jid: Name,
    pub state: Name,
    /// Absent if the job has ended.
    pub queue: Option<Name>,
}

impl Complete {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::name("state", "its state now"),
        Field::name("queue", "its queue now; null when complete").null(),
    ];
}

/// A lock and when it expires now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Lock {
    pub jid: Name,
    pub worker: Name,
    pub expires: Moment,
}

impl Lock {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::name("worker", "the holder of its lock"),
        Field::moment("expires", "when the lock expires"),
    ];
}
