//! The programs that run jobs: started, fed and read by one thread that waits for all of them.
//!
//! Each program has a slot, and a process group of its own. This module does not use Redis, and does not decide how
//! jobs end: [`Processes::wait_for_events`] returns lines, output, ends and signals in their order.

pub mod answer;
mod launch;
mod pipe;
pub(super) mod sandbox;
mod signals;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::OnceLock;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::low_level::signal_name;

pub(super) use self::launch::check_program;
pub(crate) use self::launch::terminate_when_parent_dies;
pub use self::launch::{Launch, ProgramDirectory, StartFailure, StdoutMode};
use self::pipe::{InputPipe, OutputPipe, PipeTarget};
use self::sandbox::SlotSandboxes;
pub use self::signals::Waker;
use self::signals::{SignalPipes, WakerReceiver};
use super::launcher::job_and_service_variables;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::model::work::ProcessExit;
use crate::text::sanitize_keeping_lines;

/// The descriptor on which a program writes its answers.
pub const ANSWER_DESCRIPTOR: i32 = 3;

/// Maximum number of bytes of one read from a pipe: the default capacity of a pipe.
const READ_SIZE: usize = 64 * 1024;

/// About the number of bytes that are read from a pipe after its program has ended: the largest capacity of a pipe.
/// Another program may have inherited the pipe. What it writes later is not read.
const MAX_READ_AFTER_END: usize = 1024 * 1024;

/// A stream of a program that is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// An event that [`Processes::wait_for_events`] reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// A line, without its newline, that a program wrote to descriptor 3, or to stdout if answers come there. A line
    /// that is too long is cut, and its rest is dropped.
    Line {
        slot: usize,
        line: Vec<u8>,
        is_whole: bool,
    },
    /// Output to pass on: whole lines with their newlines. A long line comes in parts, and the last
    /// line of a program may have no newline.
    Output {
        slot: usize,
        stream: OutputStream,
        bytes: Vec<u8>,
    },
    /// A persistent program has closed every pipe for its answers, so no further line comes from it.
    Mute { slot: usize },
    /// The program ended. All lines and output that it left have been reported before.
    Ended { slot: usize, end: EndedProcess },
    /// This program received a signal.
    Signal(i32),
    /// [`Waker::wake`] was called, once or more often.
    Woken,
}

/// How a process ended, and what it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedProcess {
    pub exit: ProcessExit,
    /// The end of what the process wrote to stderr, sanitized and trimmed.
    pub message: String,
    /// The stdout of the process, if it was captured and is JSON: the new data of the job.
    pub data: Option<Vec<u8>>,
    /// Why the captured stdout cannot be the data of the job, as the end of a sentence about it.
    pub unusable_output: Option<String>,
    /// How many lines a persistent process had been sent that it did not read completely. 0 if this program has
    /// closed its stdin.
    pub unread_lines: usize,
}

/// The programs that run, at most one per slot.
///
/// On Linux a program gets SIGTERM when the thread that started it ends, so [`Processes::start`]
/// must be called from a thread that lives as long as the program does.
#[derive(Debug)]
pub struct Processes {
    slots: Vec<Option<RunningProgram>>,
    signals: SignalPipes,
    wakeups: WakerReceiver,
    error_bytes: usize,
    /// Whether the output of programs stays in its pipes for now, instead of being passed on.
    holds_output: bool,
    /// The variables that no program inherits.
    removed: Vec<OsString>,
    sandboxes: SlotSandboxes,
    buffer: Vec<u8>,
    /// What each descriptor of the present poll belongs to, in the order of the descriptors.
    sources: Vec<PollSource>,
    ready: Vec<PollSource>,
}

/// A program that runs.
#[derive(Debug)]
struct RunningProgram {
    child: Child,
    group: Pid,
    stdin: InputPipe,
    /// Stdout, stderr and descriptor 3.
    outputs: [OutputPipe; 3],
    /// Whether the program stays for further jobs, and so must answer by lines.
    stays: bool,
    /// Whether the rest of the process group is killed when the program ends: the program was sent SIGTERM or SIGKILL,
    /// or the next program gets its directory.
    ends_group: bool,
}

/// The owner of a descriptor.
#[derive(Clone, Copy, Debug)]
enum PollSource {
    Signal(usize),
    Wakeup,
    Stdin(usize),
    Output(usize, usize),
}

impl Processes {
    /// Installs the handlers of signals, creates the pipe of the [`Waker`], and reserves descriptor 3 if it is free.
    ///
    /// Call this before the first connection, which could take descriptor 3.
    ///
    /// `error_bytes`: how many bytes at the end of stderr are kept for the message of a failure. `signals`: the signals
    /// of this program that [`Processes::wait_for_events`] reports. `secrets`: variables that no program inherits.
    pub fn new(
        error_bytes: usize,
        signals: &[i32],
        secrets: &[OsString],
    ) -> Result<(Processes, Waker), Error> {
        let fault = |fault: std::io::Error| {
            let why = io_message_without_errno(&fault);
            let error = Error::new(Kind::Error, format!("cannot prepare for programs: {why}"));
            if fault.raw_os_error() == Some(Errno::MFILE.raw_os_error()) {
                error.hint("no job was popped; `ulimit -n 1024` allows more open files")
            } else {
                error
            }
        };
        reserve_answer_descriptor().map_err(fault)?;
        let (wakeups, waker) = WakerReceiver::new().map_err(fault)?;
        let processes = Processes {
            slots: Vec::new(),
            signals: SignalPipes::handle_signals_and_ignore_others(signals).map_err(fault)?,
            wakeups,
            error_bytes,
            holds_output: false,
            removed: secrets
                .iter()
                .cloned()
                .chain(job_and_service_variables())
                .collect(),
            sandboxes: SlotSandboxes::default(),
            buffer: vec![0; READ_SIZE],
            sources: Vec::new(),
            ready: Vec::new(),
        };
        Ok((processes, waker))
    }

    /// Starts a program in a free slot and returns its process id.
    pub fn start(&mut self, slot: usize, launch: Launch<'_>) -> Result<u32, StartFailure> {
        if self.pid_in_slot(slot).is_some() {
            return Err(StartFailure::exhausted_system(format!(
                "slot {slot} is not free"
            )));
        }
        let exhausted = |fault| StartFailure::exhausted_system(io_message_without_errno(&fault));
        reserve_answer_descriptor().map_err(exhausted)?;
        let running =
            launch.start_program(slot, &mut self.sandboxes, &self.removed, self.error_bytes)?;
        let pid = running.child.id();
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(running);
        Ok(pid)
    }

    /// Queues a line for the stdin of a program. The line is written as fast as the program reads, and dropped if the
    /// program has ended or closed its stdin.
    pub fn write_stdin(&mut self, slot: usize, bytes: Vec<u8>) {
        if let Some(running) = self.program_in_slot(slot) {
            running.stdin.write_or_queue(bytes);
        }
    }

    /// Closes the stdin of a program once all queued lines are written.
    pub fn close_stdin_when_written(&mut self, slot: usize) {
        if let Some(running) = self.program_in_slot(slot) {
            running.stdin.close_when_written();
        }
    }

    /// Sends a signal to the process group of a program. After SIGTERM or SIGKILL, the rest of the group is killed when
    /// the program ends.
    pub fn send_signal(&mut self, slot: usize, signal: Signal) {
        if let Some(running) = self.program_in_slot(slot) {
            running.ends_group |= [Signal::TERM, Signal::KILL].contains(&signal);
            // No other group can have this id: the group exists at least until the end of its program is reported.
            _ = kill_process_group(running.group, signal);
        }
    }

    /// Stops or continues reading the output that is passed on. While it is not read, a program with a full pipe waits.
    pub fn set_output_paused(&mut self, is_paused: bool) {
        self.holds_output = is_paused;
    }

    /// The variables of this program that no program inherits, those with secrets among them.
    pub(super) fn uninherited_variables(&self) -> &[OsString] {
        &self.removed
    }

    /// The process id of the program that runs in a slot.
    pub fn pid_in_slot(&self, slot: usize) -> Option<u32> {
        Some(self.slots.get(slot)?.as_ref()?.child.id())
    }

    /// Waits until an event comes or the time `until` is reached. Adds all events that have come to `events`.
    pub fn wait_for_events(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<ProcessEvent>,
    ) -> Result<(), Error> {
        let before = events.len();
        loop {
            let is_late = until.is_some_and(|until| until <= Instant::now());
            self.poll_and_collect_ready_sources(until)?;
            let mut has_ended_child = false;
            let ready = std::mem::take(&mut self.ready);
            for source in &ready {
                match *source {
                    PollSource::Signal(at) => {
                        has_ended_child |=
                            self.signals.report_signals_and_has_child_ended(at, events)
                    }
                    PollSource::Wakeup => {
                        if self.wakeups.take_pending_wake() {
                            events.push(ProcessEvent::Woken);
                        }
                    }
                    PollSource::Stdin(slot) => {
                        if let Some(running) = self.program_in_slot(slot) {
                            running.stdin.write_queued();
                        }
                    }
                    PollSource::Output(slot, at) => self.read_output(slot, at, events),
                }
            }
            self.ready = ready;
            if has_ended_child {
                self.report_ended_programs(events);
            }
            if events.len() > before || is_late {
                return Ok(());
            }
        }
    }

    fn program_in_slot(&mut self, slot: usize) -> Option<&mut RunningProgram> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Waits until a descriptor is ready, and collects the ready ones.
    fn poll_and_collect_ready_sources(&mut self, until: Option<Instant>) -> Result<(), Error> {
        let mut sources = std::mem::take(&mut self.sources);
        sources.clear();
        let mut polled = Vec::with_capacity(self.signals.len() + 1 + 4 * self.slots.len());
        let mut add = |source, descriptor, flags| {
            sources.push(source);
            polled.push(PollFd::from_borrowed_fd(descriptor, flags));
        };
        for (at, pipe) in self.signals.pipes().enumerate() {
            add(PollSource::Signal(at), pipe, PollFlags::IN);
        }
        add(PollSource::Wakeup, self.wakeups.as_fd(), PollFlags::IN);
        for (slot, running) in self.slots.iter().enumerate() {
            let Some(running) = running else { continue };
            if let Some(pipe) = running.stdin.pipe_if_bytes_queued() {
                add(PollSource::Stdin(slot), pipe, PollFlags::OUT);
            }
            for at in running.reading_order() {
                let output = &running.outputs[at];
                if self.holds_output && matches!(output.sink, PipeTarget::PassOn(_)) {
                    continue;
                }
                if let Some(pipe) = &output.pipe {
                    add(PollSource::Output(slot, at), pipe.as_fd(), PollFlags::IN);
                }
            }
        }
        let timeout = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: i64::from(i32::MAX),
                tv_nsec: 0,
            })
        });
        let polled_well = match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => Ok(()),
            Err(Errno::INTR) => {
                polled.iter_mut().for_each(PollFd::clear_revents);
                Ok(())
            }
            Err(errno) => {
                let why = io_message_without_errno(&errno.into());
                Err(Error::new(
                    Kind::Error,
                    format!("cannot wait for programs: {why}"),
                ))
            }
        };
        self.ready.clear();
        let ready = sources.iter().zip(&polled);
        self.ready.extend(
            ready
                .filter(|(_, polled)| !polled.revents().is_empty())
                .map(|(source, _)| *source),
        );
        self.sources = sources;
        polled_well
    }

    /// Reads once from a pipe of a program.
    fn read_output(&mut self, slot: usize, output_index: usize, events: &mut Vec<ProcessEvent>) {
        if let Some(Some(running)) = self.slots.get_mut(slot) {
            running.outputs[output_index].read_once(&mut self.buffer, slot, events);
            let is_closed = running.outputs[output_index].pipe.is_none();
            if running.stays && is_closed && !running.can_answer() {
                running.stays = false;
                events.push(ProcessEvent::Mute { slot });
            }
        }
    }

    fn report_ended_programs(&mut self, events: &mut Vec<ProcessEvent>) {
        for slot in 0..self.slots.len() {
            let Some(Some(running)) = self.slots.get_mut(slot) else {
                continue;
            };
            let Some(exit) = running.poll_exit_and_kill_group_if_due() else {
                continue;
            };
            for at in running.reading_order() {
                running.outputs[at].read_rest(&mut self.buffer, slot, events);
            }
            let end = running.collect_end(exit, self.error_bytes);
            self.slots[slot] = None;
            events.push(ProcessEvent::Ended { slot, end });
        }
    }
}

/// Sends SIGTERM to the programs that still run, as Linux does when this process dies.
impl Drop for Processes {
    fn drop(&mut self) {
        for running in self.slots.iter().flatten() {
            _ = kill_process_group(running.group, Signal::TERM);
        }
    }
}

impl RunningProgram {
    /// The order in which the outputs are read: answers last, so that the output written before an answer precedes it.
    fn reading_order(&self) -> [usize; 3] {
        match self.outputs[0].sink {
            PipeTarget::Answers(_) => [1, 0, 2],
            _ => [0, 1, 2],
        }
    }

    fn can_answer(&self) -> bool {
        let is_open = |output: &OutputPipe| {
            matches!(output.sink, PipeTarget::Answers(_)) && output.pipe.is_some()
        };
        self.outputs.iter().any(is_open)
    }

    /// How the program ended, if it did. Then kills the rest of its group only if `ends_group` is set: what an ordinary
    /// end leaves behind goes on.
    fn poll_exit_and_kill_group_if_due(&mut self) -> Option<Result<ExitStatus, std::io::Error>> {
        if self.ends_group {
            // Kill the rest of the group before the ended program is collected. Until then, no other group can have its
            // id.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if let Ok(None) = waitid(WaitId::Pid(self.group), options) {
                return None;
            }
            _ = kill_process_group(self.group, Signal::KILL);
        }
        self.child.try_wait().transpose()
    }

    /// How the program ended, and what it left. The message has up to `error_bytes` bytes.
    fn collect_end(
        &mut self,
        status: Result<ExitStatus, std::io::Error>,
        error_bytes: usize,
    ) -> EndedProcess {
        let [stdout, stderr, _] = &mut self.outputs;
        let mut stderr_tail = stderr.sink.take_tail();
        let exit = match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => ProcessExit::Code(code),
                (None, signal) => {
                    let name = signal.and_then(signal_name).unwrap_or("?");
                    ProcessExit::Signal(name.strip_prefix("SIG").unwrap_or(name))
                }
            },
            Err(fault) => {
                let why = io_message_without_errno(&fault);
                stderr_tail.extend(format!("the system lost the exit code: {why}\n").bytes());
                ProcessExit::Code(255)
            }
        };
        let captured = match &mut stdout.sink {
            PipeTarget::Capture(capture) => capture.take_data(),
            _ => Ok(None),
        };
        let (data, unusable_output) = match captured {
            Ok(data) => (data, None),
            Err(why) => (None, Some(why)),
        };
        EndedProcess {
            exit,
            message: failure_message(&stderr_tail, error_bytes),
            data,
            unusable_output,
            unread_lines: self.stdin.count_lines_unread_by_program(),
        }
    }
}

/// The message of a failure: the end of what a program wrote to stderr, sanitized and trimmed. The text is cut after it
/// is sanitized, since an escape is longer than the byte that it stands for.
fn failure_message(stderr_tail: &[u8], max_bytes: usize) -> String {
    let text = sanitize_keeping_lines(stderr_tail);
    let text = text.trim();
    let mut start = text.len().saturating_sub(max_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].trim_start().to_owned()
}

/// Occupies descriptor 3 of this process if it is free. During a start, the standard library opens a descriptor on
/// which the child reports why it cannot execute the program. That must not be descriptor 3, since the child replaces
/// descriptor 3 by the pipe for its answers.
fn reserve_answer_descriptor() -> std::io::Result<()> {
    static RESERVED: OnceLock<OwnedFd> = OnceLock::new();
    if RESERVED.get().is_some() {
        return Ok(());
    }
    let null = File::open("/dev/null")?;
    let lowest = rustix::io::fcntl_dupfd_cloexec(&null, ANSWER_DESCRIPTOR)?;
    if lowest.as_raw_fd() == ANSWER_DESCRIPTOR {
        // Only one thread can get descriptor 3, so the value is not set yet.
        _ = RESERVED.set(lowest);
    }
    Ok(())
}
