//! The options of `qless work`.

use std::ffi::OsString;
use std::time::Duration;

use super::machine::event::{DispatchMode, WorkLimit};
use super::machine::rotation::QueueOrder;
use super::process::ProgramDirectory;
use crate::listen::ListenOptions;
use crate::model::retry_cause::RetryCause;
use crate::model::work_queue::QueueSelector;
use crate::name::Name;

/// The options of `qless work`.
#[derive(Clone, Debug)]
pub(crate) struct WorkOptions {
    pub queues: Vec<QueueSelector>,
    pub order: QueueOrder,
    pub mode: DispatchMode,
    /// The number of processes at a time.
    pub concurrency: usize,
    pub limit: WorkLimit,
    pub poll: Duration,
    pub retry_on: Vec<RetryCause>,
    pub retry_delay: Duration,
    pub next: Option<Name>,
    pub kill_after: Duration,
    /// How long a process may have a job.
    pub time_limit: Option<Duration>,
    pub capture: bool,
    /// Whether each line that the programs write gets a label.
    pub label: bool,
    /// Whether answers may come on stdout, too.
    pub answers_on_stdout: bool,
    pub heartbeat: Option<Duration>,
    pub directory: ProgramDirectory,
    pub hooks: HookCommands,
    /// How much of the end of stderr becomes the message of a failure, in bytes.
    pub error_bytes: usize,
    /// The first part of the worker's name.
    pub worker: Name,
    /// Whether an argument that begins with a placeholder may get a value that begins with `-`, as an option does.
    pub allow_dash: bool,
    /// The address at which monitoring systems read the metrics and the state of the worker (`--metrics`).
    pub metrics: ListenOptions,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Shell commands around jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookCommands {
    /// Before the first job.
    pub on_start: Option<String>,
    /// After a job has failed: its program said so, its end is no cause for a retry, or no retry was left.
    pub on_exhausted: Option<String>,
    /// After a process ended by a signal.
    pub on_crash: Option<String>,
}
