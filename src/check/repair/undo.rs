//! The undo file of `--undo`: it has each value before a repair changed it. Each batch of a repair has a line with its
//! plan, then a line with the changes that the server made.
//!
//! The plan is on the disk before the repair sends the batch. The changes follow as soon as the server has reported
//! them. So after a crash at any time, the file has at least the changes that the server made: if a batch has no line
//! with changes, a revert uses its plan.
//!
//! A revert verifies the checksum of each line before it changes anything.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::bulk::checksum::{self, ChecksumVerifier};
use crate::bulk::ledger::{Ledger, LedgerHead, UNDO};
use crate::check::verify::finding_filter::FindingFilter;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::open;
use crate::model::finding::FindingId;
use crate::model::verdict::{KeyChange, Repairability, Verdict, VerdictReply};
use crate::name::{Name, escape_invalid_utf8};
use crate::session::Session;
use crate::text::Sanitized;
use crate::view::json;

/// The undo file of a repair.
#[derive(Debug)]
pub(crate) struct UndoWriter {
    ledger: Ledger,
    /// The number of the current batch.
    slice: u64,
}

impl UndoWriter {
    /// Opens the file before the repair sends any change. If an earlier run of the command wrote the file, this run
    /// appends to it. A dry run only checks that the file can be opened.
    pub(crate) fn open(
        path: &Path,
        command: &str,
        dry_run: bool,
        session: &Session,
    ) -> Result<UndoWriter, Error> {
        let mut slice = 0;
        let head = LedgerHead {
            command: command.to_owned(),
            ..LedgerHead::new(UNDO, session)?
        };
        let ledger = Ledger::open(&session.member_file_path(path), head, dry_run, |line| {
            let line = parse_undo_line(line)?;
            slice = slice.max(line.slice + 1);
            Ok(())
        })?;
        Ok(UndoWriter { ledger, slice })
    }

    /// Writes the first line.
    pub(crate) fn write_header_or_note_restart(
        &mut self,
        session: &mut Session,
    ) -> Result<(), Error> {
        self.ledger.write_head_or_note_server_restart(session)
    }

    /// Writes the plan of a batch to the disk. Returns false, and writes nothing, if no finding is to repair.
    pub(crate) fn write_plan_if_any(&mut self, verdicts: &[Verdict]) -> Result<bool, Error> {
        let plan = changes_of_verdicts_with_outcome(verdicts, Repairability::Repairable);
        if plan.is_empty() {
            return Ok(false);
        }
        self.write_line(PlannedOrDoneChanges::Plan(plan), false)?;
        self.ledger.flush().map(|()| true)
    }

    /// Writes the changes that the server made for a batch, and begins the next batch.
    pub(crate) fn write_done_batch(&mut self, reply: &VerdictReply) -> Result<(), Error> {
        let done = changes_of_verdicts_with_outcome(&reply.verdicts, Repairability::Repaired);
        self.write_line(PlannedOrDoneChanges::Done(done), reply.repeated)?;
        self.slice += 1;
        self.ledger.write_lines_without_sync()
    }

    /// Writes that the server made no changes for a batch. If the outcome is unknown, writes nothing, so that a revert
    /// takes all planned changes as made.
    pub(crate) fn write_failed_batch_unless_outcome_unknown(
        &mut self,
        error: &Error,
    ) -> Result<(), Error> {
        if error.kind() != Kind::OutcomeUnknown {
            self.write_line(PlannedOrDoneChanges::Done(Vec::new()), false)?;
            self.ledger.write_lines_without_sync()?;
        }
        self.slice += 1;
        Ok(())
    }

    fn write_line(&mut self, step: PlannedOrDoneChanges, was_repeated: bool) -> Result<(), Error> {
        let line = UndoLine {
            slice: self.slice,
            again: was_repeated,
            step,
        };
        let line = json::compact_line(&line).map_err(Error::internal)?;
        self.ledger.add_line(&line);
        Ok(())
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct UndoLine {
    slice: u64,
    /// Whether the call was repeated after its reply was lost. The first call may have made changes that this line
    /// lacks, so a revert also uses the plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    again: bool,
    #[serde(flatten)]
    step: PlannedOrDoneChanges,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlannedOrDoneChanges {
    Plan(Vec<FindingChanges>),
    Done(Vec<FindingChanges>),
}

/// The changes that repair one finding.
#[derive(Debug, Serialize, Deserialize)]
struct FindingChanges {
    /// The name of the finding, as text: another version of `qless` may have written a name that is unknown here.
    finding: String,
    changes: Vec<SerializedKeyChange>,
}

/// A change of one value, as a line of the file has it. Fields `…_bytes` have values that are not UTF-8, in base64.
#[derive(Debug, Serialize, Deserialize)]
struct SerializedKeyChange {
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_bytes: Option<String>,
    item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item_bytes: Option<String>,
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before_bytes: Option<String>,
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after_bytes: Option<String>,
}

impl From<&KeyChange> for SerializedKeyChange {
    fn from(change: &KeyChange) -> SerializedKeyChange {
        let KeyChange {
            key,
            item,
            before,
            after,
        } = change;
        let text = |name: &Option<Name>| {
            name.as_ref()
                .map(|name| escape_invalid_utf8(name.as_bytes()))
        };
        let bytes = |name: &Option<Name>| name.as_ref().and_then(Name::base64_if_not_utf8);
        SerializedKeyChange {
            key: Some(escape_invalid_utf8(key.as_bytes())),
            key_bytes: key.base64_if_not_utf8(),
            item: text(item),
            item_bytes: bytes(item),
            before: text(before),
            before_bytes: bytes(before),
            after: text(after),
            after_bytes: bytes(after),
        }
    }
}

impl SerializedKeyChange {
    fn into_change(self) -> Result<KeyChange, String> {
        Ok(KeyChange {
            key: decode_name(self.key, self.key_bytes)?.ok_or("a change without key")?,
            item: decode_name(self.item, self.item_bytes)?,
            before: decode_name(self.before, self.before_bytes)?,
            after: decode_name(self.after, self.after_bytes)?,
        })
    }
}

fn decode_name(text: Option<String>, bytes: Option<String>) -> Result<Option<Name>, String> {
    match bytes.map(|bytes| STANDARD.decode(bytes)) {
        Some(Ok(bytes)) => Ok(Some(Name::from(bytes))),
        Some(Err(_)) => Err("a value is not base64".to_owned()),
        None => Ok(text.map(Name::from)),
    }
}

/// The changes of each verdict that has this outcome.
fn changes_of_verdicts_with_outcome(
    verdicts: &[Verdict],
    outcome: Repairability,
) -> Vec<FindingChanges> {
    verdicts
        .iter()
        .filter(|verdict| verdict.outcome == outcome)
        .map(|verdict| FindingChanges {
            finding: verdict.id.to_string(),
            changes: verdict
                .changes
                .iter()
                .map(SerializedKeyChange::from)
                .collect(),
        })
        .collect()
}

fn parse_undo_line(line: &[u8]) -> Result<UndoLine, String> {
    serde_json::from_slice(line).map_err(|_| "this is not a change of a repair".to_owned())
}

/// A repaired finding to revert.
#[derive(Debug)]
pub(crate) struct RepairToRevert {
    /// `None` for a finding of another version.
    pub id: Option<FindingId>,
    /// The newest first.
    pub changes: Vec<KeyChange>,
}

/// The bytes of a line in the file.
#[derive(Debug)]
struct LineSpan {
    offset: u64,
    length: u64,
}

/// An undo file to revert.
#[derive(Debug)]
pub(crate) struct UndoFile {
    shown: String,
    file: BufReader<File>,
    pub head: LedgerHead,
    /// The lines to revert, the newest last.
    lines: Vec<LineSpan>,
    /// The number of changes, by finding.
    pub counts: BTreeMap<String, u64>,
    /// The findings whose repairs are reverted.
    filter: FindingFilter,
}

/// Whether a filter selects a finding of an undo file. A finding with an unknown name, which another version of `qless`
/// wrote, is selected only if the filter excludes no finding.
fn selects_finding_by_name(filter: &FindingFilter, finding: &str) -> bool {
    match FindingId::from_name(finding) {
        Some(id) => filter.selects_finding(id),
        None => !filter.excludes_any_finding(),
    }
}

impl UndoFile {
    /// Opens the undo file of a repair and verifies its lines. Ignores an incomplete last line, which a crash cut off.
    pub(crate) fn open(path: &Path, filter: &FindingFilter) -> Result<UndoFile, Error> {
        let shown = Sanitized(path.as_os_str().as_encoded_bytes()).to_string();
        let unread = |fault: &std::io::Error| {
            Error::from_io(Kind::Usage, &format!("cannot read `{shown}`"), fault)
        };
        let foreign = || {
            Error::usage(format!("`{shown}` is not a file of `qless check --undo`"))
                .hint("name the file that `--undo` wrote")
        };
        let what = format!("cannot read `{shown}`");
        let opened = open::open_if_private(path, OpenOptions::new().read(true));
        let file = opened.map_err(|why| why.into_error(&what, Kind::Usage))?;
        let about = file.metadata().map_err(|fault| unread(&fault))?;
        if !about.is_file() {
            return Err(foreign());
        }
        let mut from = BufReader::with_capacity(1 << 16, file);
        let (mut head, mut counted) = (None, RevertibleLines::default());
        let mut checksums = ChecksumVerifier::default();
        let (mut offset, mut line) = (0, Vec::new());
        for number in 1u64.. {
            let refused = |why| Error::usage(format!("`{shown}`, line {number}: {why}"));
            let altered = |why| match number {
                1 => refused(why),
                _ => refused(why).hint("nothing was changed; delete the line to revert the others"),
            };
            line.clear();
            let length = from.read_until(b'\n', &mut line);
            let length = length.map_err(|fault| unread(&fault))? as u64;
            if !line.ends_with(b"\n") {
                checksum::refuse_altered_line_end(&line).map_err(altered)?;
                break;
            }
            if head.is_none() {
                let first: Option<LedgerHead> = serde_json::from_slice(&line).ok();
                let first = first.filter(|head| head.kind == UNDO && head.v == 1);
                head = Some(first.ok_or_else(foreign)?);
                checksums.verify_line(&line).map_err(altered)?;
            } else {
                checksums.verify_line(&line).map_err(altered)?;
                let span = LineSpan { offset, length };
                counted.add_line(&line, span).map_err(refused)?;
            }
            offset += length;
        }
        let head = head.ok_or_else(foreign)?;
        let (lines, mut counts) = counted.into_lines_and_counts();
        counts.retain(|finding, _| selects_finding_by_name(filter, finding));
        Ok(UndoFile {
            shown,
            file: from,
            head,
            lines,
            counts,
            filter: filter.clone(),
        })
    }

    /// The path, sanitized.
    pub(crate) fn shown_path(&self) -> &str {
        &self.shown
    }

    /// The number of changes.
    pub(crate) fn change_count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Removes the newest line from the lines to revert, and returns its selected findings, newest first.
    pub(crate) fn pop_newest_repairs(&mut self) -> Result<Option<Vec<RepairToRevert>>, Error> {
        let Some(LineSpan { offset, length }) = self.lines.pop() else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let position = self.file.seek(SeekFrom::Start(offset));
        let result = position.and_then(|_| (&mut self.file).take(length).read_to_end(&mut line));
        result.map_err(|fault| {
            let (shown, why) = (&self.shown, io_message_without_errno(&fault));
            Error::usage(format!("cannot read `{shown}`: {why}"))
        })?;
        let changed = |why| {
            Error::usage(format!(
                "`{}` has changed since it was opened: {why}",
                self.shown
            ))
        };
        let verified = ChecksumVerifier::default().verify_line(&line);
        let UndoLine { step, .. } = verified
            .and_then(|()| parse_undo_line(&line))
            .map_err(changed)?;
        let (PlannedOrDoneChanges::Plan(repairs) | PlannedOrDoneChanges::Done(repairs)) = step;
        let selected =
            |repair: &FindingChanges| selects_finding_by_name(&self.filter, &repair.finding);
        let repairs = repairs.into_iter().rev().filter(selected);
        let newest_first = repairs.map(|repair| {
            let changes = repair
                .changes
                .into_iter()
                .rev()
                .map(SerializedKeyChange::into_change);
            let changes = changes.collect::<Result<Vec<KeyChange>, String>>()?;
            let id = FindingId::from_name(&repair.finding);
            Ok(RepairToRevert { id, changes })
        });
        newest_first
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(changed)
    }
}

/// The lines of the file that a revert uses, of the lines read so far. A line with the changes of a batch replaces the
/// line with its plan, unless a reply was lost.
#[derive(Default)]
struct RevertibleLines {
    lines: Vec<LineSpan>,
    counts: BTreeMap<String, u64>,
    /// The plan in the last line read. The next line decides whether a revert uses it.
    open: Option<RevertibleLine>,
}

/// A line of a batch.
struct RevertibleLine {
    slice: u64,
    span: LineSpan,
    counts: Vec<(String, u64)>,
}

impl RevertibleLines {
    fn add_line(&mut self, line: &[u8], span: LineSpan) -> Result<(), String> {
        let UndoLine { slice, again, step } = parse_undo_line(line)?;
        let (repairs, planned) = match step {
            PlannedOrDoneChanges::Plan(repairs) => (repairs, true),
            PlannedOrDoneChanges::Done(repairs) => (repairs, false),
        };
        let mut counts = Vec::with_capacity(repairs.len());
        for repair in repairs {
            let changes = repair
                .changes
                .into_iter()
                .map(SerializedKeyChange::into_change);
            let changes = changes.collect::<Result<Vec<_>, _>>()?;
            counts.push((repair.finding, changes.len() as u64));
        }
        let line = RevertibleLine {
            slice,
            span,
            counts,
        };
        // The changes of a batch replace its plan, unless a reply was lost: then a revert uses both lines.
        let plan = self.open.take();
        if let Some(plan) = plan.filter(|plan| planned || again || plan.slice != slice) {
            self.push_line_to_revert(plan);
        }
        if planned {
            self.open = Some(line)
        } else {
            self.push_line_to_revert(line)
        }
        Ok(())
    }

    fn push_line_to_revert(&mut self, line: RevertibleLine) {
        self.lines.push(line.span);
        for (finding, changes) in line.counts {
            *self.counts.entry(finding).or_default() += changes;
        }
    }

    fn into_lines_and_counts(mut self) -> (Vec<LineSpan>, BTreeMap<String, u64>) {
        if let Some(plan) = self.open.take() {
            self.push_line_to_revert(plan);
        }
        self.counts.retain(|_, count| *count > 0);
        (self.lines, self.counts)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    use super::*;
    use crate::bulk::checksum::with_checksum;
    use crate::fs::PRIVATE_FILE;

    const HEAD: &str =
        r#"{"kind":"undo","v":1,"prefix":"ql:","address":"a","command":"check","run_id":null}"#;

    /// A plan of two changes of which one was made, and a plan whose outcome is not known.
    const LINES: [&str; 3] = [
        r#"{"slice":0,"plan":[{"finding":"tag-count","changes":[{"key":"ql:tags","item":"eu","before":"7","after":"1"},{"key":"ql:tags","item":"us","before":"3","after":"2"}]}]}"#,
        r#"{"slice":0,"done":[{"finding":"tag-count","changes":[{"key":"ql:tags","item":"eu","before":"7","after":"1"}]}]}"#,
        r#"{"slice":1,"plan":[{"finding":"ghost-waiting","changes":[{"key":"ql:q:mail-work","item":"ghost","before":"0","after":null}]}]}"#,
    ];

    /// The changes that a file of this text would revert, or why the file is refused.
    fn reverted(text: &[u8]) -> Result<String, Error> {
        let dir = tempfile::tempdir().unwrap();
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(dir.path(), private).unwrap();
        let path = dir.path().join("undo");
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(PRIVATE_FILE);
        options.open(&path).unwrap().write_all(text).unwrap();
        let filter = FindingFilter::default();
        let mut file = UndoFile::open(&path, &filter)?;
        let mut changes = format!("{} {:?}", file.head.prefix, file.counts);
        while let Some(repairs) = file.pop_newest_repairs()? {
            changes.push_str(&format!("{repairs:?}"));
        }
        Ok(changes)
    }

    fn lines(texts: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
        let lines = texts.into_iter().flat_map(|line| [line, vec![b'\n']]);
        lines.collect::<Vec<_>>().concat()
    }

    fn texts() -> impl Iterator<Item = &'static [u8]> {
        std::iter::once(HEAD).chain(LINES).map(str::as_bytes)
    }

    #[test]
    fn a_file_with_any_byte_altered_is_refused_or_reverts_the_same() {
        let text = lines(texts().map(with_checksum));
        let unaltered = reverted(&text).unwrap();
        let mut refused = 0;
        for at in 0..text.len() {
            for mask in [1, 0x20, 0x80] {
                let mut altered = text.clone();
                altered[at] ^= mask;
                match reverted(&altered) {
                    Ok(changes) => assert_eq!(changes, unaltered, "byte {at}, mask {mask}"),
                    Err(_) => refused += 1,
                }
            }
        }
        // Without the name of its field, the checksum of the first line is not looked for.
        let unchecked = 3 * (br#","sum":"0123456789abcdef"}"#.len());
        assert!(refused >= 3 * text.len() - unchecked, "{refused}");
    }

    #[test]
    fn a_file_without_checksums_and_one_continued_with_them_are_read() {
        let intact = reverted(&lines(texts().map(with_checksum))).unwrap();
        assert_eq!(
            reverted(&lines(texts().map(<[u8]>::to_vec))).unwrap(),
            intact
        );
        let continued = texts().enumerate().map(|(number, line)| match number {
            0 | 1 => line.to_vec(),
            _ => with_checksum(line),
        });
        assert_eq!(reverted(&lines(continued)).unwrap(), intact);
        let discontinued = texts().enumerate().map(|(number, line)| match number {
            3 => line.to_vec(),
            _ => with_checksum(line),
        });
        assert!(reverted(&lines(discontinued)).is_err());
    }

    #[test]
    fn without_a_deleted_line_the_others_are_read() {
        let sealed: Vec<_> = texts().map(with_checksum).collect();
        for deleted in 1..sealed.len() {
            let kept = sealed.iter().enumerate();
            let kept = kept.filter(|(number, _)| *number != deleted);
            reverted(&lines(kept.map(|(_, line)| line.clone()))).unwrap();
        }
    }
}
