//! Shell commands that run before the first job, after a failed job, and after a crash.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use super::machine::event::{End, Exit as JobExit, JobLabel, JobResult};
use super::options::Hooks;
use super::process::{Directory, Exit, Launch, ProcessEnd, Processes, StdoutMode, environment};
use crate::error::{Error, Kind, io_words};
use crate::text::Harmless;

/// How many hooks run at a time.
const MAX_RUNNING: usize = 4;

/// The most hooks that wait. A storm of failures runs no more.
const MAX_WAITING: usize = 1000;

/// A hook that waits.
#[derive(Debug)]
struct Hook {
    name: &'static str,
    command: String,
    variables: Vec<(&'static str, OsString)>,
}

/// The hooks of a worker, which run beside the jobs.
#[derive(Debug)]
pub(super) struct HookQueue {
    hooks: Hooks,
    /// The slots behind those of jobs, and the hook that runs in each.
    first_slot: usize,
    running: [Option<&'static str>; MAX_RUNNING],
    waiting: VecDeque<Hook>,
    /// The slots of jobs whose process this worker stops.
    stopped: HashSet<usize>,
}

/// Runs the hook before the first job. Its failure ends the work.
pub(super) fn on_start(command: &str) -> Result<(), Error> {
    let failed = |why: String| {
        Error::new(Kind::Error, format!("`--on-start` failed: {why}")).hint("no job was popped")
    };
    let mut shell = Command::new("sh");
    for name in environment::removed() {
        shell.env_remove(name);
    }
    let status = shell.arg("-c").arg(command).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(fault) => Err(failed(io_words(&fault))),
    }
}

impl HookQueue {
    pub(super) fn new(hooks: Hooks, first_slot: usize) -> HookQueue {
        HookQueue {
            hooks,
            first_slot,
            running: [None; MAX_RUNNING],
            waiting: VecDeque::new(),
            stopped: HashSet::new(),
        }
    }

    /// Whether a slot is one of hooks.
    pub(super) fn owns(&self, slot: usize) -> bool {
        slot >= self.first_slot
    }

    /// Whether no hook runs or waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.iter().all(Option::is_none)
    }

    /// Runs `--on-exhausted` if the job failed.
    pub(super) fn job_ended(&mut self, job: &JobLabel, result: JobResult, detail: &str) {
        if let (JobResult::Failed, Some(command)) = (result, self.hooks.on_exhausted.clone()) {
            self.add(
                "--on-exhausted",
                command,
                vec![
                    ("QLESS_JID", text(job.jid.as_bytes())),
                    ("QLESS_QUEUE", text(job.queue.as_bytes())),
                    ("QLESS_KLASS", text(job.klass.as_bytes())),
                    ("QLESS_FAILURE", text(detail.as_bytes())),
                ],
            );
        }
    }

    /// Notes that this worker sends a signal to the process of a slot: its end is no crash.
    pub(super) fn stops(&mut self, slot: usize) {
        self.stopped.insert(slot);
    }

    /// Runs `--on-crash` if a signal ended the process of a slot, and not one of this worker.
    pub(super) fn process_ended(&mut self, slot: usize, end: &End) {
        let was_stopped = self.stopped.remove(&slot);
        let (JobExit::Signal(signal), false) = (&end.exit, was_stopped) else {
            return;
        };
        if let Some(command) = self.hooks.on_crash.clone() {
            let variables = vec![
                ("QLESS_SLOT", text((slot + 1).to_string().as_bytes())),
                ("QLESS_SIGNAL", text(signal.as_bytes())),
                ("QLESS_FAILURE", text(end.message.as_bytes())),
            ];
            self.add("--on-crash", command, variables);
        }
    }

    fn add(
        &mut self,
        name: &'static str,
        command: String,
        variables: Vec<(&'static str, OsString)>,
    ) {
        if self.waiting.len() < MAX_WAITING {
            let hook = Hook {
                name,
                command,
                variables,
            };
            self.waiting.push_back(hook);
        }
    }

    /// Starts hooks that wait. One that cannot be started is dropped.
    pub(super) fn start(&mut self, processes: &mut Processes) {
        while !self.waiting.is_empty() {
            let Some(at) = self.running.iter().position(Option::is_none) else {
                return;
            };
            let Some(hook) = self.waiting.pop_front() else {
                return;
            };
            let launch = Launch {
                program: OsStr::new("sh"),
                args: vec!["-c".into(), hook.command.into()],
                variables: hook.variables,
                directory: &Directory::Inherited,
                stdin: Vec::new(),
                keeps_stdin: false,
                stdout: StdoutMode::PassOn,
            };
            if processes.start(self.first_slot + at, launch).is_ok() {
                self.running[at] = Some(hook.name);
            }
        }
    }

    /// Notes the end of a hook. Returns the line about one that failed.
    pub(super) fn ended(&mut self, slot: usize, end: &ProcessEnd) -> Option<String> {
        let name = self.running.get_mut(slot - self.first_slot)?.take()?;
        match end.exit {
            Exit::Code(0) => None,
            Exit::Code(code) => Some(format!("warning: `{name}` ended with exit code {code}")),
            Exit::Signal(_, signal) => Some(format!(
                "warning: `{name}` ended with signal {}",
                Harmless(signal)
            )),
        }
    }
}

/// Returns the value of a variable: harmless names and messages without NUL.
fn text(bytes: &[u8]) -> OsString {
    Harmless(bytes).to_string().into()
}
