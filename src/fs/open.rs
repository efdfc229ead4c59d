//! Opening files that another user may have put in place: without waiting, and only what is expected.
//!
//! A named pipe is refused, since opening it or reading it waits for another process. A path such as
//! `/dev/fd/3` or `/dev/stdout` stands for what the caller of this program opened, and is accepted as it
//! is.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::command_line::chmod;
use crate::error::{Error, Kind, io_words};
use crate::text::Harmless;

/// The right of the group and of others to write.
pub(crate) const OTHERS_WRITE: u32 = 0o022;

/// The right of every user to write.
const ALL_WRITE: u32 = 0o002;

/// All rights of the group and of others.
const OTHERS: u32 = 0o077;

/// In a folder with this bit, a file can be removed or renamed only by its owner.
const STICKY: u32 = 0o1000;

/// The most symbolic links on a way, as on Linux.
const MOST_LINKS: usize = 40;

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
    fn refused(why: impl Into<String>) -> Unopened {
        let (why, hint) = (why.into(), None);
        Unopened::Refused { why, hint }
    }

    fn hint(self, hint: impl Into<String>) -> Unopened {
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
        match self {
            Unopened::Failed(fault) => Error::new(kind, format!("{what}: {}", io_words(&fault))),
            Unopened::Refused { why, hint } => {
                let error = Error::usage(format!("{what}: {why}"));
                match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            }
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

/// Opens a file of which only this user knows, to read or write it as the options say. A device is
/// accepted: only root creates them.
pub(crate) fn private(path: &Path, options: &mut OpenOptions) -> Result<File, Unopened> {
    if is_descriptor(path) {
        return open(path, options, OFlags::empty());
    }
    let file = match open(path, options, OFlags::NOFOLLOW) {
        Err(Unopened::Failed(fault)) if is(&fault, Errno::LOOP) => {
            return Err(Unopened::refused("it is a symbolic link").hint("name the file itself"));
        }
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
    if about.mode() & OTHERS != 0 {
        let change = format!("`{}` leaves it to its owner", chmod("600", path));
        return Err(Unopened::refused("other users may use it").hint(change));
    }
    Ok(file)
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

/// Refuses a link that another user made: its target is not what the caller means.
pub(super) fn must_be_own_link(path: &Path, about: &Metadata) -> Result<(), Unopened> {
    // `/dev/stdout` is a link of root, who is a stranger in a user namespace.
    match is_descriptor(path) || is_own_or_root(about) {
        true => Ok(()),
        false => {
            Err(Unopened::refused("it is a symbolic link of another user")
                .hint("name another file"))
        }
    }
}

/// Refuses a file with settings or secrets that somebody besides its owner and root can have written.
pub(crate) fn must_be_trusted(path: &Path, file: &File) -> Result<(), Unopened> {
    let about = file.metadata()?;
    if is_descriptor(path) || !about.is_file() {
        return Ok(());
    }
    if !is_own_or_root(&about) {
        let refused = Unopened::refused("it belongs to another user");
        return Err(refused.hint("name a copy that is yours"));
    }
    if about.mode() & OTHERS_WRITE != 0 {
        let change = format!("`{}` leaves that to its owner", chmod("go-w", path));
        return Err(Unopened::refused("other users may write it").hint(change));
    }
    must_be_safe_way(path)
}

/// Refuses a path on which every user can replace a folder or a file.
pub(crate) fn must_be_safe_way(path: &Path) -> Result<(), Unopened> {
    for folder in folders(path)? {
        let mode = fs::metadata(&folder)?.mode();
        if is_open_folder(mode, ALL_WRITE) {
            let bytes = folder.as_os_str().as_bytes();
            let why = format!("other users may write the folder `{}`", Harmless(bytes));
            let change = format!("`{}` takes that right away", chmod("o-w", &folder));
            return Err(Unopened::refused(why).hint(change));
        }
    }
    Ok(())
}

/// Whether those with these rights can replace what is in a folder of this mode.
pub(crate) fn is_open_folder(mode: u32, rights: u32) -> bool {
    mode & rights != 0 && mode & STICKY == 0
}

/// The folders in which the names of a path are looked up, with those of the targets of its links.
fn folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut pending = reversed(&std::path::absolute(path)?);
    let (mut folders, mut folder, mut links) = (Vec::new(), PathBuf::from("/"), 0);
    while let Some(name) = pending.pop() {
        if name == ".." {
            folder.pop();
            continue;
        }
        if folders.last() != Some(&folder) {
            folders.push(folder.clone());
        }
        let next = folder.join(&name);
        match fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if target.is_absolute() {
                    folder = PathBuf::from("/");
                }
                pending.extend(reversed(&target));
            }
            Err(_) => folder = next,
        }
    }
    Ok(folders)
}

/// The names of a path, the last one first.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
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
fn is_descriptor(path: &Path) -> bool {
    let names: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    match names.as_deref() {
        Some(["/", "dev", "stdin" | "stdout" | "stderr"] | ["/", "dev", "fd", _]) => true,
        Some(["/", "proc", process, "fd", _]) => *process != "..",
        _ => false,
    }
}

fn is_own_or_root(about: &Metadata) -> bool {
    about.uid() == geteuid().as_raw() || about.uid() == 0
}

fn is(fault: &io::Error, errno: Errno) -> bool {
    fault.raw_os_error() == Some(errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_way_has_the_folders_of_each_link() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir_all(top.join("c/d")).unwrap();
        fs::write(top.join("c/d/file"), "").unwrap();
        symlink("../../c/way", top.join("a/b/link")).unwrap();
        symlink(top.join("c/d"), top.join("c/way")).unwrap();
        let found = folders(&top.join("a/b/link/file")).unwrap();
        let found: Vec<&Path> = found
            .iter()
            .filter_map(|folder| folder.strip_prefix(&top).ok())
            .collect();
        // The way goes on where a link leads: two folders up, then from the root on.
        let expected = ["", "a", "a/b", "", "c", "", "c", "c/d"].map(Path::new);
        assert_eq!(found, expected);
        symlink("loop", top.join("loop")).unwrap();
        assert!(folders(&top.join("loop/x")).is_err());
    }
}
