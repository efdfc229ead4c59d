//! The messages of a worker to a service manager such as systemd: it is ready, alive, or stopping.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// The service manager, such as systemd, that started this program. Without one, nothing is sent.
#[derive(Debug)]
pub(super) struct ServiceManager {
    /// Time between two keep-alive messages. `None` if the service manager expects none.
    every: Option<Duration>,
    next: Instant,
}

impl ServiceManager {
    /// Tells the service manager that the worker is ready. A failure is ignored: the worker does not depend on it.
    pub(super) fn report_ready() -> ServiceManager {
        _ = sd_notify::notify(&[NotifyState::Ready]);
        ServiceManager {
            // Send keep-alive messages at half the manager's interval. So a message that is a little late does not make
            // the manager end the program.
            every: sd_notify::watchdog_enabled().map(|limit| limit / 2),
            next: Instant::now(),
        }
    }

    /// Sends a keep-alive message if one is due. Returns when the next one is due.
    pub(super) fn report_alive_if_due(&mut self) -> Option<Instant> {
        let every = self.every?;
        if self.next <= Instant::now() {
            _ = sd_notify::notify(&[NotifyState::Watchdog]);
            self.next = Instant::now() + every;
        }
        Some(self.next)
    }

    /// Says that the worker pops nothing more.
    pub(super) fn report_stopping(&self) {
        _ = sd_notify::notify(&[NotifyState::Stopping]);
    }
}
