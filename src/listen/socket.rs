//! A connection to a client. Each wait for the client has a time limit.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Responses are sent in parts of this size, in bytes. The time limit applies to each part, because a system accepts a
/// few bytes now and then for a client that does not read.
const WRITE_SIZE: usize = 16 * 1024;

/// How long a client may take to receive one part of a response.
const MAX_PART_WAIT: Duration = Duration::from_secs(5);

/// How long a client may take to receive a whole response.
const MAX_SEND_TIME: Duration = Duration::from_secs(30);

/// How long to read the rest of a request after its response was sent. If a connection is closed with unread bytes, the
/// client's system may drop the response.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(1);

/// Maximum number of bytes of a request that are read after its response was sent.
const MAX_DRAIN_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(super) enum ClientSocket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl ClientSocket {
    pub(super) fn from_tcp(stream: TcpStream) -> io::Result<ClientSocket> {
        // On some systems a new connection inherits the non-blocking mode of the listening socket.
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(MAX_PART_WAIT))?;
        Ok(ClientSocket::Tcp(stream))
    }

    pub(super) fn from_unix(stream: UnixStream) -> io::Result<ClientSocket> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(MAX_PART_WAIT))?;
        Ok(ClientSocket::Unix(stream))
    }

    /// Reads up to `max_bytes` bytes. An empty result means that the client has ended the stream. Fails with `TimedOut`
    /// at the deadline.
    pub(super) fn receive(&self, max_bytes: usize, deadline: Instant) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; max_bytes];
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let read = match self {
                ClientSocket::Tcp(stream) => {
                    stream.set_read_timeout(Some(rest))?;
                    (&mut &*stream).read(&mut bytes)
                }
                ClientSocket::Unix(stream) => {
                    stream.set_read_timeout(Some(rest))?;
                    (&mut &*stream).read(&mut bytes)
                }
            };
            match read {
                Ok(count) => {
                    bytes.truncate(count);
                    return Ok(bytes);
                }
                // Try again: the check of the deadline above ends the loop.
                Err(fault) if may_retry(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Sends all bytes. Fails with `TimedOut` if the client reads too slowly.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let end = Instant::now() + MAX_SEND_TIME;
        for part in bytes.chunks(WRITE_SIZE) {
            self.send_part(part, end.min(Instant::now() + MAX_PART_WAIT))?;
        }
        Ok(())
    }

    fn send_part(&self, mut part: &[u8], deadline: Instant) -> io::Result<()> {
        while !part.is_empty() {
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.write(part) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => part = part.get(sent..).unwrap_or_default(),
                // Try again: the check of the deadline above ends the loop.
                Err(fault) if may_retry(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Sends only the bytes that the system accepts immediately, then ends the sending direction.
    pub(super) fn send_without_waiting_and_end(&self, bytes: &[u8]) {
        _ = match self {
            ClientSocket::Tcp(stream) => stream.set_nonblocking(true),
            ClientSocket::Unix(stream) => stream.set_nonblocking(true),
        };
        _ = self.write(bytes);
        self.shut_down(Shutdown::Write);
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ClientSocket::Tcp(stream) => (&mut &*stream).write(bytes),
            ClientSocket::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    /// Ends one or both directions of the connection. A thread that waits for the client wakes up.
    pub(super) fn shut_down(&self, how: Shutdown) {
        _ = match self {
            ClientSocket::Tcp(stream) => stream.shutdown(how),
            ClientSocket::Unix(stream) => stream.shutdown(how),
        };
    }

    /// Ends the sending direction, then reads for a moment until the client closes its end.
    pub(super) fn end_sending_and_drain(&self) {
        self.shut_down(Shutdown::Write);
        let deadline = Instant::now() + MAX_DRAIN_TIME;
        let mut read = 0;
        while read < MAX_DRAIN_BYTES {
            match self.receive(4096, deadline) {
                Ok(bytes) if !bytes.is_empty() => read += bytes.len(),
                _ => return,
            }
        }
    }
}

/// Whether to try again: a signal interrupted the wait, or the system ended it a little too early.
fn may_retry(fault: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};

    matches!(fault.kind(), Interrupted | TimedOut | WouldBlock)
}
