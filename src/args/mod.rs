//! The arguments of the command line: global flags, flags that several subcommands share, and the parsers of
//! values.

mod candidates;
pub(crate) mod coordination;
pub(crate) mod env;
pub(crate) mod format;
pub(crate) mod globals;
pub(crate) mod health_limit;
pub(crate) mod input_arg;
pub(crate) mod invalid;
pub(crate) mod moment;
pub(crate) mod plain;
pub(crate) mod shared;
pub(crate) mod value;
