//! Signals during bulk work. The first one ends the command after the current slice, the second one
//! immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::error::Kind;
use crate::exit::Exit;

/// Time between two checks of the signals.
const CHECK: Duration = Duration::from_millis(20);

/// Whether a signal asked the command to end.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupt {
    /// Handles signals from now on. Before that, they end the process.
    pub(crate) fn listen() -> Interrupt {
        let interrupt = Interrupt {
            interrupted: Arc::default(),
            terminated: Arc::default(),
        };
        let signals = [
            (SIGINT, &interrupt.interrupted, Exit::Interrupted),
            (SIGTERM, &interrupt.terminated, Exit::Terminated),
            (SIGHUP, &interrupt.terminated, Exit::Terminated),
        ];
        for (signal, flagged, exit) in signals {
            // The order matters: the shutdown must see the flag only from the second signal on. A
            // signal that cannot be handled keeps its default action.
            let code = exit.code().into();
            _ = flag::register_conditional_shutdown(signal, code, flagged.clone());
            _ = flag::register(signal, flagged.clone());
        }
        interrupt
    }

    /// Ends the process if the command has not ended by itself this long after a signal: it may wait
    /// for a server. For commands that have nothing left to finish.
    pub(crate) fn end_process_after(&self, patience: Duration) {
        let interrupt = self.clone();
        thread::spawn(move || {
            let kind = loop {
                thread::sleep(CHECK);
                if let Some(kind) = interrupt.asked() {
                    break kind;
                }
            };
            thread::sleep(patience);
            low_level::exit(kind.exit().code().into());
        });
    }

    /// Returns the kind of the signal that came, if one did.
    pub(crate) fn asked(&self) -> Option<Kind> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Kind::Interrupted);
        }
        self.terminated
            .load(Ordering::Relaxed)
            .then_some(Kind::Terminated)
    }
}
