//! Names that were read a moment ago, by address, prefix and kind, and servers that did not reply:
//! files in `$XDG_CACHE_HOME/qless`.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::Candidate;
use crate::env;
use crate::fs::{PRIVATE_DIRECTORY, open};

/// How long names are kept.
const FRESH: Duration = Duration::from_secs(10);

/// How long a server that did not reply is not asked again.
const TIME_WITHOUT_ASKING: Duration = Duration::from_secs(60);

/// The age at which a file is removed.
const MAX_FILE_AGE: Duration = Duration::from_secs(3600);

/// The files of one server and prefix.
pub(super) struct Cache {
    dir: PathBuf,
    /// A hash of address and prefix.
    server: String,
}

impl Cache {
    /// The cache of a server. `None` if the user has no directory for it.
    pub(super) fn for_server(address: &str, prefix: &str) -> Option<Cache> {
        let home = |name: &str| env::nonempty_var(name).map(PathBuf::from);
        let home = |name: &str| home(name).filter(|path| path.is_absolute());
        let dir = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")))?;
        let name = format!("{address}\n{prefix}");
        Some(Cache {
            dir: dir.join("qless"),
            server: sha1_smol::Sha1::from(name).digest().to_string(),
        })
    }

    fn file_path(&self, kind: &str) -> PathBuf {
        self.dir.join(format!("{}-{kind}", self.server))
    }

    /// Whether the server did not reply to a recent completion.
    pub(super) fn is_server_down(&self) -> bool {
        is_younger_than(&self.file_path("down"), TIME_WITHOUT_ASKING)
    }

    /// Names that were read a moment ago.
    pub(super) fn read_fresh_names(&self, kind: &str) -> Option<Vec<Candidate>> {
        let path = self.file_path(kind);
        if !is_younger_than(&path, FRESH) {
            return None;
        }
        let mut file = open::open_if_private(&path, OpenOptions::new().read(true)).ok()?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let named = text.lines().map(|line| {
            let (name, help) = line.split_once('\t').unwrap_or((line, ""));
            Candidate::new(name, help)
        });
        Some(named.collect())
    }

    pub(super) fn store_names(&self, kind: &str, names: &[Candidate]) {
        let lines = names
            .iter()
            .map(|Candidate { value, help }| format!("{value}\t{help}\n"));
        _ = self.write_file(kind, &lines.collect::<String>());
    }

    /// Notes that the server did not reply.
    pub(super) fn mark_server_down(&self) {
        _ = self.write_file("down", "");
    }

    /// Writes a file, without the sync of [`crate::fs::write_private`]: if the file is lost, the next completion asks
    /// the server again.
    fn write_file(&self, kind: &str, text: &str) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE_DIRECTORY)
            .create(&self.dir)?;
        self.remove_old_files();
        let mut file = NamedTempFile::new_in(&self.dir)?;
        file.write_all(text.as_bytes())?;
        file.persist(self.file_path(kind))?;
        Ok(())
    }

    /// Removes files that are too old to be read again.
    fn remove_old_files(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if !is_younger_than(&path, MAX_FILE_AGE) {
                _ = fs::remove_file(path);
            }
        }
    }
}

/// Whether a file was written within this time. A file dated in the future counts as old: a clock was set back.
fn is_younger_than(path: &Path, max_age: Duration) -> bool {
    let changed = fs::metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < max_age))
}
