//! Opening files that another user may have put in place: without waiting, and only what is expected.
//!
//! A named pipe is refused, since opening it or reading it waits for another process. A path such as
//! `/dev/fd/3` or `/dev/stdout` stands for what the caller of this program opened, and is accepted as it
//! is.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::trust;
use crate::command_line::chmod;
use crate::error::{Error, Kind, io_message};

/// Why a file was not opened.
#[derive(Debug)]
pub(crate) enum Unopened {
    Failed(io::Error),
    /// It is not what is expected, or not safe to use.
    Refused {
        why: String,
        hint: Option<String>,
    },
}

impl Unopened {
    pub(super) fn refused(why: impl Into<String>) -> Unopened {
        let (why, hint) = (why.into(), None);
        Unopened::Refused { why, hint }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Unopened {
        match self {
            Unopened::Refused { why, .. } => Unopened::Refused {
                why,
                hint: Some(hint.into()),
            },
            failed => failed,
        }
    }

    /// The kind of the system's error, if there was one.
    pub(crate) fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Unopened::Failed(fault) => Some(fault.kind()),
            Unopened::Refused { .. } => None,
        }
    }

    /// The error that begins with `what`, such as ``cannot write `F` ``. A refused file is bad usage; a
    /// failure of the system has this kind.
    pub(crate) fn error(self, what: &str, kind: Kind) -> Error {
        match &self {
            Unopened::Failed(_) => self.error_of_kind(what, kind),
            Unopened::Refused { .. } => self.error_of_kind(what, Kind::Usage),
        }
    }

    /// The error that begins with `what`, of this kind also for what is refused.
    pub(crate) fn error_of_kind(self, what: &str, kind: Kind) -> Error {
        let (why, hint) = match self {
            Unopened::Failed(fault) => (io_message(&fault), None),
            Unopened::Refused { why, hint } => (why, hint),
        };
        let error = Error::new(kind, format!("{what}: {why}"));
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl From<io::Error> for Unopened {
    fn from(fault: io::Error) -> Unopened {
        Unopened::Failed(fault)
    }
}

/// Opens a file or a device to read it.
pub(crate) fn to_read(path: &Path) -> Result<File, Unopened> {
    open(path, OpenOptions::new().read(true), OFlags::empty())
}

/// Opens a file of which only this user knows, to read or write it as the options say: nobody else can
/// use it, or put another one in its place. A device is accepted: only root creates them.
pub(crate) fn private(path: &Path, options: &mut OpenOptions) -> Result<File, Unopened> {
    if is_descriptor(path) {
        return open(path, options, OFlags::empty());
    }
    let is_link = || Unopened::refused("it is a symbolic link").hint("name the file itself");
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err(is_link()),
        Ok(found) if is_device(found.file_type()) => {}
        _ => trust::must_have_trusted_parents(path)?,
    }
    let file = match open(path, options, OFlags::NOFOLLOW) {
        Err(Unopened::Failed(fault)) if is(&fault, Errno::LOOP) => return Err(is_link()),
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
        return Err(Unopened::refused("it belongs to another user").hint("name another file"));
    }
    if trust::others_may_use(about.mode()) {
        let change = format!("`{}` leaves it to its owner", chmod("600", path));
        return Err(Unopened::refused("other users may use it").hint(change));
    }
    if about.nlink() > 1 {
        let why = "it has another name, a hard link";
        return Err(Unopened::refused(why).hint("name another file"));
    }
    Ok(file)
}

fn is_device(found: FileType) -> bool {
    found.is_char_device() || found.is_block_device()
}

/// Opens a device, or a pipe that the caller of this program opened, to write to it.
pub(super) fn device(path: &Path) -> Result<File, Unopened> {
    let file = open(path, OpenOptions::new().write(true), OFlags::empty())?;
    // Files are replaced. This one has appeared since the caller looked.
    if !is_descriptor(path) && file.metadata()?.is_file() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    Ok(file)
}

/// Opens a path without waiting, and refuses what only another process could make readable.
fn open(path: &Path, options: &mut OpenOptions, more: OFlags) -> Result<File, Unopened> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | more;
    options.custom_flags(flags.bits().cast_signed());
    let file = match options.open(path) {
        // A socket, or a pipe that nobody reads.
        Err(fault) if is(&fault, Errno::NXIO) => {
            return Err(match fs::metadata(path) {
                Ok(about) => unexpected(about.file_type()).unwrap_or(Unopened::Failed(fault)),
                Err(_) => Unopened::Failed(fault),
            });
        }
        opened => opened?,
    };
    if is_descriptor(path) {
        wait_from_now_on(&file)?;
        return Ok(file);
    }
    match unexpected(file.metadata()?.file_type()) {
        Some(refused) => Err(refused),
        None => {
            // A terminal has nothing to read before somebody types.
            wait_from_now_on(&file)?;
            Ok(file)
        }
    }
}

fn unexpected(found: FileType) -> Option<Unopened> {
    let what = match found {
        found if found.is_fifo() => "it is a named pipe",
        found if found.is_socket() => "it is a socket",
        _ => return None,
    };
    Some(Unopened::refused(what).hint("name a file"))
}

fn wait_from_now_on(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    fcntl_setfl(file, flags - OFlags::NONBLOCK)?;
    Ok(())
}

/// Whether a path stands for a descriptor that this program, or another one of this user, has.
pub(super) fn is_descriptor(path: &Path) -> bool {
    let names: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    match names.as_deref() {
        Some(["/", "dev", "stdin" | "stdout" | "stderr"] | ["/", "dev", "fd", _]) => true,
        Some(["/", "proc", process, "fd", _]) => *process != "..",
        _ => false,
    }
}

fn is(fault: &io::Error, errno: Errno) -> bool {
    fault.raw_os_error() == Some(errno.raw_os_error())
}
