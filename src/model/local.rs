//! The private server of `local:`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;

/// The state of the private server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Whether the server runs
    pub running: bool,
    /// Its process
    pub pid: Option<u32>,
    /// Its directory
    pub dir: Name,
    /// Its address for other clients
    pub url: Name,
    /// Jobs that it holds
    pub jobs: Option<u64>,
    /// Size on disk
    pub bytes: u64,
}
