//! The lag of a queue.

use serde::Serialize;

use super::field::Field;
use super::queue::Seconds;
use crate::name;
use crate::name::Name;

/// How long the oldest due job of a queue has been due.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lag {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    /// 0 if nothing is due.
    pub lag_s: Seconds,
}

impl Lag {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::number(
            "lag_s",
            "how long the first waiting job, a scheduled job or an expired lock has been due, \
             whichever is longest; 0 if nothing is due",
        ),
    ];
}
