//! A file that replaces another one in a single step.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

/// A new file that will replace the file at a path. Until then it has no name, so that nothing of it remains if the
/// process is killed. If the system or the file system does not support files without a name, it has a temporary name.
pub(super) struct Replacement {
    path: PathBuf,
    temporary: Option<TempPath>,
}

impl Replacement {
    /// Creates the new file in the directory of the path that it will replace. The umask removes rights from `mode`.
    pub(super) fn create(path: &Path, mode: u32) -> io::Result<(File, Replacement)> {
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
        Ok((file, Replacement { path, temporary }))
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
