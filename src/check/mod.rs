//! Whether what belongs together agrees: the look, the findings, the mending (`core.md` 8).

pub mod cause;
pub mod finding;
pub mod judge;
pub mod kept;
pub mod look;
pub mod mender;
pub mod repair;
pub mod revert;
pub mod sides;
pub mod slices;
pub mod stage;
pub mod tolerated;
pub mod undo;
pub mod walk;
pub mod wanted;
