//! The options of `qless work`.

use std::ffi::OsString;
use std::time::Duration;

use super::machine::event::{DispatchMode, WorkLimit};
use super::machine::rotation::QueueOrder;
use super::process::Directory;
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
    pub directory: Directory,
    pub hooks: HookCommands,
    /// How much of stderr becomes the message of a failure, in bytes.
    pub error_bytes: usize,
    /// The first part of the worker's name.
    pub worker: Name,
    /// Whether a value that is put into an argument may begin with a dash.
    pub allow_dash: bool,
    /// Where monitoring systems may ask how the work goes.
    pub metrics: ListenOptions,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Shell commands around jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookCommands {
    /// Before the first job.
    pub on_start: Option<String>,
    /// Runs after a job has failed, by an answer or because no retry was left.
    pub on_exhausted: Option<String>,
    /// After a process ended by a signal.
    pub on_crash: Option<String>,
}
