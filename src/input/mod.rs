//! What commands make of values that are typed, piped in or read from files: data and job ids.

pub(crate) mod archive;
pub(crate) mod data;
pub(crate) mod fields;
pub(crate) mod jids;
pub(crate) mod line;
pub(crate) mod option;
pub(crate) mod source;
pub(crate) mod two_pass;
