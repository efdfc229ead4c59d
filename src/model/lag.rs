//! The lag of a queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queue::RoundedSeconds;
use crate::clock::moment::Moment;
use crate::lenient;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column};

/// How long the oldest due job of a queue has been due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename(deserialize = "row"), default)]
pub struct QueueLag {
    /// The queue
    #[serde(skip_deserializing)]
    pub queue: Name,
    /// How long the oldest job has been due that has not run, or a lock has been expired, whichever
    /// is longer; 0 if nothing is due
    #[serde(skip_deserializing)]
    pub lag_s: RoundedSeconds,
    /// Since when that job is due, or the lock has been expired.
    #[serde(skip_serializing, deserialize_with = "lenient::read_or_none")]
    pub since: Option<Moment>,
    /// The job
    pub jid: Option<Name>,
    /// Waiting for a worker; or paused, throttled, ordered (its lane), limited (the queue's max-concurrency),
    /// expired (its lock) or recurring (a recurring job whose next job no pop has put)
    #[serde(deserialize_with = "lenient::read_or_none")]
    pub why: Option<LagCause>,
    /// The throttle or the lane that holds it
    pub held_by: Option<Name>,
}

/// Why a job that is due has not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LagCause {
    Waiting,
    Paused,
    Throttled,
    Ordered,
    Limited,
    Expired,
    Recurring,
}

impl LagCause {
    /// The cause as a sentence, such as `the queue is paused`.
    pub(crate) fn as_cause_sentence(self, throttle_or_lane: Option<&Name>) -> String {
        match (self, throttle_or_lane) {
            (LagCause::Waiting, _) => "no worker has taken it yet".into(),
            (LagCause::Paused, _) => "the queue is paused".into(),
            (LagCause::Throttled, Some(id)) => format!("throttle {id} has no free slot"),
            (LagCause::Throttled, None) => "held by a throttle; slots are free".into(),
            (LagCause::Ordered, Some(lane)) => format!("behind other jobs in lane {lane}"),
            (LagCause::Ordered, None) => "behind other jobs in its lane".into(),
            (LagCause::Limited, _) => {
                "the queue runs as many jobs as its max-concurrency allows".into()
            }
            (LagCause::Expired, _) => "its lock expired".into(),
            (LagCause::Recurring, _) => "a recurring job is due, and no pop has put its job".into(),
        }
    }
}

impl Row for QueueLag {
    const LIST: DocumentKind = DocumentKind::of_list::<QueueLag>("lag", "Lags of queues: lag");

    const COLUMNS: &'static [Column<QueueLag>] = &[
        Column::of_names("QUEUE", |lag| &lag.queue),
        Column::of_text("LAG", |lag, _| Cell::duration(Some(lag.lag_s.0))),
        Column::of_text("JOB", |lag, _| Cell::text_or_missing(lag.jid.as_ref())),
        Column::of_text("WHY", |lag, _| {
            Cell::text_or_missing(
                lag.why
                    .map(|why| why.as_cause_sentence(lag.held_by.as_ref())),
            )
        }),
    ];
}
