//! Input of commands: data, jids and lines from arguments, stdin and files.

pub(crate) mod archive;
pub(crate) mod data;
pub(crate) mod jids;
pub(crate) mod line;
pub(crate) mod option;
pub(crate) mod secret_file;
pub(crate) mod source;
pub(crate) mod two_pass;
