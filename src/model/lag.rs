//! The lag of a queue.

use serde::{Deserialize, Serialize};

use super::field::Field;
use super::queue::Seconds;
use crate::name::Name;

/// How long the oldest due job of a queue has been due.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lag {
    pub queue: Name,
    /// 0 if nothing is due.
    pub lag_s: Seconds,
    /// The job; `None` if nothing is due.
    pub jid: Option<Name>,
    pub why: Option<Why>,
    /// The throttle or the lane that holds it.
    pub held_by: Option<Name>,
}

impl Lag {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::number(
            "lag_s",
            "how long the oldest job has been due that has not run, or a lock has been expired, \
             whichever is longer; 0 if nothing is due",
        ),
        Field::name("jid", "the job").null(),
        Field::text("why", Why::WORDS).null(),
        Field::name("held_by", Why::HELD_BY).null(),
    ];
}

/// Why a job that is due has not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Waiting,
    Paused,
    Throttled,
    Ordered,
    Expired,
}

impl Why {
    pub(crate) const WORDS: &'static str =
        "waiting for a worker; or paused, throttled, ordered (its lane) or expired (its lock)";
    pub(crate) const HELD_BY: &'static str = "the throttle or the lane that holds it";

    /// Says what keeps the job.
    pub(crate) fn sentence(self, held_by: Option<&Name>) -> String {
        match (self, held_by) {
            (Why::Waiting, _) => "no worker has taken it yet".into(),
            (Why::Paused, _) => "the queue is paused".into(),
            (Why::Throttled, Some(id)) => format!("throttle {id} has no free slot"),
            (Why::Throttled, None) => "held by a throttle; slots are free".into(),
            (Why::Ordered, Some(lane)) => format!("behind other jobs in lane {lane}"),
            (Why::Ordered, None) => "behind other jobs in its lane".into(),
            (Why::Expired, _) => "its lock expired".into(),
        }
    }
}
