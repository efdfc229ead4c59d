//! The only rooms that know Redis. They return models or errors and never print.

pub mod call;
pub mod connect;
pub mod guard;
pub mod hold;
pub mod put;
pub mod queue;
pub mod refusal;
pub mod reply;
pub mod script;
pub mod steer;
pub mod url;

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
