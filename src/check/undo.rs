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
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::bulk::checksum::{self, LineChecksumVerifier};
use crate::bulk::ledger::{Ledger, LedgerHead, UNDO};
use crate::check::verify::finding_filter::FindingFilter;
use crate::error::{Error, Kind, io_message_without_errno};
use crate::fs::open;
use crate::model::verdict::{FindingRepairState, KeyChange, Verdict, VerdictsReply};
use crate::name::Name;
use crate::session::Session;
use crate::text::Sanitized;
use crate::view::json;

/// The undo file of a repair.
#[derive(Debug)]
pub(crate) struct UndoWriter {
    pub ledger: Ledger,
    /// The number of the current batch.
    slice: u64,
}

impl UndoWriter {
    /// Opens the file before the repair sends any change. If an earlier run of the command wrote the file, this run
    /// appends to it. A dry run only checks that the file can be opened.
    pub(crate) fn open(
        path: &Path,
        command: String,
        dry_run: bool,
        session: &Session,
    ) -> Result<UndoWriter, Error> {
        let mut slice = 0;
        let head = LedgerHead {
            command,
            ..LedgerHead::new(UNDO, session)?
        };
        let ledger = Ledger::open(&session.member_file_path(path), head, dry_run, |line| {
            let line = parse_undo_line(line)?;
            slice = slice.max(line.slice + 1);
            Ok(())
        })?;
        Ok(UndoWriter { ledger, slice })
    }

    /// Writes the plan of a batch to the disk. Returns false, and writes nothing, if no finding is to repair.
    pub(crate) fn write_plan_if_any(&mut self, verdicts: &[Verdict]) -> Result<bool, Error> {
        let plan = changes_of_verdicts_with_outcome(verdicts, FindingRepairState::Repairable);
        if plan.is_empty() {
            return Ok(false);
        }
        self.write_line(UndoLineChanges::Plan(plan), false)?;
        self.ledger.flush().map(|()| true)
    }

    /// Writes the changes that the server made for a batch, and begins the next batch.
    pub(crate) fn write_done_batch(&mut self, reply: &VerdictsReply) -> Result<(), Error> {
        let done = changes_of_verdicts_with_outcome(&reply.verdicts, FindingRepairState::Repaired);
        self.write_line(UndoLineChanges::Done(done), reply.repeated)?;
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
            self.write_line(UndoLineChanges::Done(Vec::new()), false)?;
            self.ledger.write_lines_without_sync()?;
        }
        self.slice += 1;
        Ok(())
    }

    fn write_line(&mut self, step: UndoLineChanges, was_repeated: bool) -> Result<(), Error> {
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
    step: UndoLineChanges,
}

/// The changes of a slice of the repair, as a line of the undo file has them: as planned, before the slice is sent, or as
/// the server made them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UndoLineChanges {
    Plan(Vec<FindingChanges>),
    Done(Vec<FindingChanges>),
}

/// The changes that repair one finding.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FindingChanges {
    /// The name of the finding, as text: another version of `qless` may have written a name that is unknown here.
    pub finding: String,
    #[serde(deserialize_with = "read_changes")]
    pub changes: Vec<KeyChange>,
}

/// Reads changes from a line. A value that is not UTF-8 also has a field `…_bytes`, in base64.
fn read_changes<'de, D: Deserializer<'de>>(line: D) -> Result<Vec<KeyChange>, D::Error> {
    #[derive(Deserialize)]
    struct ChangeFields {
        key: Option<String>,
        key_bytes: Option<String>,
        item: Option<String>,
        item_bytes: Option<String>,
        before: Option<String>,
        before_bytes: Option<String>,
        after: Option<String>,
        after_bytes: Option<String>,
    }
    let value = |text: Option<String>, bytes: Option<String>| match bytes {
        Some(bytes) => {
            let bytes = STANDARD.decode(bytes).map_err(D::Error::custom)?;
            Ok(Some(Name::from(bytes)))
        }
        None => Ok(text.map(Name::from)),
    };
    let changes = Vec::<ChangeFields>::deserialize(line)?.into_iter();
    let changes = changes.map(|change| {
        let key = value(change.key, change.key_bytes)?;
        Ok(KeyChange {
            key: key.ok_or_else(|| D::Error::missing_field("key"))?,
            item: value(change.item, change.item_bytes)?,
            before: value(change.before, change.before_bytes)?,
            after: value(change.after, change.after_bytes)?,
        })
    });
    changes.collect()
}

/// The changes of each verdict that has this outcome.
fn changes_of_verdicts_with_outcome(
    verdicts: &[Verdict],
    outcome: FindingRepairState,
) -> Vec<FindingChanges> {
    verdicts
        .iter()
        .filter(|verdict| verdict.outcome == outcome)
        .map(|verdict| FindingChanges {
            finding: verdict.id.to_string(),
            changes: verdict.changes.clone(),
        })
        .collect()
}

fn parse_undo_line(line: &[u8]) -> Result<UndoLine, String> {
    serde_json::from_slice(line).map_err(|_| "this is not a change of a repair".to_owned())
}

/// An undo file to revert.
#[derive(Debug)]
pub(crate) struct UndoFileToRevert {
    /// The path, sanitized.
    pub shown: String,
    file: BufReader<File>,
    pub head: LedgerHead,
    /// Where the lines to revert begin, the newest last.
    offsets: Vec<u64>,
    /// The number of changes, by finding.
    pub counts: BTreeMap<String, u64>,
    /// The findings whose repairs are reverted.
    filter: FindingFilter,
}

impl UndoFileToRevert {
    /// Opens the undo file of a repair and verifies its lines. Ignores an incomplete last line, which a crash cut off.
    pub(crate) fn open(path: &Path, filter: &FindingFilter) -> Result<UndoFileToRevert, Error> {
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
        let (mut head, mut to_revert) = (None, RevertibleLines::default());
        let mut checksums = LineChecksumVerifier::default();
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
                checksums.verify_checksum_of_line(&line).map_err(altered)?;
            } else {
                checksums.verify_checksum_of_line(&line).map_err(altered)?;
                to_revert.add_line(&line, offset).map_err(refused)?;
            }
            offset += length;
        }
        let head = head.ok_or_else(foreign)?;
        if let Some((plan, offset)) = to_revert.last_plan.take() {
            to_revert.push_line_to_revert(plan, offset);
        }
        let RevertibleLines {
            offsets,
            mut counts,
            ..
        } = to_revert;
        counts.retain(|finding, _| filter.selects_finding_by_name(finding));
        Ok(UndoFileToRevert {
            shown,
            file: from,
            head,
            offsets,
            counts,
            filter: filter.clone(),
        })
    }

    /// The number of changes.
    pub(crate) fn change_count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Removes the newest line from the lines to revert, and returns its selected findings, the newest first.
    pub(crate) fn pop_newest_repairs(&mut self) -> Result<Option<Vec<FindingChanges>>, Error> {
        let Some(offset) = self.offsets.pop() else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let position = self.file.seek(SeekFrom::Start(offset));
        let result = position.and_then(|_| self.file.read_until(b'\n', &mut line));
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
        let verified = LineChecksumVerifier::default().verify_checksum_of_line(&line);
        let UndoLine { step, .. } = verified
            .and_then(|()| parse_undo_line(&line))
            .map_err(changed)?;
        let (UndoLineChanges::Plan(repairs) | UndoLineChanges::Done(repairs)) = step;
        let mut repairs: Vec<FindingChanges> = repairs.into_iter().rev().collect();
        repairs.retain(|repair| self.filter.selects_finding_by_name(&repair.finding));
        repairs
            .iter_mut()
            .for_each(|repair| repair.changes.reverse());
        Ok(Some(repairs))
    }
}

/// The lines of the file that a revert uses, of the lines read so far. A line with the changes of a batch replaces the
/// line with its plan, unless a reply was lost: then a revert uses both lines.
#[derive(Default)]
struct RevertibleLines {
    /// Where the lines begin.
    offsets: Vec<u64>,
    /// The number of changes, by finding.
    counts: BTreeMap<String, u64>,
    /// The line read last, with its offset, if it is a plan. The next line decides whether a revert uses it.
    last_plan: Option<(UndoLine, u64)>,
}

impl RevertibleLines {
    fn add_line(&mut self, line: &[u8], offset: u64) -> Result<(), String> {
        let line = parse_undo_line(line)?;
        let is_plan = matches!(line.step, UndoLineChanges::Plan(_));
        if let Some((plan, offset)) = self.last_plan.take()
            && (is_plan || line.again || plan.slice != line.slice)
        {
            self.push_line_to_revert(plan, offset);
        }
        if is_plan {
            self.last_plan = Some((line, offset))
        } else {
            self.push_line_to_revert(line, offset)
        }
        Ok(())
    }

    fn push_line_to_revert(&mut self, line: UndoLine, offset: u64) {
        self.offsets.push(offset);
        let (UndoLineChanges::Plan(repairs) | UndoLineChanges::Done(repairs)) = line.step;
        for repair in repairs
            .into_iter()
            .filter(|repair| !repair.changes.is_empty())
        {
            *self.counts.entry(repair.finding).or_default() += repair.changes.len() as u64;
        }
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
        let mut file = UndoFileToRevert::open(&path, &filter)?;
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
