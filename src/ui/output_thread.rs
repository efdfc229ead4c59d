//! A thread that writes to stdout and stderr, for a program that must not wait for their readers.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::LiveLines;
use super::stdout::StdoutFailingIfClosed;
use crate::error::Error;
use crate::threads;

/// Number of bytes waiting to be written above which the program should add no more.
const FULL: usize = 256 * 1024;

/// A part of the output. The thread writes the parts in the order in which they were queued.
enum OutputChunk {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// The status line, on a terminal.
    Status(String),
}

/// The state that both threads share.
struct SharedOutputState {
    /// The number of bytes that are not written yet.
    waiting: AtomicUsize,
    /// Whether the thread has to call `on_drained` once everything is written.
    is_awaited: AtomicBool,
    /// Wakes the threads that wait in [`OutputThread::wait_until_written`].
    written: (Mutex<()>, Condvar),
    /// The first error of a write to stdout. That the reader has closed stdout does not count.
    fault: Mutex<Option<io::Error>>,
}

/// The sender to the output thread.
pub(crate) struct OutputThread {
    chunks: Sender<OutputChunk>,
    state: Arc<SharedOutputState>,
}

impl OutputThread {
    /// Starts the thread. It calls `on_drained` once everything is written, if [`OutputThread::is_full`] or
    /// [`OutputThread::is_empty`] found unwritten output before.
    pub(crate) fn start(
        status: Option<LiveLines>,
        on_drained: impl Fn() + Send + 'static,
    ) -> Result<OutputThread, Error> {
        let (chunks, inbox) = channel();
        let state = Arc::new(SharedOutputState {
            waiting: AtomicUsize::new(0),
            is_awaited: AtomicBool::new(false),
            written: (Mutex::new(()), Condvar::new()),
            fault: Mutex::new(None),
        });
        let shared = state.clone();
        threads::spawn(move || write_chunks(&inbox, status, &shared, on_drained))?;
        Ok(OutputThread { chunks, state })
    }

    pub(crate) fn queue_stdout(&self, bytes: Vec<u8>) {
        self.queue_chunk_without_waiting(bytes.len(), OutputChunk::Stdout(bytes));
    }

    pub(crate) fn queue_stderr(&self, bytes: Vec<u8>) {
        self.queue_chunk_without_waiting(bytes.len(), OutputChunk::Stderr(bytes));
    }

    /// Queues a status line, unless the line is empty or earlier output still waits to be written.
    pub(crate) fn queue_status_if_no_output_waits(&self, line: String) {
        if self.state.waiting.load(Ordering::Acquire) == 0 {
            self.queue_chunk_without_waiting(line.len(), OutputChunk::Status(line));
        }
    }

    fn queue_chunk_without_waiting(&self, bytes: usize, chunk: OutputChunk) {
        if bytes > 0 {
            self.state.waiting.fetch_add(bytes, Ordering::AcqRel);
            // Ignore a failure: the thread lives as long as this value, so there is a receiver.
            _ = self.chunks.send(chunk);
        }
    }

    /// Whether the waiting output has reached its limit, so that the program should add no more. Then `on_drained`
    /// will be called.
    pub(crate) fn is_full(&self) -> bool {
        self.request_on_drained_if_above(FULL)
    }

    /// Whether everything is written.
    pub(crate) fn is_empty(&self) -> bool {
        !self.request_on_drained_if_above(0)
    }

    fn request_on_drained_if_above(&self, bytes: usize) -> bool {
        let waiting = || self.state.waiting.load(Ordering::SeqCst) > bytes;
        if !waiting() {
            return false;
        }
        self.state.is_awaited.store(true, Ordering::SeqCst);
        // Check once more: the thread may have written the last bytes before the flag was set, and then it does
        // not call `on_drained`.
        waiting()
    }

    /// The error of the first write to stdout that failed, reported once.
    pub(crate) fn take_write_fault(&self) -> Option<io::Error> {
        self.state.fault.lock().ok()?.take()
    }

    /// Waits up to `patience` until everything is written. The result is whether everything is.
    pub(crate) fn wait_until_written(&self, patience: Duration) -> bool {
        let (lock, written) = &self.state.written;
        let Ok(guard) = lock.lock() else {
            return false;
        };
        let is_waiting = |_: &mut ()| self.state.waiting.load(Ordering::SeqCst) > 0;
        _ = written.wait_timeout_while(guard, patience, is_waiting);
        self.state.waiting.load(Ordering::SeqCst) == 0
    }
}

/// Writes the chunks in the order in which they arrive. If a stream cannot be written to, drops the chunks for this
/// stream and goes on.
fn write_chunks(
    inbox: &Receiver<OutputChunk>,
    mut status: Option<LiveLines>,
    state: &SharedOutputState,
    on_drained: impl Fn(),
) {
    let mut has_failed = false;
    while let Ok(chunk) = inbox.recv() {
        let bytes = match chunk {
            OutputChunk::Stdout(bytes) => {
                status.as_mut().map(LiveLines::clear_lines);
                let mut stdout = StdoutFailingIfClosed::new();
                if let Err(error) = stdout.write_all(&bytes).and_then(|()| stdout.flush())
                    && !super::is_closed_pipe(&error)
                    && !std::mem::replace(&mut has_failed, true)
                    && let Ok(mut fault) = state.fault.lock()
                {
                    *fault = Some(error);
                }
                bytes.len()
            }
            OutputChunk::Stderr(bytes) => {
                status.as_mut().map(LiveLines::clear_lines);
                _ = io::stderr().write_all(&bytes);
                bytes.len()
            }
            OutputChunk::Status(line) => {
                let bytes = line.len();
                if let Some(status) = &mut status {
                    status.show_lines(&[line]);
                }
                bytes
            }
        };
        if state.waiting.fetch_sub(bytes, Ordering::SeqCst) == bytes {
            let (lock, written) = &state.written;
            drop(lock.lock());
            written.notify_all();
            if state.is_awaited.swap(false, Ordering::SeqCst) {
                on_drained();
            }
        }
    }
    status.as_mut().map(LiveLines::clear_lines);
}
