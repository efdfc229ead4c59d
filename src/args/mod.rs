//!

mod candidates;
pub(crate) mod env;
pub(crate) mod format;
pub(crate) mod globals;
pub(crate) mod moment;
pub(crate) mod shared;
pub(crate) mod value;
