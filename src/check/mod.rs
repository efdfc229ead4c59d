//! `qless check`: the scan finds candidates for inconsistent data, the core verifies them, and the repair corrects
//! them.

pub(crate) mod repair;
pub(crate) mod repair_queue;
pub mod scan;
pub(crate) mod verify;
