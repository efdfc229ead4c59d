//! Plain structs by noun. No Redis, no clock, no layout.

pub mod length;
pub mod moment;
pub mod name;
pub mod version;
