//! What a command reads besides its arguments: standard input and files.

pub mod data;
pub mod jids;
pub mod json;
pub mod source;
