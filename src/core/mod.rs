//! The only rooms that know Redis. They return models or errors and never print.

pub mod admin;
mod backoff;
pub mod call;
pub mod change;
pub mod check;
pub mod config;
pub mod connect;
pub mod error;
pub mod export;
pub mod failure;
pub mod guard;
pub mod hold;
pub mod index;
pub mod job;
pub mod join;
pub mod keys;
pub mod local;
pub mod login;
pub mod page;
pub mod peek;
pub mod put;
pub mod queue;
pub mod read;
pub mod recur;
pub mod refusal;
pub mod replicas;
pub mod reply;
pub mod rights;
pub mod script;
pub mod secret;
pub mod settle;
pub mod source;
pub mod stats;
pub mod steer;
pub mod tag;
pub mod template;
pub mod unknown;
pub mod url;
pub mod wire;
pub mod worker;

pub use call::{Call, Core};

use std::time::Duration;

use crate::clock::Clock;
use crate::out::Trace;
use url::Target;

/// What it takes to open the core.
#[derive(Debug)]
pub struct Settings {
    pub target: Target,
    pub prefix: String,
    /// How the connection calls itself.
    pub name: String,
    pub timeout: Duration,
    pub clock: Clock,
    pub trace: Trace,
    /// Whether scripts are run so that the server lets them change nothing.
    pub read_only: bool,
    /// Whether something may be changed: then the server is asked at once if the user may.
    pub writes: bool,
}
