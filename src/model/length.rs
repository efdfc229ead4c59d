//! The length of a queue.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;

/// How many jobs a queue has, as the core counts them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Length {
    /// The queue
    pub queue: Name,
    /// Waiting, running, stalled and scheduled jobs, as the core counts them
    pub length: i64,
}
