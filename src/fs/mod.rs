//! Files of commands. A command writes a file completely or not at all. Only the owner may read the file, unless it
//! contains no job data. [`open`] opens existing files. [`trust`] tells which paths other users cannot change.

pub(crate) mod atomic_file;
pub(crate) mod open;
pub(crate) mod open_failure;
pub(crate) mod trust;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use self::atomic_file::{AtomicFile, ReplacementFile};
use crate::error::Error;

/// The mode of a file that only its owner may read and write.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// The mode of a directory that only its owner may use.
pub(crate) const PRIVATE_DIRECTORY: u32 = 0o700;

/// The mode of a file that all users may read and write, from which the user's umask removes rights.
const ALL: u32 = 0o666;

/// Writes a file that only its owner may read. An existing file is replaced once the new one is complete.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, bytes, PRIVATE_FILE)
}

/// Writes a file that all users may read, as far as the umask allows. An existing file is replaced once the new one is
/// complete.
pub(crate) fn write_public(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, bytes, ALL)
}

fn write_atomically(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let file = AtomicFile::create_with_mode(path, mode);
    let mut file = file.map_err(|why| atomic_file::unwritable_error(path, why))?;
    file.write(bytes)?;
    file.finish()
}

/// Replaces a file by a new one once that is complete. The new file gets the mode and, if possible, the owner of the
/// existing one. A file that did not exist is private.
pub(crate) fn replace_keeping_mode_and_owner(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    let (mut file, replacement) = ReplacementFile::create(path, PRIVATE_FILE)?;
    file.write_all(bytes)?;
    if let Some(existing) = existing {
        // Ignore a failure: only root can set the owner. For other users, the new file belongs to the current user.
        _ = fchown(&file, Some(existing.uid()), Some(existing.gid()));
        file.set_permissions(existing.permissions())?;
    }
    replacement.persist(&file)
}
