//! A server that does not reply to the first message of TLS. It may be slow or frozen. Or it is a
//! Redis without TLS, which waits for the end of a line that this message does not have.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::TlsFault;
use crate::core::call::fault::Fault;

/// Maximum wait for the first byte before the server is asked whether it speaks TLS at all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Refuses a server that has no TLS. If its first byte does not come for a while, a second connection asks
/// without TLS, and a reply means that it has none. `Ok` after a time-out: the caller may go on waiting.
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
    // Remove the timeout of the wait: later reads of the connection have none.
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

/// Whether the server replies to `PING` as Redis does: with a status or an error.
fn replies_without_tls(address: &SocketAddr, patience: Duration) -> io::Result<bool> {
    let mut socket = TcpStream::connect_timeout(address, patience)?;
    socket.set_read_timeout(Some(patience))?;
    socket.write_all(b"PING\r\n")?;
    let mut first = [0];
    socket.read_exact(&mut first)?;
    Ok(matches!(&first, b"+" | b"-"))
}
