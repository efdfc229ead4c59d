//! Files that commands leave behind: whole or not at all, and for their owner only, unless they
//! are ours and tell nothing.

pub(crate) mod atomic_file;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Error, Kind, io_words};
use crate::text::clean;

/// Who may read a file that others have no business with.
const OWNER: u32 = 0o600;

/// Who may read a file, as far as the user's umask lets them.
const ALL: u32 = 0o666;

/// Writes a file beside the one that is named and puts it in its place; what was there stays
/// until then.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, OWNER)
}

/// The same for a file that everybody may read.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write(path, bytes, ALL)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        // A terminal, a pipe or another device is written to, not replaced.
        Ok(found) if !found.is_file() => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes)),
        // The file that a link leads to is replaced, not the link.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(&path, bytes, mode)),
        Err(_) => replace(path, bytes, mode),
    };
    written.map_err(|fault| {
        let path = clean(path.as_os_str().as_encoded_bytes());
        let why = io_words(&fault);
        Error::new(Kind::File, format!("cannot write `{path}`: {why}"))
    })
}

/// Writes a file that is the user's own beside itself and puts it in its place; it keeps its mode
/// and owner, if it was there.
pub(crate) fn update(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let kept = fs::metadata(path).ok();
    place(path, OWNER, |file| {
        file.write_all(bytes)?;
        if let Some(kept) = &kept {
            // Only root can give a file away; whoever writes it may then own it.
            _ = fchown(&*file, Some(kept.uid()), Some(kept.gid()));
            file.set_permissions(kept.permissions())?;
        }
        Ok(())
    })
}

/// Returns the file that a path leads to over symbolic links, whether there is one or not.
pub(crate) fn led_to(path: &Path) -> PathBuf {
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

/// Has a file written beside another and puts it in its place.
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
