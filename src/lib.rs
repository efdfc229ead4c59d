//! `qless`: the command line of a job queue on Redis. [`run`] is the whole program.
//!
//! This library is private. It exists so that `main.rs` and the tests can use it. `CONTRIBUTING.md` has the table
//! of layers, which `tests/architecture.rs` enforces.

mod address;
mod app;
mod args;
mod bulk;
mod check;
mod clock;
mod command_line;
mod commands;
mod consent;
mod core;
mod doctor;
mod env;
mod error;
mod events;
mod exit;
mod explain;
mod fs;
mod graph;
mod input;
mod interrupt;
mod json;
mod lenient;
mod listen;
mod look;
mod model;
mod name;
mod select;
mod session;
mod settings;
mod submit;
mod text;
mod threads;
mod top;
mod ui;
mod view;
mod wait;
mod watch;
mod web;
mod work;

pub use app::run;

/// What the tests use besides [`run`]: tables against which they check documents, and parts that they call with
/// inputs of their own.
#[doc(hidden)]
pub mod internals {
    pub use crate::address::ServerTarget;
    pub use crate::address::secret::Secret;
    pub use crate::app::generate::{generated_files, manual_pages};
    pub use crate::app::help::{RECIPES, WORK};
    pub use crate::app::parse::clap_tree;
    pub use crate::check::scan;
    pub use crate::clock::Clock;
    pub use crate::clock::moment::Moment;
    pub use crate::core::api::finish_and_pop::{FinishAndPopReply, read_popped_jobs};
    pub use crate::core::call::rights::{AclOutputForm, acl_lines};
    pub use crate::core::call::trace::CallTracer;
    pub use crate::core::call::{ConnectionSettings, Core};
    pub use crate::core::script::Script;
    pub use crate::error::{Error, Kind};
    pub use crate::model::queue::ReadyQueues;
    pub use crate::model::{ending, finding, known_deviations, verdict, work};
    pub use crate::name::Name;
    pub use crate::session::actor::host_name;
    pub use crate::text::width;
    pub use crate::work::{launcher, machine, options, process, queues};

    pub mod listen {
        pub use crate::listen::*;
    }
}
