//! Files with one line per outcome, from which the same command can go on: reports, journals,
//! exports and undo files.
//!
//! The first line identifies the run: prefix, address, command and, if the server reports it, its
//! `run_id`. A file is continued only if prefix and command are the same. A last line without a
//! line end was cut off by a crash and counts as not written. Each line of an undo file has a checksum.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use serde::{Deserialize, Serialize};

use super::checksum::{self, LineChecksumVerifier};
use crate::clock::moment::Moment;
use crate::core::api::epoch::LossFreeEpoch;
use crate::error::{Error, Kind, limit_hint};
use crate::fs::PRIVATE_FILE;
use crate::fs::open;
use crate::fs::open_failure::OpenFailure;
use crate::fs::trust;
use crate::session::Session;
use crate::text::Sanitized;

/// The kind of ledger that holds the values from before a repair.
pub(crate) const UNDO: &str = "undo";

/// Maximum number of bytes that are read of a file to find out whether it is a ledger. More than the longest command
/// line in JSON.
const MAX_HEAD_BYTES: u64 = 16 << 20;

/// The first line of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgerHead {
    /// The kind of ledger: `report`.
    pub kind: String,
    pub v: u32,
    pub prefix: String,
    pub address: String,
    /// The command with the arguments that define its work.
    pub command: String,
    pub run_id: Option<String>,
    /// The number of flushes that the server had counted when the run began. Only journals and reports have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// The number of keys that the server had evicted when the run began. Only journals and reports have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evicted: Option<u64>,
    /// Further fields of an export.
    #[serde(flatten)]
    pub export: Option<ExtraHeadFieldsOfExport>,
}

/// The fields that only the head of an export has: when it was begun, and its number of jobs, if that was known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExtraHeadFieldsOfExport {
    pub at: Option<String>,
    pub jobs: Option<u64>,
}

impl LedgerHead {
    /// The first line of a ledger of this command. [`Ledger::write_head_or_report_restart`] adds what identifies
    /// the run of the server.
    pub(crate) fn new(kind: &str, session: &Session) -> Result<LedgerHead, Error> {
        Ok(LedgerHead {
            kind: kind.to_string(),
            v: 1,
            prefix: session.prefix().to_string(),
            address: session.shown_target()?.to_string(),
            command: command_recorded_in_ledger(session),
            run_id: None,
            flushes: None,
            evicted: None,
            export: None,
        })
    }

    /// Adds the fields of an export.
    pub(crate) fn with_export_start(self, at: Moment) -> LedgerHead {
        let (at, jobs) = (at.to_rfc3339(), None);
        let export = Some(ExtraHeadFieldsOfExport { at, jobs });
        LedgerHead { export, ..self }
    }
}

/// The command as a ledger records it. `--limit` is left out, because an interrupted command continues with a lower
/// limit. The number of members is added: with another number, a member would get other lines of the input.
fn command_recorded_in_ledger(session: &Session) -> String {
    let command = session.canonical_command().without_flag("--limit");
    let command = command.subcommand_line_without_destination();
    match session.input_sharing_member_count() {
        Some(members) => format!("{command} # shared by {members} members"),
        None => command,
    }
}

/// A ledger that is open.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    /// `None` in a dry run, which only reads.
    file: Option<File>,
    /// Whether this run created the file.
    created: bool,
    head: LedgerHead,
    /// The first line of an earlier run.
    before: Option<LedgerHead>,
    /// Lines not yet in the file.
    lines: Vec<u8>,
}

impl Ledger {
    /// Opens or creates the file, before anything is sent. `on_earlier_line` gets each further line of an
    /// earlier run. A dry run creates no file and changes none.
    pub(crate) fn open(
        path: &Path,
        head: LedgerHead,
        dry_run: bool,
        on_earlier_line: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Ledger, Error> {
        let mut ledger = Ledger {
            path: path.to_path_buf(),
            file: None,
            created: false,
            head,
            before: None,
            lines: Vec::new(),
        };
        if !dry_run {
            ledger.created = !path.exists();
            ledger.file = Some(ledger.open_locked()?);
        }
        let length = ledger.read_earlier_lines_and_byte_length(on_earlier_line)?;
        ledger
            .truncate_incomplete_line(length)
            .map_err(|fault| ledger.unwritable_error(&fault))?;
        Ok(ledger)
    }

    /// Writes the first line of a new ledger, after connecting. For a ledger of an earlier run, prints a note if that
    /// run used another server or if the server has restarted since.
    pub(crate) fn write_head_or_report_restart(
        &mut self,
        session: &mut Session,
    ) -> Result<(), Error> {
        let present = session.core()?.current_loss_free_epoch()?;
        let Some(before) = &self.before else {
            self.head.flushes = present.as_ref().map(|present| present.flushes);
            self.head.evicted = present.as_ref().map(|present| present.evicted);
            self.head.run_id = present.map(|present| present.run_id);
            let head = serde_json::to_vec(&self.head).map_err(Error::internal)?;
            self.add_line(&head);
            return self.flush();
        };
        if let (Some(one), Some(present)) = (&before.run_id, present)
            && *one != present.run_id
        {
            let file = self.display_path();
            session.ui.note(&format!(
                "note: this is not the server `{file}` was begun with, or it has restarted"
            ));
        }
        Ok(())
    }

    /// Whether the server restarted, was flushed or evicted keys since the earlier run began; `None` if there was no
    /// earlier run, or if its ledger does not identify the run of the server.
    pub(crate) fn has_epoch_changed_since_earlier_run(
        &self,
        present: &LossFreeEpoch,
    ) -> Option<bool> {
        let before = self.before.as_ref()?;
        let before = LossFreeEpoch {
            run_id: before.run_id.clone()?,
            flushes: before.flushes.unwrap_or(present.flushes),
            evicted: before.evicted.unwrap_or(present.evicted),
            may_evict_jobs: false,
            histories: Vec::new(),
        };
        Some(before != *present)
    }

    /// Whether an earlier run of the same command began the file.
    pub(crate) fn continues_earlier_run(&self) -> bool {
        self.before.is_some()
    }

    /// Adds a line. The next [`Ledger::flush`] or [`Ledger::write_lines_without_sync`] writes it.
    pub(crate) fn add_line(&mut self, line: &[u8]) {
        let line = line.trim_ascii_end();
        if self.has_checksums() {
            self.lines.extend(checksum::with_checksum(line));
        } else {
            self.lines.extend_from_slice(line);
        }
        self.lines.push(b'\n');
    }

    /// Writes the added lines and syncs them to disk.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.write_lines_without_sync()?;
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        match synced {
            // A pipe or device cannot be synced: no error.
            Err(fault) if fault.kind() == ErrorKind::InvalidInput => Ok(()),
            synced => synced.map_err(|fault| self.unwritable_error(&fault)),
        }
    }

    /// Flushes the lines. Then reserves disk space of equal size for the outcomes of the jobs that the lines
    /// announce, if the file system can do that.
    pub(crate) fn flush_and_reserve_space(&mut self) -> Result<(), Error> {
        let room = self.lines.len() as u64;
        self.flush()?;
        let Some(file) = self.file.as_ref().filter(|_| room > 0) else {
            return Ok(());
        };
        let end = file
            .metadata()
            .map_err(|fault| self.unwritable_error(&fault))?
            .len();
        let reserved = rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, end, room);
        match reserved.map_err(io::Error::from) {
            Err(fault)
                if matches!(
                    fault.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded
                ) =>
            {
                Err(self.unwritable_error(&fault))
            }
            _ => Ok(()),
        }
    }

    /// Writes the added lines without a sync: they survive this process, not a system crash.
    pub(crate) fn write_lines_without_sync(&mut self) -> Result<(), Error> {
        let lines = std::mem::take(&mut self.lines);
        match &mut self.file {
            Some(file) => file
                .write_all(&lines)
                .map_err(|fault| self.unwritable_error(&fault)),
            None => Ok(()),
        }
    }

    /// The path of the file, sanitized.
    pub(crate) fn display_path(&self) -> String {
        Sanitized(self.path.as_os_str().as_encoded_bytes()).to_string()
    }

    /// Reads and verifies the lines of earlier runs. Returns the length of the complete lines in bytes.
    fn read_earlier_lines_and_byte_length(
        &mut self,
        mut on_earlier_line: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<u64, Error> {
        let file = match open::open_if_private(&self.path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(why) if why.io_kind() == Some(ErrorKind::NotFound) => return Ok(0),
            Err(why) => {
                return Err(why.into_error(&self.cannot_access_file_message("read"), Kind::File));
            }
        };
        let about = file
            .metadata()
            .map_err(|fault| self.unreadable_error(&fault))?;
        // A pipe or device has no lines of an earlier run: do not read it.
        if !about.is_file() {
            return Ok(0);
        }
        let mut from = BufReader::with_capacity(1 << 16, file);
        let mut checksums = LineChecksumVerifier::default();
        let mut line = Vec::new();
        let mut length = 0;
        for number in 1u64.. {
            line.clear();
            let read = from.read_until(b'\n', &mut line);
            read.map_err(|fault| self.unreadable_error(&fault))?;
            let is_complete = line.ends_with(b"\n");
            let verified = match (self.has_checksums(), is_complete) {
                (true, true) => checksums.verify_checksum_of_line(&line),
                (true, false) => checksum::refuse_altered_line_end(&line),
                (false, _) => Ok(()),
            };
            let taken = match &self.before {
                _ if !is_complete => verified,
                None => self.check_and_keep_earlier_head(&line).map(|()| verified)?,
                Some(_) => verified.and_then(|()| on_earlier_line(line.trim_ascii())),
            };
            taken.map_err(|why| {
                Error::usage(format!("`{}`, line {number}: {why}", self.display_path()))
                    .hint("repair the line, or name another file")
            })?;
            if !is_complete {
                break;
            }
            length += line.len() as u64;
        }
        // A file without a complete line was not written by `qless`, unless it has the beginning of a first line that
        // a crash cut off.
        if self.before.is_none() && !line.is_empty() && !is_cut_head(&line) {
            return Err(self.not_a_ledger_error());
        }
        Ok(length)
    }

    /// Reads the lines of earlier runs once more.
    pub(crate) fn reread_earlier_lines(
        &self,
        mut on_earlier_line: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = open::open_if_private(&self.path, OpenOptions::new().read(true))
            .map_err(|why| why.into_error(&self.cannot_access_file_message("read"), Kind::File))?;
        let lines = BufReader::with_capacity(1 << 16, file).split(b'\n');
        for line in lines.skip(1) {
            on_earlier_line(&line.map_err(|fault| self.unreadable_error(&fault))?)?;
        }
        Ok(())
    }

    /// Reads the first line of an earlier run. Refuses a ledger of another kind, prefix or command.
    fn check_and_keep_earlier_head(&mut self, line: &[u8]) -> Result<(), Error> {
        let before: LedgerHead = match serde_json::from_slice(line) {
            Ok(before) => before,
            Err(_) => return Err(self.not_a_ledger_error()),
        };
        let head = &self.head;
        let mismatch = |begun: String, this: String| {
            let file = self.display_path();
            Error::usage(format!(
                "`{file}` was begun {begun}, this is {this}; nothing was changed"
            ))
            .hint("name another file")
        };
        if before.kind != head.kind {
            let (begun, this) = (Sanitized(&before.kind), Sanitized(&head.kind));
            return Err(mismatch(format!("as {begun}"), format!("a {this}")));
        }
        if before.prefix != head.prefix {
            let (begun, this) = (Sanitized(&before.prefix), Sanitized(&head.prefix));
            let begun = format!("with prefix `{begun}`");
            return Err(mismatch(begun, format!("`{this}`")));
        }
        if before.command != head.command {
            let (begun, this) = (Sanitized(&before.command), Sanitized(&head.command));
            let begun = format!("by `qless {begun}`");
            return Err(mismatch(begun, format!("`qless {this}`")));
        }
        self.before = Some(before);
        Ok(())
    }

    /// Opens the file for appending, and locks it.
    fn open_locked(&self) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(PRIVATE_FILE);
        let file = match open::open_if_private(&self.path, &mut options) {
            Ok(file) => file,
            Err(OpenFailure::Failed(fault)) => return Err(self.unwritable_error(&fault)),
            Err(refused) => {
                return Err(
                    refused.into_error(&self.cannot_access_file_message("write"), Kind::File)
                );
            }
        };
        self.refuse_device_like_dev_null(&file)?;
        // Some file systems have no locks. There, nothing prevents two runs from using the file at the same time.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(self.unwritable_error(&io::Error::new(
                ErrorKind::WouldBlock,
                "another run is using it",
            ))),
            _ => Ok(file),
        }
    }

    /// Refuses a device such as `/dev/null`, from which nothing can be read again. A device that takes nothing, such
    /// as `/dev/full`, fails at the first write.
    fn refuse_device_like_dev_null(&self, mut file: &File) -> Result<(), Error> {
        let about = file
            .metadata()
            .map_err(|fault| self.unwritable_error(&fault))?;
        let is_device = about.file_type().is_char_device() && !trust::is_descriptor(&self.path);
        if is_device && file.write(&[]).is_ok() {
            let what = self.cannot_access_file_message("write");
            return Err(Error::usage(format!("{what}: it is a device")).hint("name a file"));
        }
        Ok(())
    }

    /// Cuts off an incomplete last line.
    fn truncate_incomplete_line(&self, length: u64) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let about = file.metadata()?;
        if about.is_file() && about.len() > length {
            file.set_len(length)
        } else {
            Ok(())
        }
    }

    /// Whether each line has a checksum. Only the lines of undo files do, because nothing else records the values
    /// that a revert must restore.
    fn has_checksums(&self) -> bool {
        self.head.kind == UNDO
    }

    fn not_a_ledger_error(&self) -> Error {
        let file = self.display_path();
        let what = match self.head.kind.as_str() {
            // The command `export` writes files of this kind, too, so the message names `--save`.
            "export" => "was not begun by `--save`".to_owned(),
            kind => format!("is not a qless {kind}"),
        };
        Error::usage(format!("`{file}` exists and {what}")).hint("name another file")
    }

    fn cannot_access_file_message(&self, verb: &str) -> String {
        format!("cannot {verb} `{}`", self.display_path())
    }

    fn unreadable_error(&self, fault: &io::Error) -> Error {
        Error::from_io(Kind::File, &self.cannot_access_file_message("read"), fault)
    }

    fn unwritable_error(&self, fault: &io::Error) -> Error {
        let error = Error::from_io(Kind::File, &self.cannot_access_file_message("write"), fault);
        let hint = match (&self.file, limit_hint(fault)) {
            (None, _) if fault.kind() == ErrorKind::WouldBlock => {
                "run again when it has ended".to_owned()
            }
            (None, Some(limit)) => format!("nothing was changed; {limit}"),
            (None, None) => "nothing was changed; name a file that can be written".to_owned(),
            (Some(_), Some(limit)) => format!("{limit}, then run again with the same file"),
            (Some(_), None) => "run again with the same file".to_owned(),
        };
        error.hint(hint)
    }
}

/// Removes a file that this run created and left empty. Frees the reserved disk space of any other file.
impl Drop for Ledger {
    fn drop(&mut self) {
        let Some((file, about)) = self
            .file
            .as_ref()
            .and_then(|file| Some((file, file.metadata().ok()?)))
        else {
            return;
        };
        if self.created && about.len() == 0 {
            _ = std::fs::remove_file(&self.path);
        } else if about.is_file() {
            _ = file.set_len(about.len());
        }
    }
}

/// Refuses to replace a ledger by another file: it may have the only copy of deleted jobs or of repaired values.
pub(crate) fn refuse_to_replace_ledger(path: &Path) -> Result<(), Error> {
    if !path.is_file() {
        return Ok(());
    }
    // A file that cannot be read is left to the code that replaces it.
    let Ok(file) = open::open_to_read_unless_pipe(path) else {
        return Ok(());
    };
    let mut line = Vec::new();
    let read = BufReader::new(file.take(MAX_HEAD_BYTES)).read_until(b'\n', &mut line);
    let head: Option<LedgerHead> = serde_json::from_slice(&line).ok();
    let Some(head) = head.filter(|_| read.is_ok()) else {
        return Ok(());
    };
    let flag = match head.kind.as_str() {
        "export" => "save".into(),
        kind => Sanitized(kind).to_string(),
    };
    let file = Sanitized(path.as_os_str().as_encoded_bytes());
    Err(
        Error::usage(format!("`{file}` exists and was begun by `--{flag}`"))
            .hint("name another file"),
    )
}

/// Whether this is the beginning of a first line that was cut off.
fn is_cut_head(line: &[u8]) -> bool {
    let start = br#"{"kind":""#;
    let length = line.len().min(start.len());
    line[..length] == start[..length]
}
