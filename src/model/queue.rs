//! A queue: how many jobs it has in each state, and whether it is paused.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::job::is_zero;
use crate::clock::moment::Moment;
use crate::json::Number;
use crate::name::Name;

/// A queue's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Queue {
    /// The queue
    pub name: Name,
    /// Jobs that can be popped now
    pub waiting: u64,
    /// Jobs that a worker holds
    pub running: u64,
    /// Jobs whose lock has expired or was revoked
    pub stalled: u64,
    /// Jobs that are not due yet
    pub scheduled: u64,
    /// Jobs that wait for their dependencies
    pub depends: u64,
    /// Jobs that wait for a free slot of a throttle, if there are any
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u64,
    /// Recurring jobs
    pub recurring: u64,
    /// Whether pops from it get no jobs
    pub paused: bool,
    /// When it was paused, if known
    pub paused_since: Option<Moment>,
    /// When the pause ends, if an end was given
    pub paused_until: Option<Moment>,
    /// The reason, if one was given
    pub paused_reason: Option<Name>,
    /// How long the next job to pop has been waiting
    pub head_wait_s: Option<Seconds>,
    /// The user and host that paused it, if known.
    #[serde(skip)]
    pub paused_by: Option<Name>,
    /// Whether it is in the list of queues.
    #[serde(skip)]
    pub known: bool,
    /// Its keys of a wrong type. If there are any, only the name of the queue is known.
    #[serde(skip)]
    pub wrong_keys: Vec<Name>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadyQueues {
    pub queues: Vec<Name>,
    /// In how many seconds the next other queue is due, if that is known.
    pub due_in: Option<f64>,
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
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
pub struct Seconds(pub f64);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Number((self.0 * 1000.0).round() / 1000.0).serialize(serializer)
    }
}
