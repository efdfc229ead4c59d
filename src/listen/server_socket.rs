//! The socket that accepts connections.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::listen;

use super::address::{self, ListenAddress};
use super::socket::ClientSocket;
use super::unix_socket::{BACKLOG, SocketFile, bind_unix};
use crate::error::{Error, Kind, io_message_without_errno};

#[derive(Debug)]
pub(super) enum ServerSocket {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, SocketFile),
}

impl ServerSocket {
    /// Opens the address. Refuses an address that other machines can reach if no token is required.
    pub(super) fn bind(address: &ListenAddress, has_token: bool) -> Result<ServerSocket, Error> {
        match address {
            ListenAddress::Tcp { host, port } => {
                let found = address::resolve_host(host, *port);
                let found = found.map_err(|fault| bind_error(address, &fault))?;
                if !has_token && !found.iter().all(|found| found.ip().is_loopback()) {
                    let message = format!(
                        "cannot listen on `{address}` without `--token-file`: other machines can reach it"
                    );
                    let hint = format!(
                        "`--token-file FILE` names a file with a token that each request must send; \
                         only this machine reaches `127.0.0.1:{port}`"
                    );
                    return Err(Error::usage(message).hint(hint));
                }
                bind_tcp(&found).map_err(|fault| bind_error(address, &fault))
            }
            ListenAddress::Unix(path) => {
                let (listener, file) = bind_unix(path).map_err(|why| {
                    let is_failure = why.io_kind().is_some();
                    let hint = "name a short path in a directory that you may write";
                    why.into_error_of_kind(&format!("cannot listen on `{address}`"), Kind::Error)
                        .hint_if(is_failure.then(|| hint.to_owned()))
                })?;
                Ok(ServerSocket::Unix(listener, file))
            }
        }
    }

    /// Waits up to `patience` for the next connection. `None` if none comes, or if the client has left already.
    pub(super) fn accept(&self, patience: Duration) -> io::Result<Option<ClientSocket>> {
        let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
        let mut polled = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            polled => _ = polled?,
        }
        let accepted = match self {
            ServerSocket::Tcp(listener, _) => listener
                .accept()
                .and_then(|(stream, _)| ClientSocket::from_tcp(stream)),
            ServerSocket::Unix(listener, _) => listener
                .accept()
                .and_then(|(stream, _)| ClientSocket::from_unix(stream)),
        };
        match accepted {
            Ok(socket) => Ok(Some(socket)),
            Err(fault) if concerns_one_connection(&fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The address as a client uses it.
    pub(super) fn url(&self) -> String {
        match self {
            ServerSocket::Tcp(_, address) => format!("http://{address}"),
            ServerSocket::Unix(_, file) => ListenAddress::Unix(file.path.clone()).to_string(),
        }
    }
}

impl AsFd for ServerSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            ServerSocket::Tcp(listener, _) => listener.as_fd(),
            ServerSocket::Unix(listener, _) => listener.as_fd(),
        }
    }
}

/// Whether an error of `accept` concerns one connection only, or a signal: then the next `accept` may succeed.
fn concerns_one_connection(fault: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};

    matches!(
        fault.kind(),
        ConnectionAborted | ConnectionReset | Interrupted | WouldBlock
    )
}

fn bind_tcp(found: &[SocketAddr]) -> io::Result<ServerSocket> {
    let listener = TcpListener::bind(found)?;
    // More than the standard library asks for.
    listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok(ServerSocket::Tcp(listener, address))
}

fn bind_error(address: &ListenAddress, fault: &io::Error) -> Error {
    let why = io_message_without_errno(fault);
    let error = Error::new(Kind::Error, format!("cannot listen on `{address}`: {why}"));
    error.hint(match fault.kind() {
        io::ErrorKind::AddrInUse => {
            "another process listens there: name another port, or 0 for any free one"
        }
        io::ErrorKind::PermissionDenied => "name a port above 1023: the others are for root",
        _ => "name an address of this machine, such as `127.0.0.1:9123`",
    })
}
