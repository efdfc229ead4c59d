//! A file that is written piece by piece and appears only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::PRIVATE_FILE;
use super::open;
use super::open_failure::OpenFailure;
use super::replacement::Replacement;
use super::trust::ResolvedPath;
use super::trust::is_descriptor;
use crate::error::{Error, Kind};
use crate::text::Sanitized;

/// A file that replaces another one only in [`AtomicFile::finish`]. Without that call, the old content stays and no
/// new file remains.
pub(crate) struct AtomicFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// `None` for a pipe or a device, which is written directly.
    replacement: Option<Replacement>,
}

impl AtomicFile {
    pub(crate) fn create_private(path: &Path) -> Result<AtomicFile, Error> {
        AtomicFile::create_with_mode(path, PRIVATE_FILE).map_err(|why| unwritable_error(path, why))
    }

    /// A file with this mode, within the user's umask.
    pub(super) fn create_with_mode(path: &Path, mode: u32) -> Result<AtomicFile, OpenFailure> {
        let resolved = if path.is_symlink() {
            Some(ResolvedPath::resolve(path)?)
        } else {
            None
        };
        if let Some(resolved) = &resolved
            && !is_descriptor(path)
        {
            resolved.refuse_foreign_links()?;
        }
        let (file, path, replacement) = match fs::metadata(path) {
            // Refuse a file that is already open as a descriptor: replacing it would lose what else is written to it.
            Ok(found) if found.is_file() && is_descriptor(path) => {
                let refused = OpenFailure::refused("it is a file that is open already");
                return Err(refused.hint("name the file itself, or `>` it without the flag"));
            }
            // Write directly to a terminal, a pipe or another device: it cannot be replaced.
            Ok(found) if !found.is_file() => (open::open_device(path)?, path.to_owned(), None),
            _ => {
                // The target of a link is replaced, not the link.
                let path = resolved.map_or_else(|| path.to_owned(), |resolved| resolved.target);
                let (file, replacement) = Replacement::create(&path, mode)?;
                (file, path, Some(replacement))
            }
        };
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(AtomicFile {
            file,
            path,
            replacement,
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(bytes);
        written.map_err(|fault| unwritable_error(&self.path, fault.into()))
    }

    /// Whether the old content stays until [`AtomicFile::finish`]. On a device it does not.
    pub(crate) fn replaces_at_finish(&self) -> bool {
        self.replacement.is_some()
    }

    /// Writes the rest, and replaces the old content in one step.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let finish = || {
            self.file.flush()?;
            if let Some(replacement) = self.replacement {
                replacement.persist(self.file.get_ref())?;
            }
            Ok(())
        };
        finish().map_err(|fault: io::Error| unwritable_error(&self.path, fault.into()))
    }
}

pub(super) fn unwritable_error(path: &Path, why: OpenFailure) -> Error {
    let shown = Sanitized(path.as_os_str().as_encoded_bytes());
    why.into_error(&format!("cannot write `{shown}`"), Kind::File)
}
