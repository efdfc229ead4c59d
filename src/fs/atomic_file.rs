//! A file that is written piece by piece and appears only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::error::{Error, Kind, io_words};
use crate::text::Harmless;

/// A file for its owner only. The old content stays until [`AtomicFile::finish`]. Without that call no
/// new file remains.
pub(crate) struct AtomicFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// The temporary file. `None` for a pipe or a device, which is written directly.
    beside: Option<PathBuf>,
}

impl AtomicFile {
    pub(crate) fn create(path: &Path) -> Result<AtomicFile, Error> {
        let opened = match fs::metadata(path) {
            Ok(found) if !found.is_file() => OpenOptions::new()
                .write(true)
                .open(path)
                .map(|file| (file, path.to_owned(), None)),
            // The target of a link is replaced, not the link.
            Ok(_) => fs::canonicalize(path).and_then(beside),
            Err(_) => beside(path.to_owned()),
        };
        let (file, target, beside) = opened.map_err(|fault| unwritten(path, &fault))?;
        let file = BufWriter::with_capacity(1 << 16, file);
        let path = target;
        Ok(AtomicFile { file, path, beside })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|fault| unwritten(&self.path, &fault))
    }

    /// Replaces the old content.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let mut finish = || {
            self.file.flush()?;
            if let Some(beside) = &self.beside {
                self.file.get_ref().sync_all()?;
                fs::rename(beside, &self.path)?;
            }
            Ok(())
        };
        finish().map_err(|fault: io::Error| unwritten(&self.path, &fault))?;
        self.beside = None;
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            _ = fs::remove_file(beside);
        }
    }
}

fn beside(path: PathBuf) -> io::Result<(File, PathBuf, Option<PathBuf>)> {
    let beside = path.with_file_name(format!(".qless-{}", Uuid::new_v4().simple()));
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    Ok((file, path, Some(beside)))
}

fn unwritten(path: &Path, fault: &io::Error) -> Error {
    let shown = Harmless(path.as_os_str().as_encoded_bytes());
    let why = io_words(fault);
    Error::new(Kind::File, format!("cannot write `{shown}`: {why}"))
}
