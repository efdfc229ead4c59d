//! Files as another user may have left them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user that owns nothing of ours: `nobody` on most systems, who runs no tests.
pub const STRANGER: u32 = 65534;

/// Writes a file that only its owner may use.
pub fn write_private(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    fs::write(&path, text).unwrap();
    mode(path, 0o600);
}

pub fn mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Makes a file or directory that of another user, and returns whether it is. Only root can give a file
/// away: for other users, the test holds without this part, and says so.
pub fn give_away(path: impl AsRef<Path>) -> bool {
    give(path.as_ref(), Some(STRANGER), None)
}

/// Makes a file or directory that of a group with other members, and returns whether it is.
pub fn give_to_group(path: impl AsRef<Path>) -> bool {
    give(path.as_ref(), None, Some(STRANGER))
}

fn give(path: &Path, user: Option<u32>, group: Option<u32>) -> bool {
    let is_given = chown(path, user, group).is_ok();
    if !is_given {
        eprintln!("not root: `{}` stays that of this user", path.display());
    }
    is_given
}

/// Copies the binary into a folder that another user may reach, unlike that of the build. `cp` writes the file: a
/// program that another test starts would inherit the open file of this process, and a file that is written cannot run.
pub fn copy_binary(folder: &Path) -> PathBuf {
    let program = folder.join("qless");
    let status = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_qless"))
        .arg(&program)
        .status();
    assert!(status.unwrap().success());
    program
}
