//! The output of `-v`: each server call with its duration. `-vv` adds arguments and replies.

use std::io::{self, Write};
use std::time::Duration;

use crate::text::Sanitized;

/// Prints the core's calls on stderr. Prints nothing without `-v`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallTracer {
    level: u8,
}

impl CallTracer {
    pub(crate) fn new(level: u8) -> CallTracer {
        CallTracer { level }
    }

    /// Whether calls are shown.
    pub fn shows_calls(self) -> bool {
        self.level > 0
    }

    /// Whether arguments and replies are shown too.
    pub fn shows_replies(self) -> bool {
        self.level > 1
    }

    /// Shows one exchange with the server.
    pub fn print_exchange(self, what: &str, elapsed: Duration) {
        if self.shows_calls() {
            let millis = elapsed.as_secs_f64() * 1e3;
            _ = writeln!(io::stderr(), "  {millis:.1} ms  {}", Sanitized(what));
        }
    }
}
