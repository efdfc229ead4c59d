//! The only rooms that know Redis. They return models or errors and never print.

pub mod call;
pub mod config;
pub mod connect;
pub mod failure;
pub mod guard;
pub mod hold;
pub mod index;
pub mod job;
pub mod put;
pub mod queue;
pub mod recur;
pub mod refusal;
pub mod reply;
pub mod script;
pub mod steer;
pub mod tag;
pub mod unknown;
pub mod url;
pub mod worker;

pub use call::{Call, Core, Value};

use std::time::Duration;

use crate::clock::Clock;

/// What it takes to open the core.
#[derive(Debug)]
pub struct Settings {
    pub url: Option<String>,
    pub prefix: String,
    pub timeout: Duration,
    pub clock: Clock,
}
