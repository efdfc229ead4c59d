//! Files that commands leave behind: whole or not at all, and for their owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use uuid::Uuid;

use crate::error::{Error, Kind, io_words};
use crate::view::text::clean;

/// Writes a file beside the one that is named and puts it in its place; what was there stays
/// until then.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = match fs::metadata(path) {
        // A terminal, a pipe or another device is written to, not replaced.
        Ok(found) if !found.is_file() => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes)),
        // The file that a link leads to is replaced, not the link.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(&path, bytes)),
        Err(_) => replace(path, bytes),
    };
    written.map_err(|fault| {
        let path = clean(path.as_os_str().as_encoded_bytes());
        let why = io_words(&fault);
        Error::new(Kind::File, format!("cannot write `{path}`: {why}"))
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_file_name(format!(".qless-{}", Uuid::new_v4().simple()));
    let written = create(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        _ = fs::remove_file(&beside);
    }
    written
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}
