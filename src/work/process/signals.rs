//! Pipes that become readable when this process gets a signal, or when another thread wants to end a wait.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::io::ioctl_fionbio;
#[cfg(target_os = "linux")]
use rustix::process::Signal;
use signal_hook::SigId;
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGPROF, SIGTTIN, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXFSZ,
};
use signal_hook::{flag, low_level};

use super::ProcessEvent;
use crate::interrupt::SignalDebouncer;

/// Signals to ignore: a job may send them, and by default they would end this program. With SIGXFSZ ignored, a write
/// beyond the maximum size of a file fails. SIGXCPU is not ignored: the limit of CPU time ends this program.
const IGNORED: [i32; 6] = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXFSZ];

/// Further signals to ignore on Linux: the real-time signals, and signals that other systems ignore or do not have. The
/// C library may keep the first real-time signals for itself.
#[cfg(target_os = "linux")]
fn more_signals_to_ignore() -> impl Iterator<Item = i32> {
    let named = [Signal::IO, Signal::POWER, Signal::STKFLT].map(Signal::as_raw);
    named.into_iter().chain(32..=64)
}

#[cfg(not(target_os = "linux"))]
fn more_signals_to_ignore() -> impl Iterator<Item = i32> {
    std::iter::empty()
}

/// The pipes into which the handlers of signals write one byte per signal.
#[derive(Debug)]
pub(super) struct SignalPipes {
    pipes: Vec<(i32, PipeReader)>,
    handlers: Vec<SigId>,
    ends: SignalDebouncer,
}

impl SignalPipes {
    /// Handles SIGCHLD and `signals`, and ignores other signals that would end this process. The programs of jobs get
    /// the default action of each signal.
    pub(super) fn handle_signals_and_ignore_others(signals: &[i32]) -> io::Result<SignalPipes> {
        let mut listening = SignalPipes {
            pipes: Vec::new(),
            handlers: Vec::new(),
            ends: SignalDebouncer::default(),
        };
        let nothing = Arc::new(AtomicBool::new(false));
        for signal in IGNORED {
            let handler = flag::register(signal, nothing.clone())?;
            listening.handlers.push(handler);
        }
        let handlers =
            more_signals_to_ignore().map(|signal| flag::register(signal, nothing.clone()));
        listening.handlers.extend(handlers.flatten());
        for &signal in [SIGCHLD].iter().chain(signals) {
            let (reader, writer) = io::pipe()?;
            ioctl_fionbio(&reader, true)?;
            let handler = low_level::pipe::register(signal, OwnedFd::from(writer))?;
            listening.handlers.push(handler);
            listening.pipes.push((signal, reader));
        }
        Ok(listening)
    }

    pub(super) fn len(&self) -> usize {
        self.pipes.len()
    }

    pub(super) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// Empties the pipe of a signal and adds an event for each signal. Signals that ask to end and come shortly after
    /// each other count as one. SIGCHLD adds no event: for it, the result is true, because a child has ended.
    pub(super) fn report_signals_and_has_child_ended(
        &mut self,
        at: usize,
        events: &mut Vec<ProcessEvent>,
    ) -> bool {
        let Some((signal, pipe)) = self.pipes.get_mut(at) else {
            return false;
        };
        let mut count = empty_pipe(pipe);
        if *signal == SIGCHLD {
            return count > 0;
        }
        if *signal != SIGTTIN && count > 0 {
            count = usize::from(self.ends.count_signal_unless_repeated(Instant::now()));
        }
        events.extend((0..count).map(|_| ProcessEvent::Signal(*signal)));
        false
    }
}

impl Drop for SignalPipes {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            low_level::unregister(handler);
        }
    }
}

/// Reads and drops all bytes in a pipe, and returns their number.
fn empty_pipe(pipe: &mut PipeReader) -> usize {
    let mut bytes = [0; 256];
    let mut count = 0;
    // The pipe is non-blocking: once it is empty, a read fails and ends the loop.
    while let Ok(read @ 1..) = pipe.read(&mut bytes) {
        count += read;
    }
    count
}

/// Ends a wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<WakerState>);

#[derive(Debug)]
struct WakerState {
    pipe: PipeWriter,
    /// Whether a byte is in the pipe, or is about to be.
    is_pending: AtomicBool,
}

impl Waker {
    /// Ends the present wait, or the next one.
    pub fn wake(&self) {
        if !self.0.is_pending.swap(true, Ordering::AcqRel) {
            // The write never blocks: the pipe holds one byte at most.
            _ = (&self.0.pipe).write(&[0]);
        }
    }
}

/// The other end of a [`Waker`].
#[derive(Debug)]
pub(super) struct WakerReceiver {
    pipe: PipeReader,
    wakeup: Arc<WakerState>,
}

impl WakerReceiver {
    pub(super) fn new() -> io::Result<(WakerReceiver, Waker)> {
        let (reader, writer) = io::pipe()?;
        ioctl_fionbio(&reader, true)?;
        ioctl_fionbio(&writer, true)?;
        let wakeup = Arc::new(WakerState {
            pipe: writer,
            is_pending: AtomicBool::new(false),
        });
        let wakeups = WakerReceiver {
            pipe: reader,
            wakeup: wakeup.clone(),
        };
        Ok((wakeups, Waker(wakeup)))
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Takes the pending call of [`Waker::wake`], so that the next call writes to the pipe again. Returns whether there
    /// was one.
    pub(super) fn take_pending_wake(&mut self) -> bool {
        // Empty the pipe before clearing the flag. A call of `wake` between these two writes no byte, and needs none,
        // since the present wait ends anyway.
        let count = empty_pipe(&mut self.pipe);
        self.wakeup.is_pending.swap(false, Ordering::AcqRel) || count > 0
    }
}
