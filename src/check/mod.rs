//! `qless check`: the scan for candidates, their verdicts, the repair.

pub(crate) mod repair;
pub mod scan;
pub(crate) mod verify;
