//! A socket in the file system that only this user can connect to.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};
use rustix::process::geteuid;

use crate::fs::PRIVATE_FILE;
use crate::fs::open_failure::OpenFailure;

/// Maximum number of connections that the system keeps until they are accepted. A client beyond that tries again after
/// a second.
pub(super) const BACKLOG: i32 = 1024;

/// The file of a socket. Dropping the value removes the file, unless another file has its path by then.
#[derive(Debug)]
pub(super) struct SocketFile {
    pub path: PathBuf,
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path)
            .is_ok_and(|found| file_identity(&found) == self.identity)
        {
            _ = fs::remove_file(&self.path);
        }
    }
}

fn file_identity(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

/// Opens a socket that only this user can connect to. Replaces a socket file that an ended process of this user left
/// behind.
pub(super) fn bind_unix(path: &Path) -> Result<(UnixListener, SocketFile), OpenFailure> {
    let address = SocketAddrUnix::new(path).map_err(io::Error::from)?;
    remove_stale_socket(path, &address)?;
    let socket = new_socket()?;
    bind(&socket, &address).map_err(io::Error::from)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity: file_identity(&fs::symlink_metadata(path)?),
    };
    // Nobody can connect before `listen`.
    fs::set_permissions(path, Permissions::from_mode(PRIVATE_FILE))?;
    listen(&socket, BACKLOG).map_err(io::Error::from)?;
    Ok((UnixListener::from(socket), file))
}

/// A non-blocking socket that no child process inherits.
fn new_socket() -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// Removes the file of this user's socket if no process listens on it. Refuses any other file at this path.
fn remove_stale_socket(path: &Path, address: &SocketAddrUnix) -> Result<(), OpenFailure> {
    let found = match fs::symlink_metadata(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let refused = |why| Err(OpenFailure::refused(why).hint("name another path"));
    if !found.file_type().is_socket() {
        return refused("the file exists and is not a socket");
    }
    if found.uid() != geteuid().as_raw() {
        return refused("the socket belongs to another user");
    }
    match connect(&new_socket()?, address) {
        Err(Errno::CONNREFUSED) => Ok(fs::remove_file(path)?),
        // A process with a full queue of connections listens, too.
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => refused("another process listens there"),
        Err(errno) => Err(io::Error::from(errno).into()),
    }
}
