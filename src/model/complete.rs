//! A job that was completed or advanced, and a lock that was extended.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;

/// The job, with its new state and queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Complete {
    /// The job's id
    pub jid: Name,
    /// Its state now
    pub state: Name,
    /// Its queue now; null when complete
    pub queue: Option<Name>,
}

/// A lock and when it expires now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Lock {
    /// The job's id
    pub jid: Name,
    /// The holder of its lock
    pub worker: Name,
    /// When the lock expires
    pub expires: Moment,
}
