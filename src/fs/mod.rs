//! Files that commands write: completely or not at all. Only their owner may read them, except files
//! without job data. [`open`] opens files that exist already; [`trust`] says which paths others cannot
//! change.

pub(crate) mod atomic_file;
pub(crate) mod open;
pub(crate) mod trust;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use self::atomic_file::AtomicFile;
use crate::error::Error;

/// The mode of a file for its owner only.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// The mode of a directory for its owner only.
pub(crate) const PRIVATE_DIRECTORY: u32 = 0o700;

/// The mode of a file for all, within the user's umask.
const ALL: u32 = 0o666;

/// Writes a file for its owner only. The new content replaces the old one when it is complete.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, PRIVATE_FILE)
}

/// Writes a file that everybody may read, in the same way.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, ALL)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let file = AtomicFile::with_mode(path, mode);
    let mut file = file.map_err(|why| atomic_file::unwritten(path, why))?;
    file.write(bytes)?;
    file.finish()
}

/// Rewrites a file of the user in the same way. An existing file keeps its mode and owner.
pub(crate) fn update(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    place(path, |file| {
        file.write_all(bytes)?;
        if let Some(existing) = &existing {
            // Only root can change the owner. Otherwise the file belongs to the current user.
            _ = fchown(&*file, Some(existing.uid()), Some(existing.gid()));
            file.set_permissions(existing.permissions())?;
        }
        Ok(())
    })
}

/// Writes a temporary file beside the path and renames it to the path.
fn place(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let (mut file, beside) = create_beside(path, PRIVATE_FILE)?;
    let written = write(&mut file)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        _ = fs::remove_file(&beside);
    }
    written
}

/// Creates a temporary file in the directory of a path.
fn create_beside(path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let beside = path.with_file_name(format!(".qless-{}", Uuid::new_v4().simple()));
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&beside)?;
    Ok((file, beside))
}
