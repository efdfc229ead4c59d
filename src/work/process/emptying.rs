//! Removes everything in a directory, at any depth and of any owner.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, DirEntry, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, openat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::geteuid;

/// Maximum number of passes over a tree until it is empty: a program may still write there.
const MAX_PASSES: usize = 100;

/// Maximum number of directories that are open at a time. A path may be much deeper.
const MAX_OPEN_DIRECTORIES: usize = 8;

const RIGHTS_OF_OWNER: u32 = 0o700;

/// A directory on the path from the top of the tree to the directory that is being emptied.
struct TreeLevel {
    /// The name of this directory in its parent. Empty for the top.
    name: CString,
    /// Device and inode, by which the directory is recognized on the way back up.
    id: (u64, u64),
    /// The open directory. `None` while too many directories below it are open.
    entries: Option<Dir>,
}

impl TreeLevel {
    fn new(name: CString, directory: OwnedFd) -> rustix::io::Result<TreeLevel> {
        let id = file_id(&fstat(&directory)?);
        let entries = Some(Dir::new(directory)?);
        Ok(TreeLevel { name, id, entries })
    }
}

/// Removes everything in a directory. Returns whether it was empty in the end.
pub(super) fn try_to_empty_directory(top: &OwnedFd) -> rustix::io::Result<bool> {
    for _ in 0..MAX_PASSES {
        remove_entries_in_one_pass(top)?;
        if is_empty(top)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a directory has no entries.
pub(super) fn is_empty(directory: &OwnedFd) -> rustix::io::Result<bool> {
    Ok(next_entry(&mut Dir::read_from(directory)?)?.is_none())
}

/// Removes the entries of a tree in one pass, depth first. Only the deepest directories of the path are open. On the
/// way back up, a directory above them is opened again by `..`. If another directory is found there, the pass ends.
fn remove_entries_in_one_pass(top: &OwnedFd) -> rustix::io::Result<()> {
    let top = open_folder_nofollow(top, c".")?;
    let mut way = vec![TreeLevel::new(CString::default(), top)?];
    while let Some(level) = way.last_mut() {
        let Some(entries) = &mut level.entries else {
            // Another program moved the directory. The next pass finds what is left.
            return Ok(());
        };
        if let Some(entry) = next_entry(entries)? {
            let at = entries.fd()?;
            if !is_directory(at, &entry)? {
                remove_if_exists(at, entry.file_name(), AtFlags::empty())?;
                continue;
            }
            let inner = match open_making_writable(at, entry.file_name()) {
                Err(Errno::NOENT) => continue,
                inner => inner?,
            };
            way.push(TreeLevel::new(entry.file_name().to_owned(), inner)?);
            if let Some(above) = way.len().checked_sub(MAX_OPEN_DIRECTORIES + 1) {
                way[above].entries = None;
            }
            continue;
        }
        let Some(done) = way.pop() else {
            return Ok(());
        };
        let Some(above) = way.last_mut() else {
            return Ok(());
        };
        if let (None, Some(entries)) = (&above.entries, &done.entries) {
            let opened = open_folder_nofollow(entries.fd()?, c"..")?;
            if file_id(&fstat(&opened)?) != above.id {
                return Ok(());
            }
            above.entries = Some(Dir::new(opened)?);
        }
        if let Some(entries) = &above.entries {
            match remove_if_exists(entries.fd()?, done.name.as_c_str(), AtFlags::REMOVEDIR) {
                // A program still writes into the directory. The next pass removes the directory.
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                removed => removed?,
            }
        }
    }
    Ok(())
}

/// The identity of a directory: its device and inode.
fn file_id(found: &Stat) -> (u64, u64) {
    // The types of these fields differ between systems.
    #[allow(clippy::unnecessary_cast)]
    (found.st_dev as u64, found.st_ino as u64)
}

/// Opens a directory, but follows no symbolic link to it.
fn open_folder_nofollow(at: impl AsFd, path: impl Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

/// The next entry besides `.` and `..`.
fn next_entry(entries: &mut Dir) -> rustix::io::Result<Option<DirEntry>> {
    loop {
        match entries.read().transpose()? {
            Some(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            entry => return Ok(entry),
        }
    }
}

fn is_directory(at: impl AsFd, entry: &DirEntry) -> rustix::io::Result<bool> {
    match entry.file_type() {
        FileType::Unknown => {
            match statat(at, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory),
                // The entry is gone already, so there is nothing to remove.
                Err(Errno::NOENT) => Ok(false),
                Err(errno) => Err(errno),
            }
        }
        found => Ok(found == FileType::Directory),
    }
}

/// Opens a directory, and gives this user all rights on it, so that its entries can be removed: programs may have taken
/// these rights away.
pub(super) fn open_making_writable(
    at: impl AsFd,
    path: impl Arg + Copy,
) -> rustix::io::Result<OwnedFd> {
    let is_ours = |found: &Stat| found.st_uid == geteuid().as_raw();
    let all = Mode::from_raw_mode(RIGHTS_OF_OWNER);
    let opened = match open_folder_nofollow(&at, path) {
        Err(Errno::ACCESS) => {
            let found = statat(&at, path, AtFlags::SYMLINK_NOFOLLOW)?;
            if !is_ours(&found) || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                return Err(Errno::ACCESS);
            }
            chmodat(&at, path, all, AtFlags::empty())?;
            open_folder_nofollow(&at, path)?
        }
        opened => opened?,
    };
    let found = fstat(&opened)?;
    if is_ours(&found) && found.st_mode & RIGHTS_OF_OWNER != RIGHTS_OF_OWNER {
        fchmod(&opened, all)?;
    }
    Ok(opened)
}

fn remove_if_exists(at: impl AsFd, name: impl Arg, flags: AtFlags) -> rustix::io::Result<()> {
    match unlinkat(at, name, flags) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}
