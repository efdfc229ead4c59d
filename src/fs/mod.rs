//! Files that commands write: completely or not at all. Only their owner may read them, except files
//! without job data. [`open`] opens files that exist already. [`trust`] says which paths others cannot
//! change.

pub(crate) mod atomic_file;
pub(crate) mod open;
pub(crate) mod open_failure;
mod replacement;
pub(crate) mod trust;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use self::atomic_file::AtomicFile;
use self::replacement::Replacement;
use crate::error::Error;

/// The mode of a file for its owner only.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// The mode of a directory for its owner only.
pub(crate) const PRIVATE_DIRECTORY: u32 = 0o700;

/// The mode of a file for all, within the user's umask.
const ALL: u32 = 0o666;

/// Writes a file for its owner only. The new content replaces the old one when it is complete.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, PRIVATE_FILE)
}

/// Writes a file that everybody may read. The new content replaces the old one when it is complete.
pub(crate) fn write_public(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, ALL)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let file = AtomicFile::create_with_mode(path, mode);
    let mut file = file.map_err(|why| atomic_file::unwritable_error(path, why))?;
    file.write(bytes)?;
    file.finish()
}

/// Rewrites a file of the user, which appears when it is complete. An existing file keeps its mode and owner.
pub(crate) fn rewrite_keeping_owner(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    let (mut file, replacement) = Replacement::create(path, PRIVATE_FILE)?;
    file.write_all(bytes)?;
    if let Some(existing) = existing {
        // Only root can change the owner. Otherwise the file belongs to the current user.
        _ = fchown(&file, Some(existing.uid()), Some(existing.gid()));
        file.set_permissions(existing.permissions())?;
    }
    replacement.persist(&file)
}
