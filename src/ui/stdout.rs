//! stdout that cannot be written to: it refuses output if it was closed when the process began, and a command that
//! changes something completes what it has begun, and reports on stderr what it did.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Ui, end_by_sigpipe_or_stdout_error, is_closed_pipe};
use crate::error::{Error, Kind};
use crate::text;

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
    pub(crate) fn print_lost_output(&mut self) {
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
