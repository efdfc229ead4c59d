//! `--undo`: what every place held before a repair changed it, a line per slice and step.
//!
//! The plan of a slice is down on the disk before it is mended, its changes are written as soon as
//! the server told them. So after a crash at any moment the file knows at least as much as the
//! server: of a slice whose changes it does not tell, the plan counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::bulk::ledger::{Ledger, LedgerHead, UNDO};
use crate::error::{Error, Kind as Fault, io_words};
use crate::model::verdict::{Change, RepairReply, Verdict, VerdictOutcome};
use crate::name::Name;
use crate::session::Session;
use crate::text::clean;
use crate::view::json;

/// The file of a repair.
#[derive(Debug)]
pub(crate) struct Undo {
    ledger: Ledger,
    /// Of the slice that is mended, the next one's after.
    slice: u64,
}

impl Undo {
    /// Opens the file, before anything is sent. One of the same command is continued; a rehearsal
    /// only looks whether that would do.
    pub(crate) fn open(
        path: &Path,
        command: &str,
        rehearsal: bool,
        session: &Session,
    ) -> Result<Undo, Error> {
        if path.is_symlink() {
            let file = clean(path.as_os_str().as_encoded_bytes());
            return Err(
                Error::usage(format!("`{file}` is a link, which is not followed"))
                    .hint("name the file itself"),
            );
        }
        let mut slice = 0;
        let head = LedgerHead {
            command: command.to_owned(),
            ..LedgerHead::of(UNDO, session)?
        };
        let ledger = Ledger::open(path, head, rehearsal, |line| {
            let line = read(line)?;
            slice = slice.max(line.slice + 1);
            Ok(())
        })?;
        Ok(Undo { ledger, slice })
    }

    /// Writes the first line.
    pub(crate) fn begin(&mut self, session: &mut Session) -> Result<(), Error> {
        self.ledger.begin(session)
    }

    /// Writes what is about to be mended, down to the disk. Returns whether that is anything.
    pub(crate) fn plan(&mut self, verdicts: &[Verdict]) -> Result<bool, Error> {
        let plan: Vec<Mend> = mends(verdicts, VerdictOutcome::Found);
        if plan.is_empty() {
            return Ok(false);
        }
        self.line(Step::Plan(plan), false)?;
        self.ledger.flush().map(|()| true)
    }

    /// Writes what was mended, and goes on to the next slice.
    pub(crate) fn done(&mut self, mended: &RepairReply) -> Result<(), Error> {
        let done = mends(&mended.verdicts, VerdictOutcome::Mended);
        self.line(Step::Done(done), mended.again)?;
        self.slice += 1;
        self.ledger.write()
    }

    /// Writes that a slice was not mended. Where nobody knows, its plan counts.
    pub(crate) fn broke(&mut self, error: &Error) -> Result<(), Error> {
        if error.kind() != Fault::Unknown {
            self.line(Step::Done(Vec::new()), false)?;
            self.ledger.write()?;
        }
        self.slice += 1;
        Ok(())
    }

    fn line(&mut self, step: Step, again: bool) -> Result<(), Error> {
        let line = Line {
            slice: self.slice,
            again,
            step,
        };
        let line = json::line(&line).map_err(Error::internal)?;
        self.ledger.line(&line);
        Ok(())
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    slice: u64,
    /// Whether an answer was lost before: then something of the plan may be done besides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    again: bool,
    #[serde(flatten)]
    step: Step,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Plan(Vec<Mend>),
    Done(Vec<Mend>),
}

/// What mends one finding.
#[derive(Debug, Serialize, Deserialize)]
struct Mend {
    finding: String,
    changes: Vec<Row>,
}

/// A change. What is not UTF-8 stands in the `…_bytes`, in base64.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
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

impl From<&Change> for Row {
    fn from(change: &Change) -> Row {
        let Change {
            key,
            item,
            before,
            after,
        } = change;
        let text = |name: &Option<Name>| name.as_ref().map(Name::document_text);
        let bytes = |name: &Option<Name>| name.as_ref().and_then(Name::base64);
        Row {
            key: Some(key.document_text()),
            key_bytes: key.base64(),
            item: text(item),
            item_bytes: bytes(item),
            before: text(before),
            before_bytes: bytes(before),
            after: text(after),
            after_bytes: bytes(after),
        }
    }
}

impl Row {
    fn change(self) -> Result<Change, String> {
        Ok(Change {
            key: name(self.key, self.key_bytes)?.ok_or("a change without key")?,
            item: name(self.item, self.item_bytes)?,
            before: name(self.before, self.before_bytes)?,
            after: name(self.after, self.after_bytes)?,
        })
    }
}

fn name(text: Option<String>, bytes: Option<String>) -> Result<Option<Name>, String> {
    match bytes.map(|bytes| STANDARD.decode(bytes)) {
        Some(Ok(bytes)) => Ok(Some(Name::from(bytes))),
        Some(Err(_)) => Err("what is to be bytes is not base64".to_owned()),
        None => Ok(text.map(Name::from)),
    }
}

fn mends(verdicts: &[Verdict], outcome: VerdictOutcome) -> Vec<Mend> {
    let wanted = verdicts.iter().filter(|one| one.outcome == outcome);
    wanted
        .map(|verdict| Mend {
            finding: verdict.id.clone(),
            changes: verdict.changes.iter().map(Row::from).collect(),
        })
        .collect()
}

fn read(line: &[u8]) -> Result<Line, String> {
    serde_json::from_slice(line).map_err(|_| "this is no change of a repair".to_owned())
}

/// A file that is to be put back.
#[derive(Debug)]
pub(crate) struct Past {
    shown: String,
    file: BufReader<File>,
    pub head: LedgerHead,
    /// Where the lines that count begin and how long they are, the newest last.
    lines: Vec<(u64, u64)>,
    /// How many changes there are, by what they mended.
    pub counts: BTreeMap<String, u64>,
}

impl Past {
    /// Reads what a repair wrote; a last line without end was lost_dependencies by a crash and does not count.
    pub(crate) fn open(path: &Path) -> Result<Past, Error> {
        let shown = clean(path.as_os_str().as_encoded_bytes());
        let unread = |fault: &std::io::Error| {
            Error::usage(format!("cannot read `{shown}`: {}", io_words(fault)))
        };
        let foreign = || {
            Error::usage(format!("`{shown}` is no file of `qless check --undo`"))
                .hint("name the file that the repair wrote")
        };
        let file = File::open(path).map_err(|fault| unread(&fault))?;
        let about = file.metadata().map_err(|fault| unread(&fault))?;
        if !about.is_file() {
            return Err(foreign());
        }
        let mut from = BufReader::with_capacity(1 << 16, file);
        let (mut head, mut counted) = (None, Counted::default());
        let (mut at, mut line) = (0, Vec::new());
        for number in 1u64.. {
            line.clear();
            let length = from.read_until(b'\n', &mut line);
            let length = length.map_err(|fault| unread(&fault))? as u64;
            if !line.ends_with(b"\n") {
                break;
            }
            if head.is_none() {
                let told: Option<LedgerHead> = serde_json::from_slice(&line).ok();
                let told = told.filter(|head| head.kind == UNDO && head.v == 1);
                head = Some(told.ok_or_else(foreign)?);
            } else {
                let told = counted.add(&line, at, length);
                told.map_err(|why| Error::usage(format!("`{shown}`, line {number}: {why}")))?;
            }
            at += length;
        }
        let head = head.ok_or_else(foreign)?;
        let (lines, counts) = counted.end();
        Ok(Past {
            shown,
            file: from,
            head,
            lines,
            counts,
        })
    }

    /// Returns the file's name, cleaned.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns how many changes there are.
    pub(crate) fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the changes of the newest line that is left, newest first, by what they mended.
    pub(crate) fn newest(&mut self) -> Result<Option<Vec<Vec<Change>>>, Error> {
        let Some((at, length)) = self.lines.pop() else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let sought = self.file.seek(SeekFrom::Start(at));
        let read_whole = sought.and_then(|_| (&mut self.file).take(length).read_to_end(&mut line));
        read_whole.map_err(|fault| {
            let (shown, why) = (&self.shown, io_words(&fault));
            Error::usage(format!("cannot read `{shown}`: {why}"))
        })?;
        let changed = |why| Error::usage(format!("`{}` was changed meanwhile: {why}", self.shown));
        let Line { step, .. } = read(&line).map_err(changed)?;
        let (Step::Plan(mends) | Step::Done(mends)) = step;
        let newest_first = mends.into_iter().rev().map(|mend| {
            let changes = mend.changes.into_iter().rev().map(Row::change);
            changes.collect::<Result<Vec<Change>, String>>()
        });
        newest_first
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(changed)
    }
}

/// Which lines count, of those that were read so far.
#[derive(Default)]
struct Counted {
    lines: Vec<(u64, u64)>,
    counts: BTreeMap<String, u64>,
    /// The plan of which nothing more is told so far.
    open: Option<Told>,
}

/// What a line tells of a slice.
struct Told {
    slice: u64,
    place: (u64, u64),
    counts: Vec<(String, u64)>,
}

impl Counted {
    fn add(&mut self, line: &[u8], at: u64, length: u64) -> Result<(), String> {
        let Line { slice, again, step } = read(line)?;
        let (mends, planned) = match step {
            Step::Plan(mends) => (mends, true),
            Step::Done(mends) => (mends, false),
        };
        let mut counts = Vec::with_capacity(mends.len());
        for mend in mends {
            let changes = mend.changes.into_iter().map(Row::change);
            let changes = changes.collect::<Result<Vec<_>, _>>()?;
            counts.push((mend.finding, changes.len() as u64));
        }
        let told = Told {
            slice,
            place: (at, length),
            counts,
        };
        // What was done tells all that its plan does, where no answer was lost.
        let plan = self.open.take();
        if let Some(plan) = plan.filter(|plan| planned || again || plan.slice != slice) {
            self.count(plan);
        }
        match planned {
            true => self.open = Some(told),
            false => self.count(told),
        }
        Ok(())
    }

    fn count(&mut self, told: Told) {
        self.lines.push(told.place);
        for (finding, changes) in told.counts {
            *self.counts.entry(finding).or_default() += changes;
        }
    }

    fn end(mut self) -> (Vec<(u64, u64)>, BTreeMap<String, u64>) {
        if let Some(plan) = self.open.take() {
            self.count(plan);
        }
        self.counts.retain(|_, count| *count > 0);
        (self.lines, self.counts)
    }
}
