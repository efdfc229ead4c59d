//! The nouns of `qless`, such as a job or a queue. The struct of each noun is its document, and has its columns and its
//! text. This module uses neither Redis nor a clock.

pub(crate) mod bulk;
pub(crate) mod check;
pub(crate) mod complete;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod coordination;
pub(crate) mod data_filter;
pub(crate) mod defaults;
pub(crate) mod depends;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod done;
pub mod ending;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod failure;
pub mod finding;
pub(crate) mod graph;
pub(crate) mod hashed_set;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod jid_labels;
pub(crate) mod jid_list;
pub(crate) mod job;
pub mod known_deviations;
pub(crate) mod lag;
pub(crate) mod lane;
pub(crate) mod length;
pub(crate) mod list;
pub(crate) mod local;
pub(crate) mod members;
pub(crate) mod metrics;
pub(crate) mod overview;
pub(crate) mod pattern;
pub(crate) mod put;
pub(crate) mod queue;
pub(crate) mod queue_patterns;
pub(crate) mod rate;
pub(crate) mod recur;
pub(crate) mod server;
pub(crate) mod stats;
pub(crate) mod tag;
pub(crate) mod text_regex;
pub(crate) mod throttle;
pub mod verdict;
pub(crate) mod version;
pub(crate) mod wait;
pub mod work;
pub(crate) mod work_queue;
pub(crate) mod worker;
pub(crate) mod worker_name;

/// Whether a count is zero, so that a document leaves it out.
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
