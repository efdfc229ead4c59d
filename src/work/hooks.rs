//! Shell commands that run before the first job, after a failed job, and after a crash.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::options::WorkOptions;
use super::process::{
    EndedProcess, Launch, ProcessEvent, Processes, ProgramDirectory, StdoutMode, Waker,
};
use super::signal_error_kind;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::model::work::{ProcessExit, WorkEvent, WorkEventKind};
use crate::name::Name;
use crate::text::{Sanitized, format_count};
use crate::threads;

/// How many hooks run at a time.
pub(super) const MAX_RUNNING: usize = 4;

/// Maximum number of hooks that wait for a free slot. Further ones are dropped.
const MAX_WAITING: usize = 1000;

/// A hook that waits for a free slot.
#[derive(Debug)]
struct PendingHook {
    name: &'static str,
    command: String,
    variables: Vec<(&'static str, OsString)>,
}

/// The hooks that run while the worker runs jobs: after a failed job, and after a crash of a process.
#[derive(Debug)]
pub(super) struct HookQueue {
    /// The commands of the hooks.
    on_exhausted: Option<String>,
    on_crash: Option<String>,
    /// The number of the first slot for hooks, after the slots for jobs, and the name of the hook in each slot.
    first_slot: usize,
    running: [Option<&'static str>; MAX_RUNNING],
    waiting: VecDeque<PendingHook>,
    /// The job slots to whose process this worker has sent a signal, so that its end does not count as a crash.
    stopped: HashSet<usize>,
    /// Time from the end of the work to SIGTERM for the hooks, and from SIGTERM to SIGKILL.
    kill_after: Duration,
    /// When the hooks that run get SIGTERM.
    term_at: Option<Instant>,
    /// When the hooks get SIGKILL.
    kill_at: Option<Instant>,
    /// Whether the hooks got SIGTERM. No hook is started after that.
    is_closed: bool,
}

/// Runs the hook `--on-start` before the first job. Returns false if a signal came and stopped the hook: the worker
/// then ends. After a second signal, which kills the hook, or if the hook fails, the result is an error.
pub(super) fn run_start_hook(
    command: &str,
    kill_after: Duration,
    processes: &mut Processes,
    waker: &Waker,
) -> Result<bool, Error> {
    let failed = |why: String| {
        Error::new(Kind::Error, format!("`--on-start` failed: {why}")).hint("no job was popped")
    };
    let mut shell = Command::new("sh");
    for name in processes.uninherited_variables() {
        shell.env_remove(name);
    }
    shell.arg("-c").arg(command).stdin(Stdio::null());
    let mut child = match shell.process_group(0).spawn() {
        Ok(child) => child,
        Err(fault) => return Err(failed(io_message_without_errno(&fault))),
    };
    let group = Pid::from_child(&child);
    let on_end = waker.clone();
    let waiting = threads::spawn(move || {
        // With NOWAIT, only `child.wait` below collects the ended process. Until then, its id is not used again.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        _ = retry_on_intr(|| waitid(WaitId::Pid(group), options));
        on_end.wake();
    });
    if let Err(error) = waiting {
        _ = kill_process_group(group, Signal::KILL);
        _ = child.wait();
        return Err(error);
    }
    let mut was_stopped = false;
    let mut killed_by = None;
    let mut kill_at = None;
    let mut events = Vec::new();
    let has_ended = || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(group), options), Ok(None))
    };
    while !has_ended() {
        processes.wait_for_events(kill_at, &mut events)?;
        for event in events.drain(..) {
            let ProcessEvent::Signal(signal @ (SIGINT | SIGTERM | SIGHUP | SIGQUIT)) = event else {
                continue;
            };
            if was_stopped {
                killed_by = Some(signal);
                kill_at = Some(Instant::now());
            } else {
                was_stopped = true;
                _ = kill_process_group(group, Signal::TERM);
                kill_at = Instant::now().checked_add(kill_after);
            }
        }
        if kill_at.is_some_and(|at| at <= Instant::now()) {
            kill_at = None;
            _ = kill_process_group(group, Signal::KILL);
        }
    }
    if was_stopped {
        // Kill what the stopped hook started: nothing of its process group may outlive it.
        _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait();
    if let Some(signal) = killed_by {
        let why = "stopped by a second signal; no job was popped";
        return Err(Error::new(signal_error_kind(signal), why));
    }
    match status {
        _ if was_stopped => Ok(false),
        Ok(status) if status.success() => Ok(true),
        Ok(status) => Err(failed(status.to_string())),
        Err(fault) => Err(failed(io_message_without_errno(&fault))),
    }
}

impl HookQueue {
    pub(super) fn new(options: &WorkOptions) -> HookQueue {
        HookQueue {
            on_exhausted: options.on_exhausted.clone(),
            on_crash: options.on_crash.clone(),
            first_slot: options.concurrency,
            running: [None; MAX_RUNNING],
            waiting: VecDeque::new(),
            stopped: HashSet::new(),
            kill_after: options.kill_after,
            term_at: None,
            kill_at: None,
            is_closed: false,
        }
    }

    /// At the end of the work, plans SIGTERM for the hooks after `kill_after`.
    pub(super) fn schedule_term_after_work_end(&mut self, now: Instant) {
        if !self.is_closed && self.term_at.is_none() {
            self.term_at = now.checked_add(self.kill_after);
        }
    }

    pub(super) fn schedule_immediate_term(&mut self, now: Instant) {
        if !self.is_closed {
            self.term_at = Some(now);
        }
    }

    pub(super) fn schedule_immediate_kill(&mut self, now: Instant) {
        self.schedule_immediate_term(now);
        self.kill_at = Some(now);
    }

    /// When a signal is due.
    pub(super) fn next_signal_due(&self) -> Option<Instant> {
        [self.term_at, self.kill_at].into_iter().flatten().min()
    }

    /// Sends SIGTERM or SIGKILL to the hooks if it is due. Returns a warning about the hooks that are stopped.
    pub(super) fn send_due_signals(
        &mut self,
        now: Instant,
        processes: &mut Processes,
    ) -> Option<String> {
        let slots = (0..MAX_RUNNING).filter(|at| self.running[*at].is_some());
        let slots: Vec<usize> = slots.map(|at| self.first_slot + at).collect();
        let mut line = None;
        if self.term_at.is_some_and(|at| at <= now) {
            self.term_at = None;
            self.is_closed = true;
            let dropped = self.waiting.len();
            self.waiting.clear();
            if !slots.is_empty() {
                self.kill_at = self.kill_at.or(now.checked_add(self.kill_after));
                let hooks = format_count(slots.len() as u64, "hook", "hooks");
                line = Some(match dropped {
                    0 => format!("warning: stopping {hooks} still running"),
                    _ => format!("warning: stopping {hooks} still running; {dropped} more not run"),
                });
            }
            for slot in &slots {
                processes.send_signal(*slot, Signal::TERM);
            }
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            for slot in &slots {
                processes.send_signal(*slot, Signal::KILL);
            }
        }
        line
    }

    pub(super) fn owns_slot(&self, slot: usize) -> bool {
        slot >= self.first_slot
    }

    /// Whether no hook runs or waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.iter().all(Option::is_none)
    }

    /// Runs `--on-exhausted` if the job failed.
    pub(super) fn add_exhausted_hook_if_failed(&mut self, job: &WorkEvent) {
        if let (WorkEventKind::Failed, Some(command)) = (job.event, self.on_exhausted.clone()) {
            let queue = job.queue.as_ref().map_or(&b""[..], Name::as_bytes);
            let message = job.message.as_deref().unwrap_or_default();
            let variables = vec![
                ("QLESS_JID", sanitized_variable(job.jid.as_bytes())),
                ("QLESS_QUEUE", sanitized_variable(queue)),
                ("QLESS_KLASS", sanitized_variable(job.klass.as_bytes())),
                ("QLESS_FAILURE", sanitized_variable(message.as_bytes())),
            ];
            self.add_hook("--on-exhausted", command, variables);
        }
    }

    /// Notes that this worker sends a signal to the process of a slot, so that the end of the process is no crash.
    pub(super) fn mark_stopped_by_worker(&mut self, slot: usize) {
        self.stopped.insert(slot);
    }

    /// Runs `--on-crash` if the process of a slot was ended by a signal that this worker did not send.
    pub(super) fn add_crash_hook_if_killed_by_others(&mut self, slot: usize, end: &EndedProcess) {
        let was_stopped = self.stopped.remove(&slot);
        let (ProcessExit::Signal(signal), false) = (end.exit, was_stopped) else {
            return;
        };
        if let Some(command) = self.on_crash.clone() {
            let variables = vec![
                (
                    "QLESS_SLOT",
                    sanitized_variable((slot + 1).to_string().as_bytes()),
                ),
                ("QLESS_SIGNAL", sanitized_variable(signal.as_bytes())),
                ("QLESS_FAILURE", sanitized_variable(end.message.as_bytes())),
            ];
            self.add_hook("--on-crash", command, variables);
        }
    }

    fn add_hook(
        &mut self,
        name: &'static str,
        command: String,
        variables: Vec<(&'static str, OsString)>,
    ) {
        if self.waiting.len() < MAX_WAITING && !self.is_closed {
            let hook = PendingHook {
                name,
                command,
                variables,
            };
            self.waiting.push_back(hook);
        }
    }

    /// Starts waiting hooks in the free slots. A hook that cannot be started is dropped.
    pub(super) fn start_waiting_hooks(&mut self, processes: &mut Processes) {
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
                directory: &ProgramDirectory::Inherited,
                stdin: Vec::new(),
                keeps_stdin: false,
                stdout: StdoutMode::PassOn,
            };
            if processes.start(self.first_slot + at, launch).is_ok() {
                self.running[at] = Some(hook.name);
            }
        }
    }

    /// Notes the end of a hook. Returns a warning if the hook failed.
    pub(super) fn note_hook_end(&mut self, slot: usize, end: &EndedProcess) -> Option<String> {
        let name = self.running.get_mut(slot - self.first_slot)?.take()?;
        match end.exit {
            ProcessExit::Code(0) => None,
            exit => Some(format!("warning: `{name}` ended with {exit}")),
        }
    }
}

/// The value of a variable: sanitized, and therefore without NUL.
fn sanitized_variable(bytes: &[u8]) -> OsString {
    Sanitized(bytes).to_string().into()
}
