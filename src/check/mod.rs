//! Whether what belongs together agrees: the look, the findings, the mending (`core.md` 8).

pub(crate) mod repair;
pub mod scan;
pub(crate) mod verify;
