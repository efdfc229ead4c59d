//! The typed methods of the core, by noun. Each builds its call and reads the reply.

pub(crate) mod admin;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod guard;
pub(crate) mod index;
pub(crate) mod job;
pub(crate) mod job_calls;
pub(crate) mod not_found;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod peek;
pub(crate) mod put;
pub(crate) mod queue;
pub(crate) mod read;
pub(crate) mod reconcile;
pub(crate) mod recur;
pub(crate) mod stats;
pub(crate) mod tag;
pub(crate) mod template;
pub(crate) mod worker;
pub(crate) mod worker_calls;
