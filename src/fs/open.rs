//! Opens files safely, even if another user may have created something else at their path.
//!
//! A named pipe is refused, because opening or reading it would wait for another process. The only exception is a named
//! pipe of this user or of root as the input of a command. A path such as `/dev/fd/3` or `/dev/stdout` stands for a
//! file that the caller of `qless` has opened, and is always accepted.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::open_failure::OpenFailure;
use super::trust::{self, is_descriptor};
use crate::command_line::chmod_command;
use crate::error::{Error, Kind};
use crate::text::Sanitized;

/// Opens a file or a device to read it.
pub(crate) fn open_to_read_unless_pipe(path: &Path) -> Result<File, OpenFailure> {
    open_unless_pipe_or_socket(path, OpenOptions::new().read(true), OFlags::empty())
}

/// Refuses a path whose file another user may have written ([`trust::refuse_untrusted_file`]). A file that cannot be
/// opened passes, since the code that reads it later reports that error.
pub(crate) fn refuse_untrusted_path(path: &Path) -> Result<(), Error> {
    let Ok(file) = open_to_read_unless_pipe(path) else {
        return Ok(());
    };
    let shown = Sanitized(path.as_os_str().as_encoded_bytes());
    let refused = trust::refuse_untrusted_file(path, &file);
    refused.map_err(|why| why.into_error(&format!("cannot use `{shown}`"), Kind::Usage))
}

/// Opens the input file of a command. For a named pipe of this user or of root, this waits until a process writes to
/// the pipe, as `cat` does. Other named pipes are refused.
pub(crate) fn open_input_or_pipe(path: &Path) -> Result<File, OpenFailure> {
    let is_own_pipe =
        |about: &Metadata| about.file_type().is_fifo() && trust::is_own_or_root(about.uid());
    match fs::metadata(path) {
        Ok(about) if is_own_pipe(&about) => Ok(File::open(path)?),
        _ => open_to_read_unless_pipe(path),
    }
}

/// Opens a private file with these options. Refuses a file that another user could read, write or replace. A
/// device is accepted, since only root can create devices.
pub(crate) fn open_if_private(path: &Path, options: &mut OpenOptions) -> Result<File, OpenFailure> {
    if is_descriptor(path) {
        return open_unless_pipe_or_socket(path, options, OFlags::empty());
    }
    let is_link = || OpenFailure::refused("it is a symbolic link").hint("name the file itself");
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err(is_link()),
        Ok(found) if is_device(found.file_type()) => {}
        _ => trust::refuse_untrusted_parents(path)?,
    }
    let file = match open_unless_pipe_or_socket(path, options, OFlags::NOFOLLOW) {
        Err(OpenFailure::Failed(fault)) if has_errno(&fault, Errno::LOOP) => return Err(is_link()),
        opened => opened?,
    };
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    if !about.is_file() {
        return Ok(file);
    }
    if about.uid() != geteuid().as_raw() {
        return Err(OpenFailure::refused("it belongs to another user").hint("name another file"));
    }
    if trust::others_have_any_right(about.mode()) {
        let change = format!("`{}` leaves it to its owner", chmod_command("600", path));
        return Err(OpenFailure::refused("other users may use it").hint(change));
    }
    if about.nlink() > 1 {
        let why = "it has another name, a hard link";
        return Err(OpenFailure::refused(why).hint("name another file"));
    }
    Ok(file)
}

fn is_device(found: FileType) -> bool {
    found.is_char_device() || found.is_block_device()
}

/// Opens a device, or a pipe that the caller of this program opened, to write to it.
pub(super) fn open_device_to_write(path: &Path) -> Result<File, OpenFailure> {
    let file = open_unless_pipe_or_socket(path, OpenOptions::new().write(true), OFlags::empty())?;
    // Refuse a regular file: it has taken the place of the device since the caller looked. Regular files are only
    // replaced as a whole, never opened to write.
    if !is_descriptor(path) && file.metadata()?.is_file() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    Ok(file)
}

/// Opens a file or a device without waiting for another process. Refuses named pipes and sockets.
fn open_unless_pipe_or_socket(
    path: &Path,
    options: &mut OpenOptions,
    more: OFlags,
) -> Result<File, OpenFailure> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | more;
    options.custom_flags(flags.bits().cast_signed());
    let file = match options.open(path) {
        // A socket, or a pipe that nobody reads.
        Err(fault) if has_errno(&fault, Errno::NXIO) => {
            return Err(match fs::metadata(path) {
                Ok(about) => {
                    pipe_or_socket_refusal(about.file_type()).unwrap_or(OpenFailure::Failed(fault))
                }
                Err(_) => OpenFailure::Failed(fault),
            });
        }
        opened => opened?,
    };
    if is_descriptor(path) {
        make_blocking(&file)?;
        return Ok(file);
    }
    match pipe_or_socket_refusal(file.metadata()?.file_type()) {
        Some(refused) => Err(refused),
        None => {
            // Let reads wait again, for a terminal, where the user may not have typed yet.
            make_blocking(&file)?;
            Ok(file)
        }
    }
}

fn pipe_or_socket_refusal(found: FileType) -> Option<OpenFailure> {
    let what = match found {
        found if found.is_fifo() => "it is a named pipe",
        found if found.is_socket() => "it is a socket",
        _ => return None,
    };
    Some(OpenFailure::refused(what).hint("name a file"))
}

fn make_blocking(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    fcntl_setfl(file, flags - OFlags::NONBLOCK)?;
    Ok(())
}

fn has_errno(fault: &io::Error, errno: Errno) -> bool {
    fault.raw_os_error() == Some(errno.raw_os_error())
}
