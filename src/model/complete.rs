//! A job that was completed or handed on, and a lock that was pushed back.

use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name;
use crate::name::Name;

/// The job and where it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Complete {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    pub state: Name,
    /// Absent where the job has ended.
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
}

/// A lock and its new end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Lock {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::worker")]
    pub worker: Name,
    pub expires: Moment,
}
