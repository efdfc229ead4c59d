//! What became of a job that was put.

use serde::Serialize;

use crate::name;
use crate::name::Name;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Put {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    pub state: Option<Name>,
    /// False for a job that existed and was left as it is.
    pub created: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
