//! A job as a worker receives it.

use crate::name::Name;

/// A job that a worker has popped, with what a program needs to run it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoppedJob {
    pub jid: Name,
    pub klass: Name,
    pub queue: Name,
    /// JSON as stored, byte for byte.
    pub data: Vec<u8>,
    pub tags: Vec<Name>,
    pub priority: i64,
    pub retries: i64,
    /// The retries that are left.
    pub remaining: i64,
    /// When the lock of the job expires, in seconds since the epoch.
    pub expires: f64,
    /// The recurring job that made it.
    pub spawned_from: Option<Name>,
    pub dependencies: Vec<Name>,
    /// The lane of the job.
    pub key: Option<Name>,
    /// The number of this grant of the job. Each later grant of the job has a larger number. `None` without a lane and
    /// throttles.
    pub fence: Option<u64>,
    /// The payloads of a merge job in the order of the data. Beside each is its score, the text of a JSON number.
    pub payloads: Vec<(Vec<u8>, String)>,
}

impl PoppedJob {
    /// Counts from 1: each retry adds one.
    pub fn attempt_number(&self) -> i64 {
        self.retries.saturating_sub(self.remaining).max(0) + 1
    }
}
