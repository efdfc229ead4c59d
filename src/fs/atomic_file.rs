//! A file that a command writes piece by piece, and that gets its name only when it is complete.

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

/// A file under construction. Only [`AtomicFile::finish`] puts it in place of an existing file with its path. Without
/// that call, the existing file stays and nothing of the new one remains.
pub(crate) struct AtomicFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// The file that will replace the existing one. `None` for a pipe or a device, to which `file` writes directly.
    replacement: Option<Replacement>,
}

impl AtomicFile {
    pub(crate) fn create_private(path: &Path) -> Result<AtomicFile, Error> {
        AtomicFile::create_with_mode(path, PRIVATE_FILE).map_err(|why| unwritable_error(path, why))
    }

    /// Begins a file at this path. The umask of the user removes rights from `mode`.
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
            // Refuse a path such as `/dev/fd/3` that stands for an open regular file. A replacement would lose what
            // other programs write to that file.
            Ok(found) if found.is_file() && is_descriptor(path) => {
                let refused = OpenFailure::refused("it is a file that is open already");
                return Err(refused.hint("name the file itself, or `>` it without the flag"));
            }
            // Write directly to a terminal, a pipe or another device: it cannot be replaced.
            Ok(found) if !found.is_file() => {
                (open::open_device_to_write(path)?, path.to_owned(), None)
            }
            _ => {
                // If the path is a symbolic link, replace the link's target and keep the link.
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

    /// Whether the existing file keeps its content until [`AtomicFile::finish`]. False for a pipe or a device.
    pub(crate) fn replaces_at_finish(&self) -> bool {
        self.replacement.is_some()
    }

    /// Writes the buffered rest, and then replaces the existing file by the new one in one step.
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
