//! Files that tell what became of each item, so that the same command can go on: `--report`, and
//! the like of `--journal`.
//!
//! The first line says what the file belongs to: prefix, address, command and, where it is told,
//! the `run_id` of the server. A file is continued only where prefix and command are the same. A
//! last line without its end was lost_dependencies by a crash and counts as not written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::clock::moment::Moment;
use crate::error::{Error, Kind, io_words};
use crate::session::Session;
use crate::text::clean;

/// The kind of ledger that holds what jobs were before a repair. A link in its place is not followed:
/// others may have put it there.
pub(crate) const UNDO: &str = "undo";

/// The first line of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgerHead {
    /// What kind of ledger it is: `report`.
    pub kind: String,
    pub v: u32,
    pub prefix: String,
    pub address: String,
    /// The command with those of its arguments that say what is done.
    pub command: String,
    pub run_id: Option<String>,
    /// What an export has besides.
    #[serde(flatten)]
    pub export: Option<ExportHead>,
}

/// When it was begun, and how many jobs there were to be, which nobody knew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExportHead {
    pub at: Option<String>,
    pub jobs: Option<u64>,
}

impl LedgerHead {
    /// What a ledger of this command begins with; the server is asked later.
    pub(crate) fn of(kind: &str, session: &Session) -> Result<LedgerHead, Error> {
        Ok(LedgerHead {
            kind: kind.to_string(),
            v: 1,
            prefix: session.prefix().to_string(),
            address: session.target()?.to_string(),
            command: session.own().to_string(),
            run_id: None,
            export: None,
        })
    }

    /// Makes it the first line of an export.
    pub(crate) fn exported(self, at: Moment) -> LedgerHead {
        let (at, jobs) = (at.rfc3339(), None);
        let export = Some(ExportHead { at, jobs });
        LedgerHead { export, ..self }
    }
}

/// A ledger that is written to.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    /// None in a rehearsal, which only reads.
    file: Option<File>,
    /// Whether this run made it.
    made: bool,
    head: LedgerHead,
    /// What an earlier run wrote.
    before: Option<LedgerHead>,
    /// Lines not yet in the file.
    lines: Vec<u8>,
}

impl Ledger {
    /// Opens or makes the file, before anything is sent. `take` is given each line of an earlier
    /// run. A rehearsal makes no file and changes none.
    pub(crate) fn open(
        path: &Path,
        head: LedgerHead,
        rehearsal: bool,
        take: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Ledger, Error> {
        let mut ledger = Ledger {
            path: path.to_path_buf(),
            file: None,
            made: false,
            head,
            before: None,
            lines: Vec::new(),
        };
        if !rehearsal {
            ledger.made = !path.exists();
            let file = ledger.lock().map_err(|fault| ledger.unwritten(&fault))?;
            ledger.file = Some(file);
        }
        let whole = ledger.read(take)?;
        ledger
            .cut(whole)
            .map_err(|fault| ledger.unwritten(&fault))?;
        Ok(ledger)
    }

    /// Writes the first line, once the server is known. Notes that an earlier run spoke to another
    /// server, or to one that was started anew since.
    pub(crate) fn begin(&mut self, session: &mut Session) -> Result<(), Error> {
        let run_id = session.core()?.run_id();
        let Some(before) = &self.before else {
            self.head.run_id = run_id;
            let head = serde_json::to_vec(&self.head).map_err(Error::internal)?;
            self.line(&head);
            return self.flush();
        };
        if let (Some(one), Some(other)) = (&before.run_id, &run_id)
            && one != other
        {
            let file = self.shown();
            session.ui.note(&format!(
                "note: the server is another one than `{file}` was begun with, or was started anew"
            ));
        }
        Ok(())
    }

    /// Adds a line; it is in the file after the next [`Ledger::flush`].
    pub(crate) fn line(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line.trim_ascii_end());
        self.lines.push(b'\n');
    }

    /// Writes the lines that were added, down to the disk.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.write()?;
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        match synced {
            // What is no file has no disk to go to.
            Err(fault) if fault.kind() == ErrorKind::InvalidInput => Ok(()),
            synced => synced.map_err(|fault| self.unwritten(&fault)),
        }
    }

    /// Writes the lines that were added: they outlive this process, if not the system.
    pub(crate) fn write(&mut self) -> Result<(), Error> {
        let lines = std::mem::take(&mut self.lines);
        match &mut self.file {
            Some(file) => file
                .write_all(&lines)
                .map_err(|fault| self.unwritten(&fault)),
            None => Ok(()),
        }
    }

    /// Returns the file's name, cleaned.
    pub(crate) fn shown(&self) -> String {
        clean(self.path.as_os_str().as_encoded_bytes())
    }

    /// Reads what earlier runs wrote; returns how many bytes of it are whole lines.
    fn read(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), String>) -> Result<u64, Error> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(0),
            Err(fault) => return Err(self.unread(&fault)),
        };
        let about = file.metadata().map_err(|fault| self.unread(&fault))?;
        if about.is_dir() {
            return Err(self.unread(&io::Error::from(ErrorKind::IsADirectory)));
        }
        // A pipe or another device has nothing of an earlier run.
        if !about.is_file() {
            return Ok(0);
        }
        let mut from = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        let mut whole = 0;
        for number in 1u64.. {
            line.clear();
            let read = from.read_until(b'\n', &mut line);
            read.map_err(|fault| self.unread(&fault))?;
            if !line.ends_with(b"\n") {
                break;
            }
            whole += line.len() as u64;
            let told = match &self.before {
                None => self.judge(&line)?,
                Some(_) => take(line.trim_ascii()),
            };
            told.map_err(|why| {
                Error::usage(format!("`{}`, line {number}: {why}", self.shown()))
                    .hint("repair the line, or name another file")
            })?;
        }
        // Something without a single line is not one of ours, and not to be emptied.
        if self.before.is_none() && !line.is_empty() && !torn_head(&line) {
            return Err(self.foreign());
        }
        Ok(whole)
    }

    /// Takes the first line of an earlier run, if it was one of the same command.
    fn judge(&mut self, line: &[u8]) -> Result<Result<(), String>, Error> {
        let before: LedgerHead = match serde_json::from_slice(line) {
            Ok(before) => before,
            Err(_) => return Err(self.foreign()),
        };
        let head = &self.head;
        let other = |begun: String, this: String| {
            let file = self.shown();
            Error::usage(format!(
                "`{file}` was begun {begun}, this is {this}; nothing was changed"
            ))
            .hint("name another file")
        };
        if before.kind != head.kind {
            let (begun, this) = (clean(&before.kind), clean(&head.kind));
            return Err(other(format!("as {begun}"), format!("a {this}")));
        }
        if before.prefix != head.prefix {
            let (begun, this) = (clean(&before.prefix), clean(&head.prefix));
            let begun = format!("with prefix `{begun}`");
            return Err(other(begun, format!("`{this}`")));
        }
        if before.command != head.command {
            let (begun, this) = (clean(&before.command), clean(&head.command));
            let begun = format!("by `qless {begun}`");
            return Err(other(begun, format!("`qless {this}`")));
        }
        self.before = Some(before);
        Ok(Ok(()))
    }

    /// Opens the file for what follows, and keeps others out.
    fn lock(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        if self.head.kind == UNDO {
            options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        }
        let file = options.open(&self.path)?;
        // Where files cannot be locked, it is on those who start two at once.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                ErrorKind::WouldBlock,
                "another run is at it",
            )),
            _ => Ok(file),
        }
    }

    /// Cuts the lost_dependencies end of what was written.
    fn cut(&self, whole: u64) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let about = file.metadata()?;
        match about.is_file() && about.len() > whole {
            true => file.set_len(whole),
            false => Ok(()),
        }
    }

    fn foreign(&self) -> Error {
        let (file, kind) = (self.shown(), &self.head.kind);
        Error::usage(format!("`{file}` exists and is no {kind} of ours")).hint("name another file")
    }

    fn unread(&self, fault: &io::Error) -> Error {
        let (file, why) = (self.shown(), io_words(fault));
        Error::new(Kind::File, format!("cannot read `{file}`: {why}"))
    }

    fn unwritten(&self, fault: &io::Error) -> Error {
        let (file, why) = (self.shown(), io_words(fault));
        let hint = match &self.file {
            None if fault.kind() != ErrorKind::WouldBlock => {
                "nothing was changed; name a file that can be written"
            }
            _ => "run again with the same file",
        };
        Error::new(Kind::File, format!("cannot write `{file}`: {why}")).hint(hint)
    }
}

/// A file that was made for nothing does not stay.
impl Drop for Ledger {
    fn drop(&mut self) {
        let empty = |file: &File| file.metadata().is_ok_and(|about| about.len() == 0);
        if self.made && self.file.as_ref().is_some_and(empty) {
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns whether this is the beginning of a first line.
fn torn_head(line: &[u8]) -> bool {
    let start = br#"{"kind":""#;
    let most = line.len().min(start.len());
    line[..most] == start[..most]
}
