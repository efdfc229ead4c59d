//! The private server of `local:`.

use serde::Serialize;

use crate::name;
use crate::name::Name;

#[derive(Debug, Serialize)]
pub(crate) struct Status {
    pub running: bool,
    pub pid: Option<u32>,
    #[serde(flatten, serialize_with = "name::dir")]
    pub dir: Name,
    #[serde(flatten, serialize_with = "name::url")]
    pub url: Name,
    /// Only a server that runs can tell.
    pub jobs: Option<u64>,
    /// What the directory holds on disk.
    pub bytes: u64,
}
