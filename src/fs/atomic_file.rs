//! A file that a command writes piece by piece, and that gets its name only when it is complete. Then it replaces a
//! file of that name in a single step.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::PRIVATE_FILE;
use super::open;
use super::open_failure::OpenFailure;
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
    replacement: Option<ReplacementFile>,
}

impl AtomicFile {
    pub(crate) fn create_private(path: &Path) -> Result<AtomicFile, Error> {
        AtomicFile::create_with_mode(path, PRIVATE_FILE).map_err(|why| unwritable_error(path, why))
    }

    /// Begins a file at this path. The umask of the user removes rights from `mode`.
    pub(super) fn create_with_mode(path: &Path, mode: u32) -> Result<AtomicFile, OpenFailure> {
        let resolved = if path.is_symlink() {
            Some(ResolvedPath::follow_links_noting_route(path)?)
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
                let (file, replacement) = ReplacementFile::create(&path, mode)?;
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

/// A new file that will replace the file at a path. Until then it has no name, so that nothing of it remains if the
/// process is killed. If the system or the file system does not support files without a name, it has a temporary name.
pub(super) struct ReplacementFile {
    path: PathBuf,
    temporary: Option<TempPath>,
}

impl ReplacementFile {
    /// Creates the new file in the directory of the path that it will replace. The umask removes rights from `mode`.
    pub(super) fn create(path: &Path, mode: u32) -> io::Result<(File, ReplacementFile)> {
        let dir = parent_or_current_directory(path);
        let (file, temporary) = if let Some(file) = open_unnamed(dir, mode) {
            (file, None)
        } else {
            let permissions = Permissions::from_mode(mode);
            let named = temporary_name().permissions(permissions).tempfile_in(dir)?;
            let (file, temporary) = named.into_parts();
            (file, Some(temporary))
        };
        let path = path.to_owned();
        Ok((file, ReplacementFile { path, temporary }))
    }

    /// Waits until the new file is on the disk, and then puts it in place of the file at the path.
    pub(super) fn persist(self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            // Linux cannot link a file without a name over an existing file. So link it to a temporary name, and rename
            // that.
            None => temporary_name()
                .make_in(parent_or_current_directory(&self.path), |name| {
                    link_unnamed(file, name)
                })?
                .into_temp_path(),
        };
        temporary.persist(&self.path)?;
        Ok(())
    }
}

fn parent_or_current_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent.unwrap_or(path),
    }
}

fn temporary_name() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".qless-");
    builder
}

/// Creates a file that has no name yet (O_TMPFILE); `None` if the file system does not support that.
#[cfg(target_os = "linux")]
fn open_unnamed(dir: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(dir, flags, Mode::from_raw_mode(mode)).ok()?);
    // It gets its name through this path.
    own_descriptor_path(&file).exists().then_some(file)
}

#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    let flags = AtFlags::SYMLINK_FOLLOW;
    Ok(linkat(CWD, own_descriptor_path(file), CWD, name, flags)?)
}

#[cfg(target_os = "linux")]
fn own_descriptor_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_: &Path, _: u32) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
