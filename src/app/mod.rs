//! The program as a whole: the command tree, parsing, dispatch, help, completions, manual pages.
//! Nothing else imports `commands/`.

pub(crate) mod completion;
pub(crate) mod completions;
mod dispatch;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod man;
mod members;
pub(crate) mod parse;
pub(crate) mod suggestion;
mod tree;
pub(crate) mod usage;

pub use dispatch::run;
