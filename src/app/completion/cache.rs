//! What was seen a moment ago, in `$XDG_CACHE_HOME/qless`: names by address, prefix and kind, and
//! servers that did not answer.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use uuid::Uuid;

use super::Named;
use crate::env;

/// How long names are kept.
const FRESH: Duration = Duration::from_secs(10);

/// How long a server that did not answer is left alone.
const SILENT: Duration = Duration::from_secs(60);

/// When nobody needs a file any more.
const STALE: Duration = Duration::from_secs(3600);

/// The files of one server and prefix.
pub(super) struct Cache {
    dir: PathBuf,
    place: String,
}

impl Cache {
    /// Returns that of a server; `None` where there is no home for it.
    pub(super) fn of(address: &str, prefix: &str) -> Option<Cache> {
        let home = |name: &str| env::var(name).map(PathBuf::from);
        let home = |name: &str| home(name).filter(|path| path.is_absolute());
        let dir = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")))?;
        let name = format!("{address}\n{prefix}");
        Some(Cache {
            dir: dir.join("qless"),
            place: sha1_smol::Sha1::from(name).digest().to_string(),
        })
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.dir.join(format!("{}-{kind}", self.place))
    }

    /// Whether the server did not answer a moment ago.
    pub(super) fn is_down(&self) -> bool {
        is_young(&self.path("down"), SILENT)
    }

    /// Returns names that were seen a moment ago.
    pub(super) fn read(&self, kind: &str) -> Option<Vec<Named>> {
        let path = self.path(kind);
        if !is_young(&path, FRESH) {
            return None;
        }
        let text = fs::read_to_string(path).ok()?;
        let named = text.lines().map(|line| {
            let (name, says) = line.split_once('\t').unwrap_or((line, ""));
            Named {
                name: name.to_owned(),
                says: says.to_owned(),
            }
        });
        Some(named.collect())
    }

    /// Keeps names.
    pub(super) fn keep(&self, kind: &str, names: &[Named]) {
        let lines = names
            .iter()
            .map(|Named { name, says }| format!("{name}\t{says}\n"));
        self.write(kind, &lines.collect::<String>());
    }

    /// Notes that the server did not answer.
    pub(super) fn down(&self) {
        self.write("down", "");
    }

    /// Writes a file of ours; that it cannot be written is no one's business.
    fn write(&self, kind: &str, text: &str) {
        let beside = self.dir.join(format!(".{}", Uuid::new_v4().simple()));
        _ = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir);
        self.sweep();
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside);
        let written = created
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&beside, self.path(kind)));
        if written.is_err() {
            _ = fs::remove_file(&beside);
        }
    }

    /// Removes what nobody will read again.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if !is_young(&path, STALE) {
                _ = fs::remove_file(path);
            }
        }
    }
}

/// A file of the future is not young: a clock was set.
fn is_young(path: &Path, most: Duration) -> bool {
    let changed = fs::metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < most))
}
