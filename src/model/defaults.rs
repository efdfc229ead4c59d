//! The defaults of a queue: options for puts that do not give them.

use serde::Serialize;

use super::field::Field;
use crate::json::Json;
use crate::name::Name;

/// The defaults of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct QueueDefaults {
    pub queue: Name,
    /// An object of options by name; absent if none are set.
    pub defaults: Option<Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl QueueDefaults {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::any(
            "defaults",
            "the options for puts that do not give them, by name; null if none are set",
        ),
        Field::bool("dry_run", "true if nothing was changed").optional(),
    ];
}
