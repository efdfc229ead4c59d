//! The directories of slots (`--sandbox`): each slot has its own, which is empty before each program starts.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::emptying::{is_empty, open_making_writable, try_to_empty_directory};
use crate::command_line::chmod_command;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::trust;
use crate::text::Sanitized;
use crate::threads;
use crate::work::machine::event::StartFailure;

/// The mode of directories that are created here.
const DIRECTORY_MODE: u32 = 0o700;

/// All rights of the group and of others.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// How long a start waits for the removal of what an earlier program left.
const MAX_WAIT_FOR_REMOVAL: Duration = Duration::from_millis(100);

/// The directory of a slot.
#[derive(Debug)]
pub(super) struct SlotFolder {
    pub path: PathBuf,
    /// The open directory. A program enters this directory even if the path leads to another one by then.
    pub opened: OwnedFd,
}

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
    /// sure that it is empty. What an earlier program left is set aside, and a thread removes it.
    pub(super) fn prepare_empty_slot_folder(
        &mut self,
        parent: &Path,
        slot: usize,
    ) -> Result<SlotFolder, StartFailure> {
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
                return Ok(SlotFolder { path, opened });
            }
            self.set_aside_or_empty(slot, opened, &parent, &name, &used, &faults)?;
        }
        Err(faults.temporary_start_failure("empty", "a program still writes in it"))
    }

    /// Sets the directory of a slot aside, by adding `.used` to its name, and starts its removal. If the directory
    /// cannot be renamed, empties it, and waits a moment for that.
    fn set_aside_or_empty(
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
