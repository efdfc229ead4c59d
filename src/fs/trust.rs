//! Decides whether other users can change what a path leads to. `qless` takes settings only from such trusted paths,
//! and keeps private files only there.
//!
//! A path is trusted if only this user or root can change its directories and symbolic links. Each directory must
//! belong to this user or root. Neither its group nor others may write it, unless its sticky bit is set. A group whose
//! number is that of this user or of root counts as the owner's own. Each symbolic link must belong to this user or
//! root, too.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use rustix::process::geteuid;

use super::open_failure::OpenFailure;
use crate::command_line::chmod_command;
use crate::text::Sanitized;

/// The mode bits for all rights of the group and of others.
const RIGHTS_OF_OTHERS: u32 = 0o077;

/// The mode bits that let the group and others read.
const OTHERS_READ: u32 = 0o044;

/// The mode bits that let the group and others write.
const OTHERS_WRITE: u32 = 0o022;

/// The right of others to write.
const ALL_WRITE: u32 = 0o002;

/// The sticky bit of a directory's mode: each file there can be removed or renamed only by the file's owner.
const STICKY: u32 = 0o1000;

/// Maximum number of symbolic links that a path may lead through. Linux has this limit, too.
const MAX_LINKS: usize = 40;

/// Whether this mode gives the group or others any right.
pub(crate) fn others_have_any_right(mode: u32) -> bool {
    mode & RIGHTS_OF_OTHERS != 0
}

/// Whether this mode lets the group or others write.
pub(crate) fn others_may_write(mode: u32) -> bool {
    mode & OTHERS_WRITE != 0
}

pub(crate) fn everybody_may_write(mode: u32) -> bool {
    mode & ALL_WRITE != 0
}

/// Whether the group or others can replace files in a directory with this mode: they may write, without a sticky bit.
pub(crate) fn others_may_replace_entries(mode: u32) -> bool {
    others_may_write(mode) && mode & STICKY == 0
}

/// Whether this is a regular file that the group or others may read.
pub(crate) fn is_readable_by_others(about: &Metadata) -> bool {
    about.is_file() && about.mode() & OTHERS_READ != 0
}

pub(super) fn is_own_or_root(id: u32) -> bool {
    id == geteuid().as_raw() || id == 0
}

/// Whether a path stands for an open file descriptor of a process, such as `/dev/stdin` or `/proc/1/fd/3`.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    let names: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    match names.as_deref() {
        Some(["/", "dev", "stdin" | "stdout" | "stderr"] | ["/", "dev", "fd", _]) => true,
        Some(["/", "proc", process, "fd", _]) => *process != "..",
        _ => false,
    }
}

/// Refuses a settings file if a user other than this one and root may have written or replaced it.
pub(crate) fn refuse_untrusted_file(path: &Path, file: &File) -> Result<(), OpenFailure> {
    let about = file.metadata()?;
    if is_descriptor(path) || !about.is_file() {
        return Ok(());
    }
    if !is_own_or_root(about.uid()) {
        let refused = OpenFailure::refused("it belongs to another user");
        return Err(refused.hint("name a copy that is yours"));
    }
    if others_may_write(about.mode()) {
        let change = format!("`{}` leaves that to its owner", chmod_command("go-w", path));
        return Err(OpenFailure::refused("other users may write it").hint(change));
    }
    refuse_untrusted_parents(path)
}

/// Refuses a path if another user can replace one of its directories or symbolic links, or the file at its end.
pub(crate) fn refuse_untrusted_parents(path: &Path) -> Result<(), OpenFailure> {
    ResolvedPath::follow_links_noting_route(path)?.refuse_untrusted_route()
}

/// The file to which a path leads through all symbolic links, and the directories on the way there.
pub(crate) struct ResolvedPath {
    /// The directories in which the system looks up the names of the path, those of link targets included.
    directories: Vec<PathBuf>,
    /// A link that another user made.
    strange_link: Option<PathBuf>,
    /// The path of the file to which all symbolic links lead. The file need not exist.
    pub target: PathBuf,
}

impl ResolvedPath {
    pub(crate) fn follow_links_noting_route(path: &Path) -> io::Result<ResolvedPath> {
        let mut pending = names_from_last(&std::path::absolute(path)?);
        let mut route = ResolvedPath {
            directories: Vec::new(),
            strange_link: None,
            target: PathBuf::from("/"),
        };
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if name == ".." {
                route.target.pop();
                continue;
            }
            if route.directories.last() != Some(&route.target) {
                route.directories.push(route.target.clone());
            }
            let next = route.target.join(&name);
            match fs::symlink_metadata(&next) {
                Ok(about) if about.is_symlink() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    let target = fs::read_link(&next)?;
                    if target.is_absolute() {
                        route.target = PathBuf::from("/");
                    }
                    pending.extend(names_from_last(&target));
                    if !is_own_or_root(about.uid()) {
                        route.strange_link = Some(next);
                    }
                }
                _ => route.target = next,
            }
        }
        Ok(route)
    }

    /// Refuses the path if it leads through a symbolic link of another user, who may have chosen a harmful target.
    pub(crate) fn refuse_foreign_links(&self) -> Result<(), OpenFailure> {
        match &self.strange_link {
            None => Ok(()),
            Some(link) => {
                let link = sanitized_path(link);
                let why = format!("the symbolic link `{link}` belongs to another user");
                Err(OpenFailure::refused(why).hint("name another file"))
            }
        }
    }

    /// Refuses the path if another user can replace one of its directories or symbolic links, or the file at its end.
    pub(crate) fn refuse_untrusted_route(&self) -> Result<(), OpenFailure> {
        self.refuse_foreign_links()?;
        for directory in &self.directories {
            let about = match fs::metadata(directory) {
                // Accept a missing directory: its parent directory is trusted, so no other user can create it.
                Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
                about => about?,
            };
            let shown = sanitized_path(directory);
            if !is_own_or_root(about.uid()) {
                let why = format!("the directory `{shown}` belongs to another user");
                let hint = "name a path on which all directories belong to you or root";
                return Err(OpenFailure::refused(why).hint(hint));
            }
            let is_replaceable = others_may_replace_entries(about.mode());
            if is_replaceable && (everybody_may_write(about.mode()) || !is_own_or_root(about.gid()))
            {
                let why = format!("other users may write the directory `{shown}`");
                let change = format!(
                    "`{}` takes that right away",
                    chmod_command("go-w", directory)
                );
                return Err(OpenFailure::refused(why).hint(change));
            }
        }
        Ok(())
    }
}

fn sanitized_path(path: &Path) -> Sanitized<&[u8]> {
    Sanitized(path.as_os_str().as_bytes())
}

/// The names of a path, the last one first.
fn names_from_last(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_route_has_the_directories_of_each_link() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir_all(top.join("c/d")).unwrap();
        fs::write(top.join("c/d/file"), "").unwrap();
        symlink("../../c/next", top.join("a/b/link")).unwrap();
        symlink(top.join("c/d"), top.join("c/next")).unwrap();
        let route = ResolvedPath::follow_links_noting_route(&top.join("a/b/link/file")).unwrap();
        assert_eq!(route.target, top.join("c/d/file"));
        let found: Vec<&Path> = route
            .directories
            .iter()
            .filter_map(|directory| directory.strip_prefix(&top).ok())
            .collect();
        // The walk continues where a link leads: two directories up, then from the root on.
        let expected = ["", "a", "a/b", "", "c", "", "c", "c/d"].map(Path::new);
        assert_eq!(found, expected);
        symlink("loop", top.join("loop")).unwrap();
        assert!(ResolvedPath::follow_links_noting_route(&top.join("loop/x")).is_err());
    }
}
