//! Signals during bulk work. The first one ends the command after the current slice, the second one
//! immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Kind;
use crate::exit::Exit;

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
