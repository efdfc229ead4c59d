//! The candidates that completion offers for an argument, attached where the argument is defined: `#[arg(add =
//! value::CompletionKind::Queues)]`.
//!
//! Two kinds of values complete without this attribute: the possible values of a parser, and files where the value is
//! called `FILE` or `DIR`.

use clap::builder::{ArgExt, CommandExt};

/// A kind of names that completion looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionKind {
    Queues,
    Groups,
    Tags,
    Workers,
    /// Throttles with a maximum, and throttles of the jobs that run or wait.
    Throttles,
    /// Jids of these jobs.
    Jids(JidCompletionKind),
    /// Jids of the jobs that the command is for: those of its [`JidCompletionKind`] if it has any, else the jobs that
    /// are not complete.
    Targets,
    /// Options of the core.
    Options,
    /// Contexts of the config file.
    Contexts,
    /// Commands of `qless`, one word per argument.
    Commands,
    /// Commands, and the topics of `qless help`.
    Topics,
}

impl ArgExt for CompletionKind {}

/// The jobs that a command is for: `#[command(add = value::JidCompletionKind::Failed)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JidCompletionKind {
    Failed,
    /// Running and stalled jobs.
    Held,
    Scheduled,
    Depends,
    Recurring,
    NotComplete,
}

impl CommandExt for JidCompletionKind {}
