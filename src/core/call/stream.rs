//! The byte stream of a connection: a Unix socket, a TCP socket, or TLS over TCP. Sends requests, and reads replies,
//! with a deadline.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use redis::Value;
use redis::io::tcp::socket2::{SockRef, TcpKeepalive};

use super::connect::Fault;
use super::resp::{self, ReplyReadError};
use super::tls::{TlsClient, TlsSessionInfo, TlsStream};

/// The first byte of a TLS alert, by which a TLS server rejects a client without TLS. No Redis reply starts with this
/// byte.
const ALERT: u8 = 0x15;

/// The size in bytes of the buffer for received data.
const RECEIVE_BUFFER_SIZE: usize = 1 << 16;

/// A completed step on the way to an open connection.
#[derive(Debug)]
pub(super) enum ConnectStep {
    /// The name of the server has an address.
    Resolved,
    /// The operating system has connected: to a TCP port with this address, or to a Unix socket (`None`).
    Connected(Option<SocketAddr>),
    /// The handshake of TLS is done.
    Encrypted,
}

/// An open connection.
pub(super) struct Stream {
    wire: BufReader<TimedSocket>,
}

struct TimedSocket {
    socket: PlainOrTlsSocket,
    /// The first byte that was received.
    first: Option<u8>,
    /// The time at which reads and writes fail with a timeout; `None` for no limit.
    deadline: Option<Instant>,
}

#[derive(Clone, Copy)]
enum TimeoutDirection {
    Read,
    Write,
}

enum PlainOrTlsSocket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Connects to a Unix socket. The system offers no timeout for this.
    pub(super) fn connect_unix(path: &Path) -> Result<Stream, Fault> {
        let socket = UnixStream::connect(path).map_err(|error| Fault::from_io(&error))?;
        Ok(Stream::from_unix_socket(socket))
    }

    /// A stream over a Unix socket that is already connected.
    pub(super) fn from_unix_socket(socket: UnixStream) -> Stream {
        Stream::new(PlainOrTlsSocket::Unix(socket))
    }

    /// Connects to a TCP port, with TLS if `tls` is given. Calls `on_step` after each completed step.
    pub(super) fn connect_tcp(
        address: &SocketAddr,
        tls: Option<&TlsClient>,
        deadline: Instant,
        on_step: &mut dyn FnMut(ConnectStep),
    ) -> Result<Stream, Fault> {
        let timeout = deadline.saturating_duration_since(Instant::now());
        if timeout.is_zero() {
            return Err(Fault::TimedOut);
        }
        let socket = connect_socket(address, timeout).map_err(|error| Fault::from_io(&error))?;
        on_step(ConnectStep::Connected(Some(*address)));
        let Some(tls) = tls else {
            return Ok(Stream::new(PlainOrTlsSocket::Tcp(socket)));
        };
        let stream = tls.connect(socket, address, deadline)?;
        on_step(ConnectStep::Encrypted);
        Ok(Stream::new(PlainOrTlsSocket::Tls(Box::new(stream))))
    }

    fn new(socket: PlainOrTlsSocket) -> Stream {
        let wire = TimedSocket {
            socket,
            first: None,
            deadline: None,
        };
        Stream {
            wire: BufReader::with_capacity(RECEIVE_BUFFER_SIZE, wire),
        }
    }

    /// The TLS version, and the names and the expiry of the server's certificate; `None` without TLS. This is slow: it
    /// verifies the certificate twice more, since only the errors of that reveal the names and the expiry.
    pub(super) fn tls_session(&self) -> Option<TlsSessionInfo> {
        match &self.wire.get_ref().socket {
            PlainOrTlsSocket::Tls(stream) => Some(stream.session()),
            PlainOrTlsSocket::Unix(_) | PlainOrTlsSocket::Tcp(_) => None,
        }
    }

    /// Sets the time from which reads and writes fail with a timeout.
    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        self.wire.get_mut().deadline = Some(deadline);
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let wire = self.wire.get_mut();
        // Flush after each write: the TLS library reports some failures of a write only at the next write or flush.
        match wire.write_all(bytes).and_then(|()| wire.flush()) {
            Ok(()) => Ok(()),
            Err(error) => Err(wire.fault_of_io(&error)),
        }
    }

    /// Waits for bytes or the end of the connection, until this time. Returns false if neither arrived. The bytes stay
    /// unread.
    pub(super) fn await_bytes(&mut self, until: Instant) -> Result<bool, Fault> {
        self.set_deadline(until);
        match self.wire.fill_buf() {
            Ok(_) => Ok(true),
            Err(error) => match self.wire.get_mut().fault_of_io(&error) {
                Fault::TimedOut => Ok(false),
                fault => Err(fault),
            },
        }
    }

    /// Reads one reply, which may take up to `bytes_left` of memory. Subtracts the reply's memory from `bytes_left`.
    pub(super) fn receive_reply(&mut self, bytes_left: &mut usize) -> Result<Value, Fault> {
        resp::read_reply(&mut self.wire, bytes_left).map_err(|unread| match unread {
            ReplyReadError::Failed(error) => self.wire.get_mut().fault_of_io(&error),
            ReplyReadError::NotAReply(_) if self.wire.get_ref().first == Some(ALERT) => {
                Fault::RequiresTls
            }
            ReplyReadError::NotAReply(fault) => fault,
        })
    }
}

/// Connects to a TCP port. TCP keepalive is on: after 15 s of silence, three unanswered probes end the connection.
fn connect_socket(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(address, timeout)?;
    socket.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5))
        .with_retries(3);
    SockRef::from(&socket).set_tcp_keepalive(&keepalive)?;
    Ok(socket)
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl TimedSocket {
    /// Sets the socket's timeout to the time that is left until the deadline. Each read and write calls this, so that
    /// the deadline also holds for a server that sends byte by byte.
    fn set_timeout_until_deadline(&self, scope: TimeoutDirection) -> io::Result<()> {
        let Some(deadline) = self.deadline else {
            return Ok(());
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = Some(left);
        match (&self.socket, scope) {
            (PlainOrTlsSocket::Unix(socket), TimeoutDirection::Read) => {
                socket.set_read_timeout(left)
            }
            (PlainOrTlsSocket::Unix(socket), TimeoutDirection::Write) => {
                socket.set_write_timeout(left)
            }
            (PlainOrTlsSocket::Tcp(socket), TimeoutDirection::Read) => {
                socket.set_read_timeout(left)
            }
            (PlainOrTlsSocket::Tcp(socket), TimeoutDirection::Write) => {
                socket.set_write_timeout(left)
            }
            // With TLS, a read may also write, and a write may also read: set both timeouts.
            (PlainOrTlsSocket::Tls(stream), _) => stream.set_timeout(left),
        }
    }

    fn fault_of_io(&mut self, error: &io::Error) -> Fault {
        match &mut self.socket {
            PlainOrTlsSocket::Tls(stream) => stream.fault_of_io(error),
            PlainOrTlsSocket::Unix(_) | PlainOrTlsSocket::Tcp(_) => Fault::from_io(error),
        }
    }
}

impl Read for TimedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            self.set_timeout_until_deadline(TimeoutDirection::Read)?;
            let read = match &mut self.socket {
                PlainOrTlsSocket::Unix(socket) => socket.read(buffer),
                PlainOrTlsSocket::Tcp(socket) => socket.read(buffer),
                PlainOrTlsSocket::Tls(stream) => stream.read(buffer),
            };
            match read {
                // Read again after an interruption: a stop of the process by Ctrl-Z interrupts a read with a timeout.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if self.first.is_none() {
            self.first = buffer[..count].first().copied();
        }
        Ok(count)
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.set_timeout_until_deadline(TimeoutDirection::Write)?;
        match &mut self.socket {
            PlainOrTlsSocket::Unix(socket) => socket.write(bytes),
            PlainOrTlsSocket::Tcp(socket) => socket.write(bytes),
            PlainOrTlsSocket::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.socket {
            PlainOrTlsSocket::Unix(_) | PlainOrTlsSocket::Tcp(_) => Ok(()),
            PlainOrTlsSocket::Tls(stream) => stream.flush(),
        }
    }
}
