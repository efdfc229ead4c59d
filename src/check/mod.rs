//! Whether what belongs together agrees: the look, the findings, the mending (`core.md` 8).

pub mod cause;
pub mod finding;
pub mod judge;
pub mod walk;
pub mod wanted;
