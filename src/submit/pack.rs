//! The second pass: lines are packed into calls by a thread that is a few rounds ahead of the
//! sending.

use std::sync::mpsc::SyncSender;

use super::jid::{LineDefaults, UuidSource};
use super::journal::JournalState;
use super::line_order::LineLocation;
use super::round::{PutBatch, PutRound};
use crate::clock::moment::Moment;
use crate::core::api::put::PutPolicy;
use crate::error::Error;
use crate::input::two_pass::{TextLine, TwoPassFile};

/// The limits and options for packing.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackLimits {
    pub policy: PutPolicy,
    /// Maximum number of jobs in a call.
    pub batch: usize,
    /// Maximum number of jobs in a round.
    pub jobs: usize,
    /// Maximum number of calls in a round.
    pub calls: usize,
    /// The moment that relative times count from.
    pub now: Moment,
}

/// Size in bytes at which a round is full, to limit the memory of this process.
const FULL_ROUND: usize = 1 << 20;

/// Packs the lines, in the order of the file or the one given, until the end or until the receiver
/// is dropped.
pub(super) fn pack_lines(
    file: &TwoPassFile,
    defaults: &LineDefaults,
    order: Option<&[LineLocation]>,
    state: Option<&JournalState>,
    limits: PackLimits,
    rounds: &SyncSender<Result<PutRound, Error>>,
) {
    let packed = UuidSource::new().and_then(|fresh| {
        let mut packer = Packer {
            file,
            defaults,
            state,
            limits,
            fresh,
            jids: Vec::new(),
            round: PutRound::default(),
            to: rounds,
        };
        match order {
            None => file.for_each_line(file.line_reader(), |row| packer.pack_line(row))?,
            Some(order) => {
                let mut text = Vec::new();
                for place in order {
                    file.read_line_at(place.offset, place.length, &mut text)?;
                    packer.pack_line(TextLine {
                        number: place.number,
                        offset: place.offset,
                        text: &text,
                    })?;
                }
            }
        }
        packer.send_round()
    });
    if let Err(error) = packed {
        // The receiver is dropped if the sending has ended.
        _ = rounds.send(Err(error));
    }
}

struct Packer<'p> {
    file: &'p TwoPassFile,
    defaults: &'p LineDefaults,
    state: Option<&'p JournalState>,
    limits: PackLimits,
    fresh: UuidSource,
    /// New jids for the jobs of this round, the next one last.
    jids: Vec<[u8; 32]>,
    round: PutRound,
    to: &'p SyncSender<Result<PutRound, Error>>,
}

impl Packer<'_> {
    fn pack_line(&mut self, row: TextLine) -> Result<(), Error> {
        if self.state.is_some_and(|state| state.is_done(row.number)) {
            self.round.done_before += 1;
            return if self.round.done_before < MAX_BEFORE {
                Ok(())
            } else {
                self.send_round()
            };
        }
        // The first pass accepted the line: if it is refused now, the file has changed.
        let changed = |_| self.file.changed_error();
        let job = self.defaults.read_job(row.text).map_err(changed)?;
        let unfinished = self
            .state
            .and_then(|state| state.unfinished_line(row.number));
        let since = unfinished.and_then(|unfinished| unfinished.since);
        // If the job may exist already, it is first put plainly: the reply decides whether it is replaced.
        let alone = self.limits.policy.replace && since.is_some();
        let policy = PutPolicy {
            replace: self.limits.policy.replace && !alone,
            ..self.limits.policy
        };
        let fits = |batch: &PutBatch| {
            batch.jobs.len() < self.limits.batch
                && !batch.is_full()
                && batch.policy() == policy
                && !alone
        };
        if !self.round.batches.last().is_some_and(fits) {
            let full = self.round.batches.len() >= self.limits.calls
                || self.round.byte_size() >= FULL_ROUND;
            if full {
                self.send_round()?;
            }
            let max_jobs = self.limits.batch.min(self.limits.jobs);
            self.round.begin_call(policy, max_jobs);
        }
        // New jids are sorted by round, so the round of the job must be known.
        let fresh;
        let jid = match (job.jid.known_jid(), unfinished) {
            (Some(jid), _) => jid,
            (None, Some(unfinished)) => &unfinished.jid,
            (None, None) => {
                fresh = self.take_new_jid()?;
                &fresh
            }
        };
        let sum = match self.state {
            Some(state) if since.is_none() => Some(state.line_hash(row.text)),
            _ => None,
        };
        let round = &mut self.round;
        if let Some(sent) = round.add_job_to_last_call(row.number, jid, &job, self.limits.now) {
            (sent.sum, sent.since) = (sum, since);
        }
        if alone && let Some(batch) = round.batches.last_mut() {
            batch.keep_copy_to_replace();
        }
        if round.job_count() < self.limits.jobs {
            Ok(())
        } else {
            self.send_round()
        }
    }

    /// A new jid. Jobs put at the same moment are popped in descending order of their jids, so the jids of a round
    /// are used in descending order: then the jobs run in the order of the lines.
    fn take_new_jid(&mut self) -> Result<[u8; 32], Error> {
        if self.jids.is_empty() {
            for _ in 0..self.limits.jobs {
                self.jids.push(self.fresh.next_jid()?);
            }
            self.jids.sort_unstable();
        }
        match self.jids.pop() {
            Some(jid) => Ok(jid),
            None => self.fresh.next_jid(),
        }
    }

    fn send_round(&mut self) -> Result<(), Error> {
        self.jids.clear();
        let round = std::mem::take(&mut self.round);
        if round.job_count() == 0 && round.done_before == 0 {
            return Ok(());
        }
        let ended = |_| Error::internal("the sending has ended");
        self.to.send(Ok(round)).map_err(ended)
    }
}

/// Maximum number of skipped lines that one round counts.
const MAX_BEFORE: usize = 10_000;
