//! The second pass of `put --from`: a thread packs the lines into calls, a few rounds before they are sent.

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
pub(super) struct PackPolicyAndLimits {
    pub policy: PutPolicy,
    /// Maximum number of jobs in a call.
    pub batch: usize,
    /// Maximum number of jobs in a round.
    pub jobs: usize,
    /// Maximum number of calls in a round.
    pub calls: usize,
    /// The moment from which relative times count, such as the delay of a job.
    pub now: Moment,
}

/// Size in bytes at which a round is full. The limit bounds the memory of this process.
const FULL_ROUND: usize = 1 << 20;

/// Packs the lines into rounds and sends these to `rounds`. The lines come in `order`, or else in the order of the
/// file. Stops if the receiver is dropped.
pub(super) fn pack_lines(
    file: &TwoPassFile,
    defaults: &LineDefaults,
    order: Option<&[LineLocation]>,
    state: Option<&JournalState>,
    limits: PackPolicyAndLimits,
    rounds: &SyncSender<Result<PutRound, Error>>,
) {
    let packed = UuidSource::new().and_then(|fresh| {
        let mut packer = RoundPacker {
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
            None => file.for_each_line_in_further_pass(file.line_reader(), |row| {
                packer.pack_line_unless_done(row)
            })?,
            Some(order) => {
                let mut text = Vec::new();
                for place in order {
                    file.read_line_at(place.offset, place.length, &mut text)?;
                    packer.pack_line_unless_done(TextLine {
                        number: place.number,
                        offset: place.offset,
                        text: &text,
                    })?;
                }
            }
        }
        packer.pass_round_to_sender()
    });
    if let Err(error) = packed {
        // Ignore a failure: the receiver is dropped if the sending has ended.
        _ = rounds.send(Err(error));
    }
}

struct RoundPacker<'p> {
    file: &'p TwoPassFile,
    defaults: &'p LineDefaults,
    state: Option<&'p JournalState>,
    limits: PackPolicyAndLimits,
    fresh: UuidSource,
    /// New jids for the jobs of this round, in ascending order: the last one is used next.
    jids: Vec<[u8; 32]>,
    round: PutRound,
    to: &'p SyncSender<Result<PutRound, Error>>,
}

impl RoundPacker<'_> {
    fn pack_line_unless_done(&mut self, row: TextLine) -> Result<(), Error> {
        if self.state.is_some_and(|state| state.is_done(row.number)) {
            self.round.done_before += 1;
            return if self.round.done_before < MAX_BEFORE {
                Ok(())
            } else {
                self.pass_round_to_sender()
            };
        }
        // The first pass accepted the line, so a refusal now means that the file has changed.
        let changed = |_| self.file.changed_error();
        let job = self.defaults.parse_job_line(row.text).map_err(changed)?;
        let unfinished = self
            .state
            .and_then(|state| state.unfinished_line(row.number));
        let since = unfinished.and_then(|unfinished| unfinished.since);
        // If an earlier run may have put the job, this call does not replace it. The reply decides whether a second
        // call does.
        let alone = self.limits.policy.replace && since.is_some();
        let policy = PutPolicy {
            replace: self.limits.policy.replace && !alone,
            ..self.limits.policy
        };
        let fits = |batch: &PutBatch| {
            batch.jobs.len() < self.limits.batch
                && !batch.is_call_full()
                && batch.policy == policy
                && !alone
        };
        if !self.round.batches.last().is_some_and(fits) {
            let full = self.round.batches.len() >= self.limits.calls
                || self.round.byte_size() >= FULL_ROUND;
            if full {
                self.pass_round_to_sender()?;
            }
            let max_jobs = self.limits.batch.min(self.limits.jobs);
            self.round.begin_call(policy, max_jobs);
        }
        // Take a new jid only here, where the round of the job is known: each round has its own sorted jids.
        let fresh;
        let jid = match (job.jid.known_jid(), unfinished) {
            (Some(jid), _) => jid,
            (None, Some(unfinished)) => &unfinished.jid,
            (None, None) => {
                fresh = self.next_descending_jid()?;
                &fresh
            }
        };
        let sum = match self.state {
            Some(_) if since.is_none() => Some(JournalState::line_sha256(row.text)),
            _ => None,
        };
        let round = &mut self.round;
        if let Some(sent) = round.add_job_to_last_call(row.number, jid, &job, self.limits.now) {
            (sent.sum, sent.since) = (sum, since);
        }
        if alone && let Some(batch) = round.batches.last_mut() {
            batch.may_replace_later = true;
        }
        if round.job_count() < self.limits.jobs {
            Ok(())
        } else {
            self.pass_round_to_sender()
        }
    }

    /// A new jid. Workers pop the jobs of one moment in descending order of their jids. So a round uses its jids in
    /// descending order, and its jobs run in the order of the lines.
    fn next_descending_jid(&mut self) -> Result<[u8; 32], Error> {
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

    fn pass_round_to_sender(&mut self) -> Result<(), Error> {
        self.jids.clear();
        let round = std::mem::take(&mut self.round);
        if round.job_count() == 0 && round.done_before == 0 {
            return Ok(());
        }
        let ended = |_| Error::internal("the sending has ended");
        self.to.send(Ok(round)).map_err(ended)
    }
}

/// Number of skipped lines at which a round is sent even without jobs, so that the progress bar moves.
const MAX_BEFORE: usize = 10_000;
