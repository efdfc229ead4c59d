//! Signals that ask a command to end. The first signal ends bulk work after the current slice. The second one ends
//! the process immediately.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::error::{Error, Kind};
use crate::threads;

/// Time between two checks of the signals.
pub(crate) const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The time after a counted signal in which further signals count as repetitions: timeout(1), systemd and process
/// managers signal a process and then its group.
const REPEAT_WINDOW: Duration = Duration::from_secs(1);

/// Whether to install a handler for a signal: not for SIGHUP if the process that started this one ignores it, as nohup(1)
/// does. Call this before the handler is installed. Without `/proc`, the answer is always yes.
pub(crate) fn may_handle(signal: i32) -> bool {
    static IS_HANGUP_IGNORED: OnceLock<bool> = OnceLock::new();
    let is_ignored = || {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
    };
    signal != SIGHUP || !IS_HANGUP_IGNORED.get_or_init(is_ignored)
}

/// Distinguishes a new request to end from a repetition of the last signal.
#[derive(Debug, Default)]
pub(crate) struct SignalDebouncer {
    /// When the last request came that counted.
    counted_at: Option<Instant>,
}

impl SignalDebouncer {
    /// Notes a signal. Returns whether it is a new request to end, not a repetition within `REPEAT_WINDOW`.
    pub(crate) fn count_signal_unless_repeated(&mut self, now: Instant) -> bool {
        let counts = self.counted_at.is_none_or(|at| now - at >= REPEAT_WINDOW);
        if counts {
            self.counted_at = Some(now);
        }
        counts
    }
}

/// Whether a signal asked the command to end.
#[derive(Clone, Debug)]
pub(crate) struct InterruptFlags {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl InterruptFlags {
    /// Installs the signal handlers at the first call. Until then, a signal ends the process. All callers share the
    /// flags.
    pub(crate) fn install_handlers_once() -> InterruptFlags {
        static SHARED: OnceLock<InterruptFlags> = OnceLock::new();
        SHARED
            .get_or_init(InterruptFlags::install_signal_handlers)
            .clone()
    }

    fn install_signal_handlers() -> InterruptFlags {
        let interrupt = InterruptFlags {
            interrupted: Arc::default(),
            terminated: Arc::default(),
        };
        // Without the thread that ends the process at the second signal, signals keep their default action.
        let Ok((received, sender)) = io::pipe() else {
            return interrupt;
        };
        if interrupt.spawn_exit_at_second_signal(received).is_err() {
            return interrupt;
        }
        let signals = [
            (SIGINT, &interrupt.interrupted),
            (SIGTERM, &interrupt.terminated),
            (SIGHUP, &interrupt.terminated),
        ];
        for (signal, flagged) in signals {
            if !may_handle(signal) {
                continue;
            }
            if let Ok(sender) = sender.try_clone() {
                _ = flag::register(signal, flagged.clone());
                _ = low_level::pipe::register(signal, OwnedFd::from(sender));
            }
        }
        interrupt
    }

    /// Starts a thread that ends the process at the second signal, since the command itself may be waiting for a
    /// server.
    fn spawn_exit_at_second_signal(&self, mut received: io::PipeReader) -> Result<(), Error> {
        let interrupt = self.clone();
        threads::spawn(move || {
            let mut requests = SignalDebouncer::default();
            let mut counted = 0;
            while counted < 2 && received.read_exact(&mut [0]).is_ok() {
                counted += u32::from(requests.count_signal_unless_repeated(Instant::now()));
            }
            if let Some(kind) = interrupt.error_kind_of_received_signal() {
                low_level::exit(kind.exit().code().into());
            }
        })?;
        Ok(())
    }

    /// Starts a thread that ends the process `patience` after a signal, even if the command still waits for a server.
    /// For commands that have nothing left to finish.
    pub(crate) fn spawn_exit_after_signal(&self, patience: Duration) -> Result<(), Error> {
        let interrupt = self.clone();
        threads::spawn(move || {
            let kind = loop {
                thread::sleep(SIGNAL_CHECK_INTERVAL);
                if let Some(kind) = interrupt.error_kind_of_received_signal() {
                    break kind;
                }
            };
            thread::sleep(patience);
            low_level::exit(kind.exit().code().into());
        })?;
        Ok(())
    }

    /// The error kind for the received signal: interrupted or terminated. `None` if no signal came.
    pub(crate) fn error_kind_of_received_signal(&self) -> Option<Kind> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Kind::Interrupted);
        }
        self.terminated
            .load(Ordering::Relaxed)
            .then_some(Kind::Terminated)
    }

    /// Waits until this time has passed or a signal comes. Returns the error kind for the signal.
    pub(crate) fn wait_for_signal(&self, time: Duration) -> Option<Kind> {
        let begun = Instant::now();
        while self.error_kind_of_received_signal().is_none() && begun.elapsed() < time {
            thread::sleep(SIGNAL_CHECK_INTERVAL.min(time.saturating_sub(begun.elapsed())));
        }
        self.error_kind_of_received_signal()
    }
}
