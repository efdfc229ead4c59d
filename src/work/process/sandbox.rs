//! The directories of slots (`--sandbox`): each slot has its own, which is empty before each program starts.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat, chmodat, fchmod, fstat, mkdirat,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::geteuid;

use super::StartFailure;
use crate::command_line::chmod_command;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::trust;
use crate::text::Sanitized;
use crate::threads;

/// The mode of directories that are created here.
const DIRECTORY_MODE: u32 = 0o700;

/// All rights of the group and of others.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// Maximum number of passes over a tree until it is empty: a program may still write there.
const MAX_PASSES: usize = 100;

/// Maximum number of directories that are open at a time. A path may be much deeper.
const MAX_OPEN_DIRECTORIES: usize = 8;

const RIGHTS_OF_OWNER: u32 = 0o700;

/// How long a start waits for the removal of what an earlier program left.
const MAX_WAIT_FOR_REMOVAL: Duration = Duration::from_millis(100);

/// Creates the parent directory of the slots. Fails if the directory cannot be used, but not because of a full disk:
/// the disk may have space when the first program starts.
pub(in crate::work) fn prepare_parent(parent: &Path) -> Result<(), Error> {
    let path = Sanitized(parent.as_os_str().as_encoded_bytes());
    let fault = |why: String| Error::new(Kind::Error, why).hint("no job was popped");
    match open_or_create_safe_parent(parent) {
        Ok(_) => {}
        Err(OpenParentFault::Unsafe(why, change)) => {
            return Err(fault(format!("cannot use the directory `{path}`: {why}")).hint(change));
        }
        Err(OpenParentFault::System(errno)) if is_temporary(errno) => return Ok(()),
        Err(OpenParentFault::System(Errno::NOTDIR | Errno::EXIST)) if parent.exists() => {
            return Err(fault(format!("`{path}` is not a directory")));
        }
        Err(OpenParentFault::System(errno)) => {
            let why = io_message_without_errno(&errno.into());
            return Err(fault(format!(
                "cannot create the directory `{path}`: {why}"
            )));
        }
    }
    trust::refuse_untrusted_parents(parent).map_err(|why| {
        let error =
            why.into_error_of_kind(&format!("cannot use the directory `{path}`"), Kind::Error);
        match error.hint_text() {
            Some(_) => error,
            None => error.hint("no job was popped"),
        }
    })
}

/// Why the parent directory of the slots cannot be opened.
enum OpenParentFault {
    System(Errno),
    /// Another user could replace what is in the directory: the reason, and a hint.
    Unsafe(&'static str, String),
}

/// Opens the parent directory of the slots, and creates it if it is missing. Fails unless the directory belongs to this
/// user or root, and no other user can replace its entries.
fn open_or_create_safe_parent(parent: &Path) -> Result<OwnedFd, OpenParentFault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let system = OpenParentFault::System;
    let opened = match openat(CWD, parent, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            let mut builder = DirBuilder::new();
            let created = builder.mode(DIRECTORY_MODE).recursive(true).create(parent);
            created.map_err(|error| system(errno_of(&error).unwrap_or(Errno::IO)))?;
            openat(CWD, parent, flags, Mode::empty())
        }
        opened => opened,
    };
    let opened = opened.map_err(system)?;
    let found = fstat(&opened).map_err(system)?;
    if found.st_uid != geteuid().as_raw() && found.st_uid != 0 {
        let other = "name a directory of your own".to_owned();
        return Err(OpenParentFault::Unsafe("it belongs to another user", other));
    }
    if trust::others_may_replace_entries(found.st_mode) {
        let change = format!("`{}` takes that right away", chmod_command("go-w", parent));
        return Err(OpenParentFault::Unsafe("other users may write it", change));
    }
    Ok(opened)
}

fn errno_of(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

/// Whether a later attempt may succeed after this error, such as a full disk.
fn is_temporary(errno: Errno) -> bool {
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

/// The directories of the slots. Threads remove what programs left in them, because a removal may take longer than a
/// lock lasts.
#[derive(Debug, Default)]
pub(super) struct SlotSandboxes {
    /// The removals whose results have not been received yet, by slot.
    removals: HashMap<usize, Receiver<rustix::io::Result<bool>>>,
}

/// Sentences about the directory of a slot.
struct SandboxFaultTexts<'a>(&'a Path);

impl SandboxFaultTexts<'_> {
    fn permanent_start_failure(&self, what: &str, why: &str) -> StartFailure {
        let path = Sanitized(self.0.as_os_str().as_encoded_bytes());
        StartFailure::Directory(format!("cannot {what} the sandbox `{path}`: {why}"))
    }

    /// The directory may be usable later: the disk is full, or a program writes in it.
    fn temporary_start_failure(&self, what: &str, why: &str) -> StartFailure {
        StartFailure::Busy(self.permanent_start_failure(what, why).into_message())
    }

    fn start_failure_of_errno(&self, what: &str, errno: Errno) -> StartFailure {
        let why = io_message_without_errno(&errno.into());
        if is_temporary(errno) {
            self.temporary_start_failure(what, &why)
        } else {
            self.permanent_start_failure(what, &why)
        }
    }
}

impl SlotSandboxes {
    /// Prepares the directory of a slot: creates it if it is missing, takes the rights of other users away, and makes
    /// sure that it is empty. What an earlier program left is set aside, and a thread removes it. Returns the path, and
    /// the open directory: a program enters this directory even if the path leads to another one by then.
    pub(super) fn prepare_empty_slot_folder(
        &mut self,
        parent: &Path,
        slot: usize,
    ) -> Result<(PathBuf, OwnedFd), StartFailure> {
        let name = format!("slot-{}", slot + 1);
        let path = parent.join(&name);
        let faults = SandboxFaultTexts(&path);
        let parent = open_or_create_safe_parent(parent).map_err(|why| match why {
            OpenParentFault::System(errno) => faults.start_failure_of_errno("create", errno),
            OpenParentFault::Unsafe(why, hint) => {
                let parent = Sanitized(parent.as_os_str().as_encoded_bytes());
                StartFailure::Directory(format!(
                    "cannot use the directory `{parent}`: {why}: {hint}"
                ))
            }
        })?;
        let used = format!("{name}.used");
        // Remove what an earlier worker set aside and did not remove before it ended.
        if !self.removals.contains_key(&slot)
            && let Ok(left) = open_own_directory_making_private(&parent, &used, &faults)
        {
            self.empty_or_remove_directory_in_thread(slot, left, Some((&parent, &used)), &faults)?;
        }
        for _ in 0..2 {
            match mkdirat(&parent, &name, Mode::from_raw_mode(DIRECTORY_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(faults.start_failure_of_errno("create", errno)),
            }
            let opened = open_own_directory_making_private(&parent, &name, &faults)?;
            if is_empty(&opened).map_err(|errno| faults.start_failure_of_errno("empty", errno))? {
                return Ok((path, opened));
            }
            self.discard_slot_directory(slot, opened, &parent, &name, &used, &faults)?;
        }
        Err(faults.temporary_start_failure("empty", "a program still writes in it"))
    }

    /// Sets the directory of a slot aside, by adding `.used` to its name, and starts its removal. If the directory
    /// cannot be renamed, empties it, and waits a moment for that.
    fn discard_slot_directory(
        &mut self,
        slot: usize,
        opened: OwnedFd,
        parent: &OwnedFd,
        name: &str,
        used: &str,
        faults: &SandboxFaultTexts,
    ) -> Result<(), StartFailure> {
        self.wait_briefly_for_removal(slot, faults)?;
        match renameat(parent, name, parent, used) {
            Ok(()) => {
                self.empty_or_remove_directory_in_thread(slot, opened, Some((parent, used)), faults)
            }
            // A directory that cannot be renamed, such as the root of a file system, is emptied in place.
            Err(_) => {
                self.empty_or_remove_directory_in_thread(slot, opened, None, faults)?;
                self.wait_briefly_for_removal(slot, faults)
            }
        }
    }

    /// Starts a thread that removes everything in a directory, and also the directory itself if its name is given.
    fn empty_or_remove_directory_in_thread(
        &mut self,
        slot: usize,
        directory: OwnedFd,
        parent_and_name: Option<(&OwnedFd, &str)>,
        faults: &SandboxFaultTexts,
    ) -> Result<(), StartFailure> {
        let not_now = |error: io::Error| {
            faults.temporary_start_failure("empty", &io_message_without_errno(&error))
        };
        let parent_and_name = match parent_and_name {
            Some((parent, name)) => Some((parent.try_clone().map_err(not_now)?, name.to_owned())),
            None => None,
        };
        let (sender, receiver) = channel();
        let removal = move || {
            let is_empty = try_to_empty_directory(&directory);
            let removed = match (&is_empty, parent_and_name) {
                (Ok(true), Some((parent, name))) => {
                    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
                        // No error: another worker with the same directory has removed it, or put files into it.
                        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
                        removed => removed,
                    }
                }
                _ => Ok(()),
            };
            // Without the receiver, this program ends.
            _ = sender.send(removed.and(is_empty));
        };
        threads::spawn(removal)
            .map_err(|error| faults.temporary_start_failure("empty", &error.message()))?;
        self.removals.insert(slot, receiver);
        Ok(())
    }

    /// Waits a moment for the end of a removal.
    fn wait_briefly_for_removal(
        &mut self,
        slot: usize,
        faults: &SandboxFaultTexts,
    ) -> Result<(), StartFailure> {
        let Some(removal) = self.removals.get(&slot) else {
            return Ok(());
        };
        let result = removal.recv_timeout(MAX_WAIT_FOR_REMOVAL);
        if let Err(RecvTimeoutError::Timeout) = result {
            let why = "what an earlier program left there is still being removed";
            return Err(faults.temporary_start_failure("empty", why));
        }
        self.removals.remove(&slot);
        match result {
            Ok(Ok(true)) => Ok(()),
            Ok(Err(errno)) => Err(faults.start_failure_of_errno("empty", errno)),
            _ => Err(faults.temporary_start_failure("empty", "a program still writes in it")),
        }
    }
}

/// Opens a directory, which must belong to this user, and takes all rights of other users away.
fn open_own_directory_making_private(
    parent: &OwnedFd,
    name: &str,
    faults: &SandboxFaultTexts,
) -> Result<OwnedFd, StartFailure> {
    let opened = match open_making_writable(parent, name) {
        Ok(opened) => opened,
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return Err(faults.permanent_start_failure("use", "it is not a directory"));
        }
        Err(errno) => return Err(faults.start_failure_of_errno("use", errno)),
    };
    let fault = |errno| faults.start_failure_of_errno("use", errno);
    let found = fstat(&opened).map_err(fault)?;
    if found.st_uid != geteuid().as_raw() {
        return Err(faults.permanent_start_failure("use", "it belongs to another user"));
    }
    // A program may have given rights to other users: take them away.
    if found.st_mode & RIGHTS_OF_OTHERS != 0 {
        fchmod(&opened, Mode::from_raw_mode(DIRECTORY_MODE)).map_err(fault)?;
    }
    Ok(opened)
}

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
fn try_to_empty_directory(top: &OwnedFd) -> rustix::io::Result<bool> {
    for _ in 0..MAX_PASSES {
        remove_entries_in_one_pass(top)?;
        if is_empty(top)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a directory has no entries.
fn is_empty(directory: &OwnedFd) -> rustix::io::Result<bool> {
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
fn open_making_writable(at: impl AsFd, path: impl Arg + Copy) -> rustix::io::Result<OwnedFd> {
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
