//! Throttles: named limits of the jobs that run at the same time.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Neighbor;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A throttle and how many jobs use it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Throttle {
    /// The throttle
    pub id: Name,
    /// How many jobs may hold a slot; 0 means no limit, a negative number lets no job run
    pub maximum: i64,
    /// Whether the maximum was set; else it is the default
    pub defined: bool,
    /// Seconds until the maximum is forgotten
    pub ttl_s: Option<u64>,
    /// Jobs that hold a slot
    pub locks: u64,
    /// Jobs that wait for a slot
    pub pending: u64,
}

/// A maximum with what it means if it is no number of jobs.
pub(crate) fn maximum_text(maximum: i64) -> String {
    match maximum {
        0 => "0 (no limit)".to_owned(),
        ..0 => format!("{maximum} (no job runs)"),
        _ => maximum.to_string(),
    }
}

impl Throttle {
    /// Whether anything is stored about it.
    pub(crate) fn exists(&self) -> bool {
        self.defined || self.locks + self.pending > 0
    }
}

/// The change of a maximum by `import`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MaximumChange {
    pub id: Name,
    /// The present maximum, if one is set.
    pub before: Option<i64>,
    pub maximum: i64,
    /// When the new maximum is forgotten, if it is.
    pub expires: Option<Moment>,
}

/// A throttle with its jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ThrottleJobs {
    #[serde(flatten)]
    pub throttle: Throttle,
    /// When the maximum was set, if that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Moment>,
    /// The user and host that set it, if known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<Name>,
    /// Jobs that hold a slot, the oldest holder first
    pub holders: Vec<Neighbor>,
    /// Jobs that wait for a slot, the next one first
    pub waiting: Vec<Neighbor>,
}
