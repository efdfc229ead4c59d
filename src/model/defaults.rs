//! The defaults of a queue: options for puts that do not give them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::Json;
use crate::name::Name;

/// The defaults of a queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct QueueDefaults {
    /// The queue
    pub queue: Name,
    /// The options for puts that do not give them, by name; null if none are set
    pub defaults: Option<Json>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}
