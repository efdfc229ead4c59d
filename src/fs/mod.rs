//! Files that commands write: completely or not at all. Only their owner may read them, except files
//! without job data.

pub(crate) mod atomic_file;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Error, Kind, io_words};
use crate::text::Harmless;

/// The mode of a file for its owner only.
const OWNER: u32 = 0o600;

/// The mode of a file for all, within the user's umask.
const ALL: u32 = 0o666;

/// Writes a file for its owner only. The new content replaces the old one when it is complete.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, OWNER)
}

/// Writes a file that everybody may read, in the same way.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, ALL)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        // A terminal, a pipe or another device is not replaced.
        Ok(found) if !found.is_file() => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes)),
        // The target of a link is replaced, not the link.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(&path, bytes, mode)),
        Err(_) => replace(path, bytes, mode),
    };
    written.map_err(|fault| {
        let path = Harmless(path.as_os_str().as_encoded_bytes());
        let why = io_words(&fault);
        Error::new(Kind::File, format!("cannot write `{path}`: {why}"))
    })
}

/// Rewrites a file of the user in the same way. An existing file keeps its mode and owner.
pub(crate) fn update(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    place(path, OWNER, |file| {
        file.write_all(bytes)?;
        if let Some(existing) = &existing {
            // Only root can change the owner. Otherwise the file belongs to the current user.
            _ = fchown(&*file, Some(existing.uid()), Some(existing.gid()));
            file.set_permissions(existing.permissions())?;
        }
        Ok(())
    })
}

/// Follows symbolic links and returns the path of the file, which need not exist.
pub(crate) fn follow_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    path
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    place(path, mode, |file| file.write_all(bytes))
}

/// Writes a temporary file beside the path and renames it to the path.
fn place(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let beside = path.with_file_name(format!(".qless-{}", Uuid::new_v4().simple()));
    let written = create(&beside, mode)
        .and_then(|mut file| {
            write(&mut file)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        _ = fs::remove_file(&beside);
    }
    written
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}
