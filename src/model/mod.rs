//! Plain structs by noun. No Redis, no clock, no layout.

pub mod bulk;
pub mod complete;
pub mod config;
pub mod context;
pub mod done;
pub mod export;
pub mod failure;
pub mod job;
pub mod json;
pub mod length;
pub mod list;
pub mod local;
pub mod moment;
pub mod name;
pub mod pattern;
pub mod put;
pub mod queue;
pub mod quote;
pub mod rate;
pub mod recur;
pub mod seen;
pub mod stats;
pub mod tag;
pub mod version;
pub mod worker;
