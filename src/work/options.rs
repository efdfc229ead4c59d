//! The options of `qless work`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use super::hooks;
use super::process::ProgramDirectory;
use super::queues::QueueOrder;
use crate::args::value;
use crate::env;
use crate::error::{Error, Kind};
use crate::listen::{AccessOptions, ListenAddress, MAX_CONNECTIONS, listen_address};
use crate::model::work::RetryCause;
use crate::model::work_queue::QueueSelector;
use crate::name::{Name, refuse_as_new_name};
use crate::session::actor;
use crate::text::format_count;

/// The descriptors per running program: the pipes for stdin, stdout, stderr and its answers.
const DESCRIPTORS_PER_PROGRAM: u64 = 4;

/// The descriptors that are open only sometimes: for two subscriptions, for a new connection after a loss, and for the
/// start of a program besides its pipes.
const TEMPORARY_DESCRIPTORS: u64 = 12;

/// The descriptors that the removal of a tree of directories needs.
const REMOVAL_DESCRIPTORS: u64 = 12;

/// The options of `qless work`, as they are typed.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkOptions {
    /// Queues: names, globs such as `mail-*`, `@NAME` for a stored identifier pattern, `!NAME` to leave
    /// one out; `NAME=3` is a weight
    #[arg(required = true, value_name = "QUEUE", value_parser = value::work_queue(),
          add = value::CompletionKind::Queues)]
    pub(crate) queues: Vec<QueueSelector>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND", value_parser = value::any_word())]
    pub(crate) command: Vec<OsString>,
    /// From which queue to pop next
    #[arg(long, value_name = "ORDER", default_value = "ordered")]
    pub(crate) order: QueueOrder,
    /// Maximum number of processes at a time
    #[arg(long, short = 'c', value_name = "N", value_parser = value::process_count, default_value = "1")]
    pub(crate) concurrency: usize,
    /// Pop from empty queues at least this often; sooner after a put, or when a job becomes due
    #[arg(long, value_name = "D", value_parser = value::positive_duration, default_value = "5s")]
    pub(crate) poll: Duration,
    /// Exit when no job can be popped now, nor later without a put. Waits for jobs whose lock has expired, until the end of
    /// their grace period, and for those that wait for a slot of a throttle or behind a running job of their lane. Scheduled and
    /// blocked jobs, jobs of paused queues and those whose locks other workers hold stay, and are counted on stderr
    #[arg(long)]
    pub(crate) drain: bool,
    /// Exit after this number of jobs; with `--drain`, also when there are fewer
    #[arg(long, value_name = "N", value_parser = value::at_least_one)]
    pub(crate) count: Option<u64>,
    /// Give each process up to this number of jobs, as lines on its stdin
    #[arg(long, value_name = "N", value_parser = value::jobs_per_call, conflicts_with = "persistent")]
    pub(crate) batch: Option<usize>,
    /// Keep the processes, and give them jobs as lines on their stdin
    #[arg(long)]
    pub(crate) persistent: bool,
    /// Maximum number of unanswered jobs per process
    #[arg(long, value_name = "N", value_parser = value::jobs_per_call, default_value = "1", requires = "persistent",
          conflicts_with_all = ["batch", "capture"])]
    pub(crate) in_flight: usize,
    /// Read answers from stdout, too, not only from descriptor 3
    #[arg(long, value_name = "WHERE", value_parser = ["stdout"], requires = "persistent",
          conflicts_with_all = ["batch", "capture"])]
    pub(crate) answers: Option<String>,
    /// Ends of a process that retry its jobs: exit codes (`75`, `1-255`), `any` for all but exit code 0,
    /// `signal` or its name (`KILL`), `crash` for the end of a process of `--persistent`, `time-limit`
    #[arg(long, value_name = "ENDS", value_delimiter = ',', default_value = "75",
          value_parser = value::retry_cause)]
    pub(crate) retry_on: Vec<RetryCause>,
    /// Time before a job of `--retry-on` runs again; 0s leaves it to the job's back-off policy, if it has one
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "0s")]
    pub(crate) retry_delay: Duration,
    /// Put completed jobs into this queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(), add = value::CompletionKind::Queues)]
    pub(crate) next: Option<Name>,
    /// Maximum time that a process may have a job: then it gets SIGTERM, SIGKILL after `--kill-after`,
    /// and the job fails in group `time-limit`
    #[arg(long, value_name = "D", value_parser = value::positive_duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Time from SIGTERM to SIGKILL
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "10s")]
    pub(crate) kill_after: Duration,
    /// Store the output of the command as the data of the job, if it is JSON
    #[arg(long, conflicts_with_all = ["batch", "persistent"])]
    pub(crate) capture: bool,
    /// Put the time, the slot and the job before each line of the command's output
    #[arg(long)]
    pub(crate) label: bool,
    /// Time between two extensions of a lock; default: a third of the lock
    #[arg(long, value_name = "D", value_parser = value::positive_duration)]
    pub(crate) heartbeat: Option<Duration>,
    /// Run commands in this directory
    #[arg(long, value_name = "DIR", value_parser = value::file_to_write(), conflicts_with = "sandbox")]
    pub(crate) chdir: Option<PathBuf>,
    /// Run each slot in its own directory below this one, emptied before each process
    #[arg(long, value_name = "DIR", value_parser = value::file_to_write())]
    pub(crate) sandbox: Option<PathBuf>,
    /// Shell command to run before the first job; if it fails, no job is popped
    #[arg(long, value_name = "CMD")]
    pub(crate) on_start: Option<String>,
    /// Shell command to run after a job has failed
    #[arg(long, value_name = "CMD")]
    pub(crate) on_exhausted: Option<String>,
    /// Shell command to run after a signal ended a process
    #[arg(long, value_name = "CMD")]
    pub(crate) on_crash: Option<String>,
    /// Maximum length of the message of a failure, in bytes: the end of stderr
    #[arg(long, value_name = "N", value_parser = value::max_failure_message_size, default_value = "8192")]
    pub(crate) error_bytes: usize,
    /// Accept placeholders whose value makes an argument begin with a dash
    #[arg(long)]
    pub(crate) allow_dash: bool,
    /// First part of the worker's name [QLESS_WORKER; default: the host]
    #[arg(long, value_name = "NAME", value_parser = value::new_name())]
    pub(crate) worker: Option<Name>,
    /// Answer HTTP requests for `/metrics`, `/livez` and `/readyz` at HOST:PORT, at :PORT of this machine only, or at
    /// unix:PATH
    #[arg(id = "listen", long = "metrics", value_name = "ADDR", value_parser = listen_address())]
    pub(crate) metrics: Option<ListenAddress>,
    #[command(flatten)]
    pub(crate) access: AccessOptions,
}

/// How jobs reach the command, and how many at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchMode {
    /// A process for each job.
    Single,
    /// One process per batch of at most this number of jobs.
    Batch(usize),
    /// One process per slot, with at most this number of jobs at a time.
    Persistent(usize),
}

impl DispatchMode {
    /// How many jobs a slot can have at once.
    pub fn max_jobs_per_slot(self) -> usize {
        match self {
            DispatchMode::Single => 1,
            DispatchMode::Batch(jobs) | DispatchMode::Persistent(jobs) => jobs,
        }
    }
}

impl WorkOptions {
    pub fn mode(&self) -> DispatchMode {
        match (self.batch, self.persistent) {
            (Some(jobs), _) => DispatchMode::Batch(jobs),
            (None, true) => DispatchMode::Persistent(self.in_flight),
            (None, false) => DispatchMode::Single,
        }
    }

    pub(super) fn program_directory(&self) -> ProgramDirectory {
        match (&self.chdir, &self.sandbox) {
            (Some(directory), _) => ProgramDirectory::Shared(directory.clone()),
            (None, Some(directory)) => ProgramDirectory::Sandbox(directory.clone()),
            (None, None) => ProgramDirectory::Inherited,
        }
    }

    /// The first part of the worker's name. It must be UTF-8, because the name of a channel contains it.
    pub(super) fn worker_name_prefix(&self) -> Result<Name, Error> {
        let variable =
            || env::nonempty_var("QLESS_WORKER").map(|name| Name::from(name.as_os_str()));
        let Some(name) = self.worker.clone().or_else(variable) else {
            return Ok(Name::from(actor::host_name()));
        };
        let refused = |why: &str| Error::usage(format!("the name of the worker {why}"));
        refuse_as_new_name(name.as_bytes()).map_err(|why| refused(&why))?;
        match name.as_str() {
            Some(_) => Ok(name),
            None => Err(refused("is not UTF-8")),
        }
    }

    /// Whether the worker ends by itself.
    pub(super) fn has_limit(&self) -> bool {
        self.drain || self.count.is_some()
    }

    /// Lowers the number of slots to what the limit of open files allows, and returns a note about that. Fails if not
    /// even one program can run. Call this after all permanent descriptors are open.
    pub(super) fn lower_slots_to_file_limit(&mut self) -> Result<Option<String>, Error> {
        let Some(limit) = getrlimit(Resource::Nofile).current else {
            return Ok(None);
        };
        // Without `/dev/fd` the number of open descriptors is unknown: assume that there are enough. A start that fails
        // later releases its job.
        let Ok(open) = std::fs::read_dir("/dev/fd") else {
            return Ok(None);
        };
        let has_hooks = self.on_exhausted.is_some() || self.on_crash.is_some();
        let fixed = open.count() as u64
            + TEMPORARY_DESCRIPTORS
            + if has_hooks {
                DESCRIPTORS_PER_PROGRAM * hooks::MAX_RUNNING as u64
            } else {
                0
            }
            + if self.sandbox.is_some() {
                REMOVAL_DESCRIPTORS
            } else {
                0
            }
            + if self.metrics.is_some() {
                MAX_CONNECTIONS as u64
            } else {
                0
            };
        let wanted = self.concurrency as u64;
        let fits = limit.saturating_sub(fixed) / DESCRIPTORS_PER_PROGRAM;
        if fits >= wanted {
            return Ok(None);
        }
        let needed = fixed + DESCRIPTORS_PER_PROGRAM * wanted;
        if fits == 0 {
            let least = fixed + DESCRIPTORS_PER_PROGRAM;
            return Err(Error::new(
                Kind::Error,
                format!(
                    "no program can run: this process may open {limit} files, and needs {least}"
                ),
            )
            .hint(format!("no job was popped; `ulimit -n {needed}` is enough")));
        }
        self.concurrency = fits as usize;
        let programs = format_count(fits, "program runs", "programs run");
        Ok(Some(format!(
            "note: {programs} at the same time, not {wanted}: this process may open {limit} files, \
             and `ulimit -n {needed}` is enough for all"
        )))
    }
}
