//! The files of `--journal` and `--report`. `qless` records the jid of a line before it sends the line, and the
//! outcome after the reply.
//!
//! Lines of the file, after the ledger's first one:
//! - `{"line":7,"sha256":"…","jid":"…","at":1795214400.5}`: line 7 is about to be sent
//! - `{"done":[[1,200]]}`: these lines are put, or their jobs existed already
//! - `{"failed":[[7,7]]}`: the core refused these lines; the next run sends them again
//! - `{"took":[[7,"…"]]}`: line 7 was a duplicate of another job
//! - `{"jid":"…","result":"done","code":"ok",…,"line":7}`: in a report, in place of the three before, the outcome
//!   of line 7 as in `-o ndjson`
//! - `{"lost":[[1,200]]}`: the server has lost the jobs of these lines, and this run puts them again
//! - `{"server":{"run_id":"…","flushes":0,"evicted":0}}`: the jobs of the lines done until here were verified on
//!   this server
//!
//! Memory holds one bit per line of the input, the jid of each line that was sent but is not done, and the existing
//! jobs that lines duplicate.

use std::collections::HashMap;
use std::io::Write;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::PutFromFlags;
use super::jid::append_hex;
use super::round::{PutRound, SentJob};
use crate::bulk::ledger::{Ledger, LedgerHead};
use crate::clock::moment::Moment;
use crate::core::api::epoch::LossFreeEpoch;
use crate::core::call::Core;
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::model::bulk::{ItemResult, JobOutcome};
use crate::name::Name;
use crate::session::Session;
use crate::view::json;

/// The state that earlier runs left.
#[derive(Debug, Default)]
pub(super) struct JournalState {
    /// One bit per line.
    done: Vec<u64>,
    open: HashMap<u64, LineSentButNotDone>,
    /// The existing job that the job of a line duplicates, by line number.
    existing: HashMap<u64, Name>,
    /// The state of the server when a later run last verified the jobs of the done lines. `None` if no run has done
    /// so: then the first line of the ledger has the server's state.
    server: Option<LossFreeEpoch>,
}

/// The jobs of done lines that are missing on the server.
#[derive(Debug, Default)]
pub(super) struct LostJobs {
    /// The lines that are put again.
    pub missing: Vec<u64>,
    /// Number of missing jobs so old that the core may have deleted them after they completed. They count as done.
    pub old: usize,
    /// Whether the server has evicted keys. Those of queues may be among them, so that jobs are in no queue.
    pub evicted: bool,
}

/// A line that was sent but is not done.
#[derive(Debug, PartialEq)]
pub(super) struct LineSentButNotDone {
    pub jid: Vec<u8>,
    /// When an earlier run sent the line without seeing a reply. `None` if the core refused the line, or the server
    /// lost its job.
    pub since: Option<Moment>,
}

/// The journal or the report of this run.
#[derive(Debug)]
pub(super) struct JournalOrReport {
    pub ledger: Ledger,
    /// Whether the file is a report.
    has_outcomes: bool,
    /// The outcomes of this round that are not written yet.
    replies: BufferedOutcomes,
}

/// The outcomes of lines in the replies.
#[derive(Debug, Default)]
struct BufferedOutcomes {
    done: Vec<u64>,
    failed: Vec<u64>,
    /// The existing job that the job of a line duplicates: line number and jid.
    existing: Vec<(u64, String)>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum JournalRecord {
    Sent {
        line: u64,
        sha256: String,
        jid: String,
        at: f64,
    },
    Done {
        done: Vec<(u64, u64)>,
    },
    Failed {
        failed: Vec<(u64, u64)>,
    },
    Took {
        took: Vec<(u64, String)>,
    },
    Lost {
        lost: Vec<(u64, u64)>,
    },
    Server {
        server: LossFreeEpoch,
    },
    Outcome(EarlierOutcome),
}

/// The fields of an outcome in a report that a later run reads.
#[derive(Deserialize)]
struct EarlierOutcome {
    line: u64,
    jid: String,
    result: ItemResult,
}

impl JournalState {
    /// Whether an earlier run put this line.
    pub(super) fn is_done(&self, line: u64) -> bool {
        let (at, bit) = word_index_and_bit_mask(line);
        self.done.get(at).is_some_and(|bits| bits & bit != 0)
    }

    /// How an earlier run sent this line. `None` if no run sent it, or if the line is done.
    pub(super) fn unfinished_line(&self, line: u64) -> Option<&LineSentButNotDone> {
        self.open.get(&line)
    }

    /// The hash that identifies a line.
    pub(super) fn line_sha256(line: &[u8]) -> [u8; 32] {
        Sha256::digest(line).into()
    }

    /// Applies a record of the file to this state. `sums` are the hashes of the input's lines: a record about a
    /// line that has changed is an error.
    fn apply_record(&mut self, record: &[u8], sums: &[u64]) -> Result<(), String> {
        let record: JournalRecord = serde_json::from_slice(record)
            .map_err(|_| "this is not a line of a journal".to_owned())?;
        let known = |line: u64| {
            let at = usize::try_from(line).unwrap_or(usize::MAX);
            match at.checked_sub(1).and_then(|at| sums.get(at)) {
                None | Some(0) => Err(format!("the input has no line {line} any more")),
                Some(sum) => Ok(*sum),
            }
        };
        match record {
            JournalRecord::Sent {
                line,
                sha256,
                jid,
                at,
            } => {
                let start = sha256
                    .get(..16)
                    .and_then(|start| u64::from_str_radix(start, 16).ok());
                if start.map(|start| start.max(1)) != Some(known(line)?) {
                    return Err(format!("line {line} of the input has changed"));
                }
                let open = LineSentButNotDone {
                    jid: jid.into_bytes(),
                    since: Moment::from_seconds(at),
                };
                self.open.insert(line, open);
            }
            JournalRecord::Done { done } => {
                for (first, last) in done {
                    known(first)?;
                    known(last)?;
                    (first..=last).for_each(|line| self.mark_done(line));
                }
            }
            JournalRecord::Failed { failed } => {
                for (first, last) in failed {
                    known(first)?;
                    known(last)?;
                    (first..=last).for_each(|line| self.mark_refused(line));
                }
            }
            JournalRecord::Took { took } => {
                for (line, jid) in took {
                    known(line)?;
                    self.existing.insert(line, Name::from_lossless_text(&jid));
                }
            }
            JournalRecord::Outcome(EarlierOutcome { line, jid, result }) => {
                known(line)?;
                if result == ItemResult::Failed {
                    self.mark_refused(line);
                } else {
                    let jid = Name::from(jid.as_str());
                    let sent = self.open.get(&line);
                    if sent.is_some_and(|sent| sent.jid != jid.as_bytes()) {
                        self.existing.insert(line, jid);
                    }
                    self.mark_done(line);
                }
            }
            JournalRecord::Lost { lost } => {
                for (first, last) in lost {
                    known(first)?;
                    known(last)?;
                    (first..=last).for_each(|line| self.mark_undone(line));
                }
            }
            JournalRecord::Server { server } => self.server = Some(server),
        }
        Ok(())
    }

    fn mark_done(&mut self, line: u64) {
        let (at, bit) = word_index_and_bit_mask(line);
        if self.done.len() <= at {
            self.done.resize(at + 1, 0);
        }
        self.done[at] |= bit;
        self.open.remove(&line);
    }

    /// Notes that the core refused the line. This run then sends it again, like a new line.
    fn mark_refused(&mut self, line: u64) {
        if let Some(open) = self.open.get_mut(&line) {
            open.since = None;
        }
    }

    /// Makes a line that was done unfinished.
    fn mark_undone(&mut self, line: u64) {
        let (at, bit) = word_index_and_bit_mask(line);
        if let Some(bits) = self.done.get_mut(at) {
            *bits &= !bit;
        }
        self.existing.remove(&line);
    }

    /// Marks done lines as unfinished if their jobs do not exist. `sent` has lines with their jid and the time when
    /// they were sent. A line sent before `kept_since` stays done: the core may have deleted its job.
    fn mark_lost_jobs_undone(
        &mut self,
        sent: &mut Vec<(u64, String, f64)>,
        kept_since: Moment,
        core: &mut Core,
        lost: &mut LostJobs,
    ) -> Result<(), Error> {
        let jids: Vec<Name> = sent
            .iter()
            .map(|(line, jid, _)| {
                self.existing
                    .get(line)
                    .cloned()
                    .unwrap_or_else(|| jid.as_str().into())
            })
            .collect();
        let found = core.jobs_exist(core.now(), &jids)?;
        for ((line, jid, at), found) in sent.drain(..).zip(found) {
            if found || !self.is_done(line) {
                continue;
            }
            if at < kept_since.seconds() {
                lost.old += 1;
                continue;
            }
            lost.missing.push(line);
            self.mark_undone(line);
            let jid = jid.into_bytes();
            self.open
                .insert(line, LineSentButNotDone { jid, since: None });
        }
        Ok(())
    }
}

/// Number of jobs that one search for lost jobs looks up.
const JOBS_PER_SEARCH: usize = 10_000;

fn word_index_and_bit_mask(line: u64) -> (usize, u64) {
    (
        usize::try_from(line / 64).unwrap_or(usize::MAX),
        1 << (line % 64),
    )
}

impl JournalOrReport {
    /// Opens the file of `--journal` or `--report`, and reads the state that earlier runs for this input left in it.
    /// `None` if neither flag is given.
    pub(super) fn open_if_given(
        flags: &PutFromFlags,
        session: &Session,
        dry_run: bool,
        line_hashes: &[u64],
    ) -> Result<Option<(JournalOrReport, JournalState)>, Error> {
        let (kind, path) = match (&flags.journal, &flags.report) {
            (Some(path), _) => ("journal", path),
            (None, Some(path)) => ("report", path),
            (None, None) => return Ok(None),
        };
        let head = LedgerHead::new(kind, session)?;
        let mut notes = JournalState::default();
        let ledger = Ledger::open(&session.member_file_path(path), head, dry_run, |record| {
            notes.apply_record(record, line_hashes)
        })?;
        let journal = JournalOrReport {
            ledger,
            has_outcomes: kind == "report",
            replies: BufferedOutcomes::default(),
        };
        Ok(Some((journal, notes)))
    }

    /// Looks up the jobs of the done lines, if the server restarted, was flushed or evicted keys since it
    /// acknowledged them. A line whose job is missing becomes unfinished.
    pub(super) fn verify_done_lines_if_loss_possible(
        &mut self,
        state: &mut JournalState,
        core: &mut Core,
    ) -> Result<LostJobs, Error> {
        let mut lost = LostJobs::default();
        let Some(present) = core.current_loss_free_epoch()? else {
            return Ok(lost);
        };
        let is_other = match &state.server {
            Some(server) => Some(*server != present),
            None => self.ledger.has_epoch_changed_since_earlier_run(&present),
        };
        if is_other != Some(true) {
            return Ok(lost);
        }
        let kept_since = core.ended_jobs_kept_since(core.now())?;
        let mut sent = Vec::new();
        self.ledger.reread_earlier_lines(|record| {
            // The first pass has read the record.
            if let Ok(JournalRecord::Sent { line, jid, at, .. }) = serde_json::from_slice(record)
                && state.is_done(line)
            {
                sent.push((line, jid, at));
            }
            if sent.len() < JOBS_PER_SEARCH {
                Ok(())
            } else {
                state.mark_lost_jobs_undone(&mut sent, kept_since, core, &mut lost)
            }
        })?;
        state.mark_lost_jobs_undone(&mut sent, kept_since, core, &mut lost)?;
        // Missing jobs count as a sign of evictions, too: if an operator has lifted the memory limit, the server
        // reports no eviction policy.
        let evicts_jobs = core.job_eviction_policy().is_some() || !lost.missing.is_empty();
        lost.evicted = present.evicted > 0 && evicts_jobs;
        if !lost.missing.is_empty() {
            let record = serde_json::json!({ "lost": number_ranges(&lost.missing) }).to_string();
            self.ledger.add_line(record.as_bytes());
        }
        let record = serde_json::json!({ "server": present }).to_string();
        self.ledger.add_line(record.as_bytes());
        self.ledger.flush()?;
        Ok(lost)
    }

    /// Records the lines of a round with their jids before they are sent, and syncs the file to disk.
    pub(super) fn record_round_before_send(
        &mut self,
        round: &PutRound,
        now: Moment,
    ) -> Result<(), Error> {
        let mut line = Vec::new();
        for job in round.batches.iter().flat_map(|batch| &batch.jobs) {
            let Some(sum) = &job.sum else {
                continue;
            };
            line.clear();
            _ = write!(line, "{{\"line\":{},\"sha256\":\"", job.line);
            append_hex(sum, &mut line);
            line.extend(b"\",\"jid\":");
            line.extend(quote_string(job.jid.as_bytes()));
            _ = write!(line, ",\"at\":{now}}}");
            self.ledger.add_line(&line);
        }
        self.ledger.flush()
    }

    /// Adds the outcome of a line.
    pub(super) fn add_outcome(
        &mut self,
        sent: &SentJob,
        outcome: &JobOutcome,
    ) -> Result<(), Error> {
        if self.has_outcomes {
            self.ledger
                .add_line(&json::compact_line(outcome).map_err(Error::internal)?);
            return Ok(());
        }
        let replies = &mut self.replies;
        match outcome.result {
            ItemResult::Failed => replies.failed.push(sent.line),
            _ => replies.done.push(sent.line),
        }
        if outcome.jid != sent.jid {
            let jid = outcome.jid.lossless_text().into_owned();
            replies.existing.push((sent.line, jid));
        }
        Ok(())
    }

    /// Writes the outcomes of a round without syncing them to disk. If they are lost, the next run sends these
    /// lines again.
    pub(super) fn write_outcomes_without_sync(&mut self) -> Result<(), Error> {
        let BufferedOutcomes {
            done,
            failed,
            existing,
        } = std::mem::take(&mut self.replies);
        let records = [
            (!existing.is_empty()).then(|| serde_json::json!({ "took": existing })),
            (!done.is_empty()).then(|| serde_json::json!({ "done": number_ranges(&done) })),
            (!failed.is_empty()).then(|| serde_json::json!({ "failed": number_ranges(&failed) })),
        ];
        for record in records.into_iter().flatten() {
            self.ledger.add_line(record.to_string().as_bytes());
        }
        self.ledger.write_lines_without_sync()
    }
}

/// Ranges of consecutive numbers, each as its first and last number.
fn number_ranges(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submit::check;

    #[test]
    fn lines_that_were_sent_but_not_done_are_unfinished() {
        let lines = [b"a", b"b", b"c"];
        let sums = lines.map(|line| check::line_hash(line));
        let sent = |line: usize| {
            let mut sum = Vec::new();
            append_hex(&Sha256::digest(lines[line - 1]), &mut sum);
            let sum = String::from_utf8(sum).unwrap();
            format!("{{\"line\":{line},\"sha256\":\"{sum}\",\"jid\":\"j{line}\",\"at\":1.5}}")
        };
        let mut notes = JournalState::default();
        let mut take = |record: &str| notes.apply_record(record.as_bytes(), &sums);
        for line in 1..=3 {
            take(&sent(line)).unwrap();
        }
        take("{\"done\":[[1,1]]}").unwrap();
        take("{\"failed\":[[3,3]]}").unwrap();
        for (record, why) in [
            (
                sent(1).replace(":1,", ":2,"),
                "line 2 of the input has changed",
            ),
            (
                sent(1).replace(":1,", ":4,"),
                "the input has no line 4 any more",
            ),
            (
                "{\"done\":[[0,1]]}".into(),
                "the input has no line 0 any more",
            ),
            (
                "{\"done\":[[1,9]]}".into(),
                "the input has no line 9 any more",
            ),
            ("{}".into(), "this is not a line of a journal"),
            ("nonsense".into(), "this is not a line of a journal"),
        ] {
            assert_eq!(take(&record), Err(why.to_owned()), "{record}");
        }
        let open = |jid: &str, since| LineSentButNotDone {
            jid: jid.into(),
            since,
        };
        assert!(notes.is_done(1) && !notes.is_done(2));
        assert_eq!(notes.unfinished_line(1), None);
        assert_eq!(
            notes.unfinished_line(2),
            Some(&open("j2", Moment::from_seconds(1.5)))
        );
        assert_eq!(notes.unfinished_line(3), Some(&open("j3", None)));
    }

    #[test]
    fn consecutive_numbers_are_one_pair() {
        assert_eq!(
            number_ranges(&[1, 2, 3, 5, 4, 6]),
            [(1, 3), (5, 5), (4, 4), (6, 6)]
        );
        assert_eq!(number_ranges(&[]), []);
    }
}
