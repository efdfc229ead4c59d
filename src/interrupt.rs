//! Signals in bulk work: the first is a wish, looked at between slices; the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Kind;
use crate::exit::Exit;

/// Whether somebody asked us to interrupt.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    interrupted: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on; before that, signals end the process as ever.
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
            // The order matters: the shutdown sees the flag only from the second signal on. A
            // signal that cannot be listened to keeps its default action.
            let code = exit.code().into();
            _ = flag::register_conditional_shutdown(signal, code, flagged.clone());
            _ = flag::register(signal, flagged.clone());
        }
        interrupt
    }

    /// Returns what was asked for, if anything.
    pub(crate) fn asked(&self) -> Option<Kind> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Kind::Interrupted);
        }
        self.terminated
            .load(Ordering::Relaxed)
            .then_some(Kind::Terminated)
    }
}
