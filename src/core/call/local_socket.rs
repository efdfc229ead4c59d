//! The socket of a private server.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::connect::Fault;

pub(super) fn socket_path(dir: &Path) -> PathBuf {
    dir.join("redis.sock")
}

/// Connects to the socket of the private server in a directory, and sends nothing. Refuses a socket on which a process
/// of another user listens.
pub(super) fn connect_to_own_server(dir: &Path) -> Result<UnixStream, Fault> {
    let stream = UnixStream::connect(socket_path(dir)).map_err(|error| Fault::from_io(&error))?;
    if is_own_server(&stream) {
        Ok(stream)
    } else {
        Err(Fault::ForeignServer)
    }
}

/// Whether the process that listens on the socket belongs to this user or to root.
#[cfg(target_os = "linux")]
fn is_own_server(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

/// Accepts any process that listens on the socket: without Linux, only `unsafe` code finds the owner of that process.
/// The private directory keeps other users out.
#[cfg(not(target_os = "linux"))]
fn is_own_server(_: &UnixStream) -> bool {
    true
}
