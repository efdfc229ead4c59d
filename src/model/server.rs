//! A server, as it describes itself.

use schemars::JsonSchema;
use serde::Serialize;

use super::overview::ProblemCode;
use crate::clock::moment::Moment;
use crate::text::format_bytes;

/// What the server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ServerFacts {
    /// The version of Redis
    pub version: String,
    /// One of master or slave
    pub role: String,
    /// How long the server runs
    pub uptime_s: u64,
    /// Memory in use
    pub memory_bytes: u64,
    /// The limit; 0 if there is none
    pub max_memory_bytes: u64,
    /// What the server does at the limit
    pub eviction: String,
    /// Keys that it has deleted at the limit, since it started
    pub evicted_keys: u64,
    /// Whether the server has an append-only file
    pub append_only: bool,
    /// The last snapshot since the server started
    pub last_save: Option<Moment>,
    /// Whether the server could not save its data the last time
    pub save_failed: bool,
    /// Whether a replica has lost its primary
    pub link_down: bool,
}

/// The hint for a server that deletes jobs when its memory is full.
pub(crate) const NO_EVICTION: &str =
    "it refuses new ones instead after `redis-cli CONFIG SET maxmemory-policy noeviction`";

/// Whether a server with this `maxmemory-policy` and this memory limit deletes jobs when its memory is full. The
/// `volatile-` policies delete only keys with an expiry, which jobs do not have.
pub(crate) fn evicts_jobs(policy: &str, max_memory_bytes: u64) -> bool {
    max_memory_bytes > 0 && policy.starts_with("allkeys-")
}

/// The message that the server deletes jobs when its memory is full, with its `maxmemory-policy`.
pub(crate) fn eviction_sentence(policy: &str) -> String {
    format!("the server deletes jobs when its memory is full (maxmemory-policy {policy})")
}

impl ServerFacts {
    pub(crate) fn evicts_jobs(&self) -> bool {
        evicts_jobs(&self.eviction, self.max_memory_bytes)
    }

    /// The message about the problem `code` of the server: eviction, memory, persistence or a lost primary. `None` if
    /// the server does not have the problem.
    pub(crate) fn sentence_if_has_problem(&self, code: ProblemCode) -> Option<String> {
        let limit = self.max_memory_bytes;
        let (is_there, sentence) = match code {
            ProblemCode::Eviction => (
                self.evicts_jobs(),
                "the server deletes keys when its memory is full: set maxmemory-policy to noeviction".into(),
            ),
            ProblemCode::Memory => (
                limit > 0 && self.memory_bytes > limit / 10 * 9,
                format!(
                    "the server's memory is {}: {} of {}",
                    if self.memory_bytes < limit { "nearly full" } else { "full" },
                    format_bytes(self.memory_bytes),
                    format_bytes(limit)
                ),
            ),
            ProblemCode::Persistence => (
                self.save_failed,
                "the server could not save its data the last time".into(),
            ),
            ProblemCode::Replica => (
                self.link_down,
                "this replica has lost its primary: its data is old".into(),
            ),
            _ => return None,
        };
        is_there.then_some(sentence)
    }
}
