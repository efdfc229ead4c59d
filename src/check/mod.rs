//! `qless check`: the scan for candidates, their verdicts, the repair (`core.md` 8).

pub(crate) mod repair;
pub mod scan;
pub(crate) mod verify;
