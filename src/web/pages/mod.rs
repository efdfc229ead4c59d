//! The pages, one module each.

pub(super) mod error;
pub(super) mod failed;
pub(super) mod graph;
pub(super) mod group;
pub(super) mod job;
pub(super) mod jobs;
pub(super) mod limits;
pub(super) mod overview;
pub(super) mod queue;
pub(super) mod queues;
pub(super) mod recurring;
pub(super) mod worker;
pub(super) mod workers;
