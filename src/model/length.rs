//! The length of a queue.

use serde::Serialize;

use super::field::Field;
use crate::name::Name;

/// How many jobs a queue has, as the core counts them.
#[derive(Debug, Serialize)]
pub struct Length {
    pub queue: Name,
    pub length: i64,
}

impl Length {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::count(
            "length",
            "waiting, running, stalled and scheduled jobs, as the core counts them",
        ),
    ];
}
