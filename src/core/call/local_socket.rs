//! The socket of a private server.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::fault::Fault;

pub(super) fn socket_path(dir: &Path) -> PathBuf {
    dir.join("redis.sock")
}

/// Connects to the private server of a directory, unless a process of another user listens there. Nothing
/// is sent.
pub(super) fn connect_to_own_server(dir: &Path) -> Result<UnixStream, Fault> {
    let stream = UnixStream::connect(socket_path(dir)).map_err(|error| Fault::from_io(&error))?;
    if is_own_server(&stream) {
        Ok(stream)
    } else {
        Err(Fault::ForeignServer)
    }
}

/// Whether the process that listens belongs to this user or to root.
#[cfg(target_os = "linux")]
fn is_own_server(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

/// Always true: other systems need `unsafe` code to find the process at the other end, and the directory is private.
#[cfg(not(target_os = "linux"))]
fn is_own_server(_: &UnixStream) -> bool {
    true
}
