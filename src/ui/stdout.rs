//! stdout and what takes its place as the destination of results: a pager, the frame of `--watch`, an output thread, or
//! the command as a whole.
//!
//! stdout that was closed when the process began refuses output. If stdout cannot be written to, a command that changes
//! something completes what it has begun, and reports on stderr what it did.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use super::member::{MemberMessage, MemberSender};
use super::output_thread::OutputThread;
use super::pager::{PagerCommand, RunningPager};
use super::{Ui, end_by_sigpipe_or_stdout_error, is_closed_pipe};
use crate::error::{Error, Kind};
use crate::text;

pub(crate) struct ResultWriter {
    stdout: BufWriter<StdoutFailingIfClosed>,
    to: Destination,
}

enum Destination {
    Stdout,
    /// Output is buffered until it no longer fits on the screen. Then the pager starts.
    Buffered(PagerCommand, Vec<u8>),
    Pager(PagerCommand, RunningPager),
    /// Results are collected, with the notes or without.
    Frame {
        bytes: Vec<u8>,
        with_notes: bool,
    },
    /// Output is buffered until a flush sends it to the thread.
    OutputThread(OutputThread, Vec<u8>),
    /// The output of a member, sent to the command that joins the outputs of all members.
    Members(MemberSender),
}

impl ResultWriter {
    pub(crate) fn to_stdout() -> ResultWriter {
        ResultWriter {
            stdout: BufWriter::with_capacity(1 << 16, StdoutFailingIfClosed::new()),
            to: Destination::Stdout,
        }
    }

    /// From now on, sends output to a pager as soon as it does not fit on the screen.
    pub(crate) fn set_pager(&mut self, pager: PagerCommand) {
        self.to = Destination::Buffered(pager, Vec::new());
    }

    /// From now on, collects results in a frame, with the notes or without.
    pub(crate) fn begin_frame(&mut self, with_notes: bool) {
        let bytes = Vec::new();
        self.to = Destination::Frame { bytes, with_notes };
    }

    /// Takes the output collected in the frame.
    pub(crate) fn take_frame(&mut self) -> Vec<u8> {
        match &mut self.to {
            Destination::Frame { bytes, .. } => std::mem::take(bytes),
            _ => Vec::new(),
        }
    }

    /// Writes to stdout again, also if a thread wrote until now.
    pub(crate) fn return_to_stdout(&mut self) {
        self.to = Destination::Stdout;
    }

    /// From now on, a thread writes all output.
    pub(crate) fn set_output_thread(&mut self, thread: OutputThread) {
        self.to = Destination::OutputThread(thread, Vec::new());
    }

    /// From now on, sends all output to the command as a whole.
    pub(super) fn set_member_sender(&mut self, sender: MemberSender) {
        self.to = Destination::Members(sender);
    }

    /// The thread that writes, if there is one.
    pub(crate) fn output_thread(&self) -> Option<&OutputThread> {
        match &self.to {
            Destination::OutputThread(thread, _) => Some(thread),
            _ => None,
        }
    }

    /// Writes a note to stderr after the results before it. A frame gets the note itself, or drops it. Ignores a
    /// failure, because nothing could report it.
    pub(crate) fn write_note(&mut self, note: &[u8]) {
        match &mut self.to {
            Destination::Frame { bytes, with_notes } => {
                if *with_notes {
                    bytes.extend_from_slice(note);
                }
            }
            Destination::Members(sender) => sender.send(MemberMessage::Note(note.to_vec())),
            _ => {
                _ = self.flush_and_wait_for_pager();
                match &self.to {
                    Destination::OutputThread(thread, _) => thread.queue_stderr(note.to_vec()),
                    _ => _ = io::stderr().write_all(note),
                }
            }
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout => self.stdout.write_all(bytes),
            Destination::Frame { bytes: buffer, .. } | Destination::OutputThread(_, buffer) => {
                buffer.extend_from_slice(bytes);
                Ok(())
            }
            Destination::Pager(_, running) => running.write_unless_quit(bytes),
            Destination::Members(sender) => {
                sender.send(MemberMessage::Bytes(bytes.to_vec()));
                Ok(())
            }
            Destination::Buffered(pager, buffer) => {
                buffer.extend_from_slice(bytes);
                if pager.fits_screen(buffer) {
                    return Ok(());
                }
                let (pager, buffer) = (pager.clone(), std::mem::take(buffer));
                match pager.start() {
                    Ok(mut running) => {
                        let written = running.write_unless_quit(&buffer);
                        self.to = Destination::Pager(pager, running);
                        written
                    }
                    Err(_) => {
                        self.to = Destination::Stdout;
                        self.stdout.write_all(&buffer)
                    }
                }
            }
        }
    }

    /// Takes the buffered output that could not be written to stdout.
    pub(crate) fn take_unwritten(&mut self) -> Vec<u8> {
        let fresh = BufWriter::with_capacity(1 << 16, StdoutFailingIfClosed::new());
        let (_, unwritten) = std::mem::replace(&mut self.stdout, fresh).into_parts();
        unwritten.unwrap_or_default()
    }

    /// Flushes the output. If a pager is running, waits until the user has quit it.
    pub(crate) fn flush_and_wait_for_pager(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout | Destination::Frame { .. } => {}
            Destination::Members(sender) => {
                let (written, flushed) = channel();
                sender.send(MemberMessage::Flush(written));
                // The command as a whole drops its sender after the flush, which ends `recv`. It never sends a
                // message.
                _ = flushed.recv();
            }
            Destination::OutputThread(thread, buffer) => {
                thread.queue_stdout(std::mem::take(buffer));
                return Ok(());
            }
            Destination::Buffered(_, buffer) => self.stdout.write_all(&std::mem::take(buffer))?,
            Destination::Pager(pager, _) => {
                let buffered = Destination::Buffered(pager.clone(), Vec::new());
                if let Destination::Pager(_, running) = std::mem::replace(&mut self.to, buffered) {
                    running.wait_for_quit();
                }
            }
        }
        self.stdout.flush()
    }
}

/// Whether stdout was closed when the process began. Before `main`, Rust opens `/dev/null` in place of a closed
/// stdout. Output, such as the jobs of a `pop`, would then be lost without an error.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Sets [`WAS_CLOSED`] before `main`, and before Rust opens `/dev/null`.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code)]
#[used]
// SAFETY: the loader calls each function of this section once, before other threads exist. The function makes
// one system call and writes an atomic, and needs nothing that `main` would have to set up.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
    look
};

/// The process's stdout.
pub(super) struct StdoutFailingIfClosed(io::Stdout);

impl StdoutFailingIfClosed {
    pub(super) fn new() -> StdoutFailingIfClosed {
        StdoutFailingIfClosed(io::stdout())
    }
}

impl Write for StdoutFailingIfClosed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if WAS_CLOSED.load(Ordering::Relaxed) {
            return Err(rustix::io::Errno::BADF.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Maximum size in bytes of the lost output that is kept for stderr.
const MAX_KEPT: usize = 4096;

/// The output that could not be written.
#[derive(Default)]
pub(super) struct LostOutput {
    /// Whether the command goes on if stdout cannot be written to, and keeps the lost output.
    is_kept: bool,
    /// Whether it goes on even if the reader has closed stdout. Otherwise a closed stdout ends the process.
    outlives_reader: bool,
    fault: Option<io::Error>,
    text: Vec<u8>,
    lines: u64,
}

impl LostOutput {
    pub(super) fn keeps_output_after(&self, fault: &io::Error) -> bool {
        self.is_kept && (self.outlives_reader || !is_closed_pipe(fault))
    }

    pub(super) fn has_lost_output(&self) -> bool {
        self.fault.is_some()
    }

    pub(super) fn begin_keeping_lost_output(&mut self, fault: io::Error, unwritten: Vec<u8>) {
        self.fault.get_or_insert(fault);
        self.add_lost(&unwritten);
    }

    pub(super) fn add_lost(&mut self, bytes: &[u8]) {
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let room = (MAX_KEPT + 1).saturating_sub(self.text.len());
        self.text.extend(&bytes[..room.min(bytes.len())]);
    }
}

impl Ui {
    /// From now on, the command completes what it has begun even if stdout cannot be written to. The lost output is
    /// kept for stderr.
    pub(crate) fn continue_if_stdout_fails(&mut self) {
        self.lost.is_kept = true;
    }

    /// From now on, the command completes what it has begun even if the reader has closed stdout. Otherwise a
    /// closed stdout ends the process.
    pub(crate) fn continue_if_reader_closes_stdout(&mut self) {
        self.lost.outlives_reader = true;
    }

    /// Why output was lost, if it was.
    pub(crate) fn lost_output_error(&self) -> Option<Error> {
        let what = "cannot write to stdout";
        let error = match (&self.lost.fault, &self.member) {
            (Some(fault), _) => Error::from_io(Kind::File, what, fault),
            (None, Some(member)) if member.stdout_lost.load(Ordering::Relaxed) => {
                Error::new(Kind::File, what)
            }
            (None, _) => return None,
        };
        Some(if self.is_unchanged {
            error
        } else {
            error.hint("the changes were made")
        })
    }

    /// Forgets the text of the lost output, because the command has undone the changes that the text reports.
    pub(crate) fn forget_lost_output_text(&mut self) {
        (self.lost.text, self.lost.lines) = (Vec::new(), 0);
    }

    /// Writes the lost output to stderr, or only its number of lines if it is too long. Ends the process if the
    /// reader has closed stdout.
    pub(crate) fn print_lost_output_to_stderr(&mut self) {
        let Some(fault) = self.lost.fault.take() else {
            return;
        };
        if is_closed_pipe(&fault) {
            _ = end_by_sigpipe_or_stdout_error(fault);
        }
        let text = std::mem::take(&mut self.lost.text);
        if text.len() > MAX_KEPT {
            let lines = text::format_count(self.lost.lines, "line", "lines");
            self.write_stderr(&format!("{lines} could not be written to stdout\n"));
        } else if !text.is_empty() {
            self.write_stderr("this could not be written to stdout:\n");
            self.write_stderr(&text::sanitize_keeping_lines(&text));
        }
    }
}
