//! The directory of a slot: of its own, and empty before each program starts.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, openat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::geteuid;

use super::launch::StartFault;
use crate::error::io_words;
use crate::text::Harmless;

/// The mode of directories that are created here.
const OWNER: u32 = 0o700;

/// How often the entries of a directory are read until it is empty. A tree of directories needs as
/// many rounds as it is deep; a program that still writes there would need them all.
const ROUNDS: usize = 100_000;

/// Creates the directory in which those of the slots are. Returns why it cannot be one. A full disk is no
/// reason: it may have space when the first program starts.
pub(in crate::work) fn prepare_parent(parent: &Path) -> Result<(), String> {
    let mut builder = DirBuilder::new();
    let Err(error) = builder.mode(OWNER).recursive(true).create(parent) else {
        return Ok(());
    };
    let path = Harmless(parent.as_os_str().as_encoded_bytes());
    match errno(&error) {
        Some(errno) if is_passing(errno) => Ok(()),
        Some(Errno::EXIST) => Err(format!("`{path}` is not a directory")),
        _ => Err(format!(
            "cannot create the directory `{path}`: {}",
            io_words(&error)
        )),
    }
}

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

/// Whether the system may do later what it could not do now.
fn is_passing(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::NOSPC
            | Errno::DQUOT
            | Errno::NOMEM
            | Errno::MFILE
            | Errno::NFILE
            | Errno::INTR
            | Errno::AGAIN
    )
}

/// Returns the directory of a slot, which exists then and is empty.
pub(super) fn prepare(parent: &Path, slot: usize) -> Result<PathBuf, StartFault> {
    let path = parent.join(format!("slot-{}", slot + 1));
    let fault = |what: &str, why: &str| {
        let path = Harmless(path.as_os_str().as_encoded_bytes());
        StartFault::sandbox(format!("cannot {what} the sandbox `{path}`: {why}"))
    };
    let system_fault = |what: &str, errno: Errno| {
        let fault = fault(what, &io_words(&errno.into()));
        match is_passing(errno) {
            true => StartFault::sandbox_not_yet(fault.message),
            false => fault,
        }
    };
    let mut builder = DirBuilder::new();
    builder.mode(OWNER);
    let created = match builder.create(&path) {
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            builder.recursive(true).create(&path)
        }
        Err(there) if there.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    };
    created.map_err(|error| match errno(&error) {
        Some(errno) => system_fault("create", errno),
        None => fault("create", &io_words(&error)),
    })?;
    let opened = match open_writable(CWD, &path) {
        Ok(opened) => opened,
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(fault("use", "it is not a directory")),
        Err(errno) => return Err(system_fault("use", errno)),
    };
    match fstat(&opened) {
        Ok(found) if found.st_uid == geteuid().as_raw() => {}
        Ok(_) => return Err(fault("use", "it belongs to another user")),
        Err(errno) => return Err(system_fault("use", errno)),
    }
    match empty(&opened) {
        Ok(true) => Ok(path),
        Ok(false) => {
            let fault = fault("empty", "a program still writes in it");
            Err(StartFault::sandbox_not_yet(fault.message))
        }
        Err(errno) => Err(system_fault("empty", errno)),
    }
}

/// Opens a directory, but follows no symbolic link to it.
fn open(at: impl AsFd, path: impl Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

/// Removes everything in a directory. Returns whether it was empty in the end.
///
/// A directory in it is not descended into: its own directories are moved up, so that neither
/// descriptors nor the stack limit the depth of the tree.
fn empty(top: &OwnedFd) -> rustix::io::Result<bool> {
    let mut moved = 0_u64;
    for _ in 0..ROUNDS {
        let mut is_empty = true;
        let mut entries = Dir::read_from(top)?;
        while let Some(entry) = next(&mut entries)? {
            is_empty = false;
            if !is_directory(top, &entry)? {
                remove(top, &entry, AtFlags::empty())?;
                continue;
            }
            let inner = open_writable(top, entry.file_name())?;
            let mut entries = Dir::read_from(&inner)?;
            while let Some(entry) = next(&mut entries)? {
                match is_directory(&inner, &entry)? {
                    true => move_up(&inner, &entry, top, &mut moved)?,
                    false => remove(&inner, &entry, AtFlags::empty())?,
                }
            }
            match remove(top, &entry, AtFlags::REMOVEDIR) {
                // A program still writes there; the next round tries it again.
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                removed => removed?,
            }
        }
        if is_empty {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the next entry besides `.` and `..`.
fn next(entries: &mut Dir) -> rustix::io::Result<Option<DirEntry>> {
    loop {
        match entries.read().transpose()? {
            Some(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            entry => return Ok(entry),
        }
    }
}

fn is_directory(at: &OwnedFd, entry: &DirEntry) -> rustix::io::Result<bool> {
    match entry.file_type() {
        FileType::Unknown => {
            match statat(at, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory),
                // It is gone already; removing it does no harm.
                Err(Errno::NOENT) => Ok(false),
                Err(errno) => Err(errno),
            }
        }
        found => Ok(found == FileType::Directory),
    }
}

/// Opens a directory so that its entries can be removed: programs take rights away from their
/// directories.
fn open_writable(at: impl AsFd, path: impl Arg + Copy) -> rustix::io::Result<OwnedFd> {
    let is_ours = |found: &Stat| found.st_uid == geteuid().as_raw();
    let all = Mode::from_raw_mode(OWNER);
    let opened = match open(&at, path) {
        Err(Errno::ACCESS) => {
            let found = statat(&at, path, AtFlags::SYMLINK_NOFOLLOW)?;
            if !is_ours(&found) || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                return Err(Errno::ACCESS);
            }
            chmodat(&at, path, all, AtFlags::empty())?;
            open(&at, path)?
        }
        opened => opened?,
    };
    let found = fstat(&opened)?;
    if is_ours(&found) && found.st_mode & OWNER != OWNER {
        fchmod(&opened, all)?;
    }
    Ok(opened)
}

fn remove(at: &OwnedFd, entry: &DirEntry, flags: AtFlags) -> rustix::io::Result<()> {
    match unlinkat(at, entry.file_name(), flags) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

/// Moves a directory to the top, under a name that is free there.
fn move_up(
    from: &OwnedFd,
    entry: &DirEntry,
    top: &OwnedFd,
    moved: &mut u64,
) -> rustix::io::Result<()> {
    // A directory that cannot be written cannot be moved either, since its `..` changes.
    open_writable(from, entry.file_name())?;
    loop {
        *moved += 1;
        let name = format!(".qless-{moved}");
        match statat(top, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            _ => continue,
        }
        return match renameat(from, entry.file_name(), top, &name) {
            Err(Errno::NOENT) => Ok(()),
            renamed => renamed,
        };
    }
}
