//! What `-v` tells: each server call with its duration; `-vv` with arguments and replies.

use std::io::{self, Write};
use std::time::Duration;

use crate::text;

/// Where the core tells its calls; silent without `-v`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    level: u8,
}

impl Trace {
    pub(crate) fn new(level: u8) -> Trace {
        Trace { level }
    }

    /// Whether anything is told at all.
    pub fn on(self) -> bool {
        self.level > 0
    }

    /// Whether arguments and replies are told too.
    pub fn full(self) -> bool {
        self.level > 1
    }

    /// Tells one exchange with the server.
    pub fn tell(self, what: &str, took: Duration) {
        if self.on() {
            let line = text::clean(what.as_bytes());
            let millis = took.as_secs_f64() * 1e3;
            _ = writeln!(io::stderr(), "  {millis:.1} ms  {line}");
        }
    }
}
