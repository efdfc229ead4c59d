//! The directory of a slot: of its own, and empty before each program starts.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, mkdirat,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::geteuid;

use super::launch::StartFault;
use crate::command_line::chmod;
use crate::error::{Error, Kind, io_words};
use crate::fs::trust;
use crate::text::Harmless;

/// The mode of directories that are created here.
const OWNER: u32 = 0o700;

/// All rights of the group and of others.
const OTHERS: u32 = 0o077;

/// How often the entries of a directory are read until it is empty. A tree of directories needs as
/// many rounds as it is deep; a program that still writes there would need them all.
const ROUNDS: usize = 100_000;

/// The directory of a slot.
#[derive(Debug)]
pub(super) struct SlotFolder {
    pub path: PathBuf,
    /// The directory itself, which a program enters whatever is at the path then.
    pub opened: OwnedFd,
}

/// Creates the directory in which those of the slots are. Returns why it cannot be one. A full disk is no
/// reason: it may have space when the first program starts.
pub(in crate::work) fn prepare_parent(parent: &Path) -> Result<(), Error> {
    let path = Harmless(parent.as_os_str().as_encoded_bytes());
    let fault = |why: String| Error::new(Kind::Error, why).hint("no job was popped");
    match open_parent(parent) {
        Ok(_) => {}
        Err(ParentFault::Unsafe(why, change)) => {
            return Err(fault(format!("cannot use the directory `{path}`: {why}")).hint(change));
        }
        Err(ParentFault::System(errno)) if is_passing(errno) => return Ok(()),
        Err(ParentFault::System(Errno::NOTDIR | Errno::EXIST)) if parent.exists() => {
            return Err(fault(format!("`{path}` is not a directory")));
        }
        Err(ParentFault::System(errno)) => {
            let why = io_words(&errno.into());
            return Err(fault(format!(
                "cannot create the directory `{path}`: {why}"
            )));
        }
    }
    trust::must_have_trusted_parents(parent).map_err(|why| {
        let error = why.error_of_kind(&format!("cannot use the directory `{path}`"), Kind::Error);
        match error.hint_text() {
            Some(_) => error,
            None => error.hint("no job was popped"),
        }
    })
}

/// Why the directory of the slots is not opened.
enum ParentFault {
    System(Errno),
    /// Another user could replace what is in it: why, and what helps.
    Unsafe(&'static str, String),
}

/// Opens the directory of the slots, which is created if it is missing. It belongs to this user or root,
/// and nobody else can replace what is in it.
fn open_parent(parent: &Path) -> Result<OwnedFd, ParentFault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let system = ParentFault::System;
    let opened = match openat(CWD, parent, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            let mut builder = DirBuilder::new();
            let created = builder.mode(OWNER).recursive(true).create(parent);
            created.map_err(|error| system(errno(&error).unwrap_or(Errno::IO)))?;
            openat(CWD, parent, flags, Mode::empty())
        }
        opened => opened,
    };
    let opened = opened.map_err(system)?;
    let found = fstat(&opened).map_err(system)?;
    if found.st_uid != geteuid().as_raw() && found.st_uid != 0 {
        let other = "name a directory of your own".to_owned();
        return Err(ParentFault::Unsafe("it belongs to another user", other));
    }
    if trust::others_may_replace(found.st_mode) {
        let change = format!("`{}` takes that right away", chmod("go-w", parent));
        return Err(ParentFault::Unsafe("other users may write it", change));
    }
    Ok(opened)
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

/// Prepares the directory of a slot: it exists then, is that of this user alone, and is empty.
pub(super) fn prepare(parent: &Path, slot: usize) -> Result<SlotFolder, StartFault> {
    let name = format!("slot-{}", slot + 1);
    let path = parent.join(&name);
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
    let parent = open_parent(parent).map_err(|why| match why {
        ParentFault::System(errno) => system_fault("create", errno),
        ParentFault::Unsafe(why, hint) => {
            let parent = Harmless(parent.as_os_str().as_encoded_bytes());
            StartFault::sandbox(format!(
                "cannot use the directory `{parent}`: {why}: {hint}"
            ))
        }
    })?;
    match mkdirat(&parent, &name, Mode::from_raw_mode(OWNER)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(system_fault("create", errno)),
    }
    let opened = match open_writable(&parent, &name) {
        Ok(opened) => opened,
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(fault("use", "it is not a directory")),
        Err(errno) => return Err(system_fault("use", errno)),
    };
    let found = fstat(&opened).map_err(|errno| system_fault("use", errno))?;
    if found.st_uid != geteuid().as_raw() {
        return Err(fault("use", "it belongs to another user"));
    }
    // A program may have opened it to others.
    if found.st_mode & OTHERS != 0 {
        fchmod(&opened, Mode::from_raw_mode(OWNER)).map_err(|errno| system_fault("use", errno))?;
    }
    match empty(&opened) {
        Ok(true) => Ok(SlotFolder { path, opened }),
        Ok(false) => {
            let fault = fault("empty", "a program still writes in it");
            Err(StartFault::sandbox_not_yet(fault.message))
        }
        Err(errno) => Err(system_fault("empty", errno)),
    }
}

/// Opens a directory, but follows no symbolic link to it.
fn open_folder(at: impl AsFd, path: impl Arg) -> rustix::io::Result<OwnedFd> {
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
    let opened = match open_folder(&at, path) {
        Err(Errno::ACCESS) => {
            let found = statat(&at, path, AtFlags::SYMLINK_NOFOLLOW)?;
            if !is_ours(&found) || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                return Err(Errno::ACCESS);
            }
            chmodat(&at, path, all, AtFlags::empty())?;
            open_folder(&at, path)?
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
