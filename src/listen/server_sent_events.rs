//! The client's end of a response without an end, such as server-sent events.

use std::io;
use std::time::{Duration, Instant};

use super::connection_table::ConnectionRegistration;

/// Maximum number of bytes that are dropped if a client sends them during a stream. More of them end the stream.
const MAX_IGNORED: usize = 64 * 1024;

/// The longest wait for the next part. Adding a longer one to a time could overflow.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The client of a stream.
#[derive(Debug)]
pub struct ServerSentEvents<'t> {
    entry: &'t ConnectionRegistration<'t>,
    ignored: usize,
}

impl<'t> ServerSentEvents<'t> {
    pub(super) fn new(entry: &'t ConnectionRegistration<'t>) -> ServerSentEvents<'t> {
        ServerSentEvents { entry, ignored: 0 }
    }

    /// Sends a part. Fails if the client has left or reads too slowly, or if the listener is stopping.
    pub fn send_part(&mut self, part: &[u8]) -> io::Result<()> {
        if self.entry.is_stopping() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.entry.socket.send(part)
    }

    /// Waits, up to a day. Fails as soon as the client leaves or sends too much, or the listener stops.
    pub fn wait_while_connected(&mut self, duration: Duration) -> io::Result<()> {
        let deadline = Instant::now() + duration.min(LONGEST_WAIT);
        while self.ignored < MAX_IGNORED {
            match self.entry.socket.receive(4096, deadline) {
                Err(fault) if fault.kind() == io::ErrorKind::TimedOut => return Ok(()),
                Err(fault) => return Err(fault),
                Ok(bytes) if bytes.is_empty() => break,
                Ok(bytes) => self.ignored += bytes.len(),
            }
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}
