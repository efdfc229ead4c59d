//! A queue: how many jobs it has in each state, and whether it is paused.

use serde::{Deserialize, Serialize, Serializer};

use super::field::Field;
use super::job::is_zero;
use crate::clock::moment::Moment;
use crate::json::Number;
use crate::lenient;
use crate::name::Name;

/// A queue's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Queue {
    pub name: Name,
    pub waiting: u64,
    pub running: u64,
    pub stalled: u64,
    pub scheduled: u64,
    pub depends: u64,
    /// Jobs that wait for a free slot of a throttle.
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
    pub recurring: u64,
    pub paused: bool,
    #[serde(rename(deserialize = "since"), deserialize_with = "lenient::read")]
    pub paused_since: Option<Moment>,
    #[serde(rename(deserialize = "until"), deserialize_with = "lenient::read")]
    pub paused_until: Option<Moment>,
    #[serde(rename(deserialize = "reason"))]
    pub paused_reason: Option<Name>,
    /// How long the next job to pop has been waiting.
    #[serde(skip_deserializing)]
    pub head_wait_s: Option<Seconds>,
    /// Since when it has.
    #[serde(skip_serializing, rename = "head", deserialize_with = "lenient::read")]
    pub head_since: Option<Moment>,
    /// The user and host that paused it, if known.
    #[serde(skip_serializing, rename = "by")]
    pub paused_by: Option<Name>,
    /// Whether it is in the list of queues.
    #[serde(skip_serializing)]
    pub known: bool,
    /// Its keys of a wrong type. If there are any, only the name of the queue is known.
    #[serde(skip)]
    pub wrong_keys: Vec<Name>,
}

impl Queue {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("name", "the queue"),
        Field::count("waiting", "jobs that can be popped now"),
        Field::count("running", "jobs that a worker holds"),
        Field::count("stalled", "jobs whose lock has expired or was revoked"),
        Field::count("scheduled", "jobs that are not due yet"),
        Field::count("depends", "jobs that wait for their dependencies"),
        Field::count(
            "throttled",
            "jobs that wait for a free slot of a throttle, if there are any",
        )
        .optional(),
        Field::count("recurring", "recurring jobs"),
        Field::bool("paused", "whether pops from it get no jobs"),
        Field::moment("paused_since", "when it was paused, if known").null(),
        Field::moment("paused_until", "when the pause ends, if an end was given").null(),
        Field::name("paused_reason", "the reason, if one was given").null(),
        Field::number(
            "head_wait_s",
            "how long the next job to pop has been waiting",
        )
        .null(),
    ];
}

impl Queue {
    /// Returns whether the server has anything of the queue.
    pub fn exists(&self) -> bool {
        self.known
            || self.paused
            || !self.wrong_keys.is_empty()
            || self.waiting + self.running + self.stalled + self.scheduled > 0
            || self.depends + self.throttled + self.recurring > 0
    }
}

/// The queues from which a pop may bring a job now.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row")]
pub struct ReadyQueues {
    /// In how many seconds the next other queue is due, if that is known.
    #[serde(deserialize_with = "lenient::read")]
    pub due_in: Option<f64>,
    #[serde(rename = "..")]
    pub queues: Vec<Name>,
}

impl ReadyQueues {
    /// Adds what was read about other queues.
    pub fn add(&mut self, other: ReadyQueues) {
        self.queues.extend(other.queues);
        self.due_in = match (self.due_in, other.due_in) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// A duration in a document: seconds, rounded to milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number((self.0 * 1000.0).round() / 1000.0).serialize(serializer)
    }
}
