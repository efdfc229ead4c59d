//! What commands make of values that are typed, piped in or read from files: data and job ids.

pub mod archive;
pub mod data;
pub mod fields;
pub mod jids;
pub mod json;
pub mod line;
pub mod option;
pub mod source;
pub mod twice;
