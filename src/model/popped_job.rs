//! A job as a worker receives it.

use serde::Deserialize;

use crate::json::cjson;
use crate::name::Name;

/// A job that a worker has popped, with what a program needs to run it. Read from the reply of a pop; other fields of
/// the reply are skipped, such as the history.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct PoppedJob {
    #[serde(deserialize_with = "cjson::read_text_or_false")]
    pub jid: Name,
    #[serde(default, deserialize_with = "cjson::read_text_or_false")]
    pub klass: Name,
    #[serde(default, deserialize_with = "cjson::read_text_or_false")]
    pub queue: Name,
    /// JSON as stored, byte for byte.
    #[serde(default, deserialize_with = "cjson::read_bytes_or_false")]
    pub data: Vec<u8>,
    #[serde(default, deserialize_with = "cjson::read_texts")]
    pub tags: Vec<Name>,
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub priority: i64,
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub retries: i64,
    /// The retries that are left.
    #[serde(default, deserialize_with = "cjson::read_truncated_number")]
    pub remaining: i64,
    /// When the lock of the job expires, in seconds since the epoch.
    #[serde(default)]
    pub expires: f64,
    /// The recurring job that made it.
    #[serde(
        rename = "spawned_from_jid",
        default,
        deserialize_with = "cjson::read_non_empty_text"
    )]
    pub spawned_from: Option<Name>,
    #[serde(default, deserialize_with = "cjson::read_texts")]
    pub dependencies: Vec<Name>,
    /// The lane of the job.
    #[serde(default, deserialize_with = "cjson::read_non_empty_text")]
    pub key: Option<Name>,
    /// The number of this grant of the job. Each later grant of the job has a larger number. `None` without a lane and
    /// throttles.
    #[serde(default, deserialize_with = "cjson::read_optional_truncated_number")]
    pub fence: Option<u64>,
    /// The payloads of a merge job in the order of the data. Beside each is its score, the text of a JSON number.
    #[serde(default, deserialize_with = "cjson::read_merge_payloads")]
    pub payloads: Vec<(Vec<u8>, String)>,
}

impl PoppedJob {
    /// Counts from 1: each retry adds one.
    pub fn attempt_number(&self) -> i64 {
        let used = self.retries.saturating_sub(self.remaining);
        used.max(0).saturating_add(1)
    }
}
