//! Recognizes a Redis without TLS that does not reply to the first TLS message. Such a server waits for the end of a
//! line, but that message has none. A server with TLS that is slow or frozen is silent as well, so a second connection
//! tests which of the two it is.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::TlsFault;
use crate::core::call::connect::Fault;

/// Maximum wait for the server's first byte. After that, a second connection tests whether the server has TLS at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Refuses a server that has no TLS. If the server stays silent on `socket`, this sends a PING without TLS over a
/// second connection: a reply means that the server has no TLS. `Ok` if neither connection brought a reply; the caller
/// may go on waiting.
pub(super) fn refuse_server_without_tls(
    socket: &TcpStream,
    address: &SocketAddr,
    deadline: Instant,
) -> Result<(), Fault> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    let patience = PATIENCE.min(remaining / 2).max(Duration::from_millis(1));
    let failed = |error: io::Error| Fault::from_io(&error);
    socket.set_read_timeout(Some(patience)).map_err(failed)?;
    let peeked = socket.peek(&mut [0]);
    // Remove the read timeout again, so that it does not hold for the rest of the handshake.
    socket.set_read_timeout(None).map_err(failed)?;
    let is_silent = peeked.is_err_and(|error| is_timeout(&error));
    if is_silent && replies_without_tls(address, patience).unwrap_or_default() {
        Err(Fault::Tls(TlsFault::NotTls))
    } else {
        Ok(())
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// Whether the server replies to a PING without TLS as Redis does: with a status or an error.
fn replies_without_tls(address: &SocketAddr, patience: Duration) -> io::Result<bool> {
    let mut socket = TcpStream::connect_timeout(address, patience)?;
    socket.set_read_timeout(Some(patience))?;
    socket.write_all(b"PING\r\n")?;
    let mut first = [0];
    socket.read_exact(&mut first)?;
    Ok(matches!(&first, b"+" | b"-"))
}
