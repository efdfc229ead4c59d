//! The calls of one round trip: packs jobs into them, and sends them. In the second pass of `put --from`, a thread packs
//! the lines, a few rounds before they are sent.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::jid::{LineDefaults, UuidSource};
use super::journal::JournalState;
use super::order::LineLocation;
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardReply, PutEvidence, PutPolicy, PutResult, ThrottleMaximaJson};
use crate::core::call::connect::WireEncodedWords;
use crate::core::call::{Call, Core};
use crate::error::Error;
use crate::input::line::NewJob;
use crate::input::two_pass::{TextLine, TwoPassFile};
use crate::model::bulk::{JobOutcome, OutcomeCode};
use crate::name::Name;

/// Time between the moments of two consecutive calls, about the time that the server takes for one put. Workers pop
/// jobs of one moment in the order of their jids, and the core's scores do not distinguish closer moments.
const APART: Duration = Duration::from_micros(20);

/// The number of tags and dependencies at which a call is full. The core accepts up to 50,000.
const FULL_OF_LINKS: usize = 20_000;

/// The size in bytes at which a call is full, so that it does not block the server for long.
const FULL_CALL: usize = 1 << 19;

/// The outcomes of the jobs of a call.
pub(super) type CallOutcomes = Result<Vec<GuardReply<PutResult>>, Error>;

/// The calls of one round trip.
#[derive(Debug, Default)]
pub(super) struct PutRound {
    pub batches: Vec<PutBatch>,
    /// The number of lines that this round skips because the journal says that they are done.
    pub done_before: usize,
    jobs: usize,
    byte_len: usize,
}

/// The jobs of one call.
#[derive(Debug)]
pub(super) struct PutBatch {
    pub policy: PutPolicy,
    /// The words of the jobs. The call takes them when it is sent, unless `may_replace_later` is set.
    words: WireEncodedWords,
    /// The number of tags and dependencies.
    links: usize,
    pub jobs: Vec<SentJob>,
    /// Whether a second call is to replace the job, if the core replies that the job exists and no earlier run has
    /// replaced it.
    pub may_replace_later: bool,
}

impl PutBatch {
    /// Whether the call has reached its maximum size, so that the next job needs another call.
    pub(super) fn is_call_full(&self) -> bool {
        self.words.wire_byte_len() >= FULL_CALL || self.links >= FULL_OF_LINKS
    }

    /// The call that replaces the job of this batch.
    pub(super) fn take_replacing_call(&mut self, maxima: Option<&ThrottleMaximaJson>) -> Call {
        let policy = PutPolicy {
            replace: true,
            ..self.policy
        };
        policy.put_many_call(maxima, std::mem::take(&mut self.words))
    }
}

/// A job of a round. The call has all its fields; this keeps what the report about the job needs.
#[derive(Debug)]
pub(super) struct SentJob {
    pub line: u64,
    pub jid: Name,
    pub queue: Name,
    /// The SHA-256 of the job's line, to be recorded in the journal. `None` if the journal has it already, or if
    /// there is no journal.
    pub sum: Option<[u8; 32]>,
    /// When an earlier run sent the job without seeing a reply. `None` if no run did.
    pub since: Option<Moment>,
}

impl SentJob {
    /// The outcome of the job's line with this code, which says nothing else yet.
    pub(super) fn outcome_with_code(&self, code: OutcomeCode) -> JobOutcome {
        JobOutcome {
            queue: Some(self.queue.clone()),
            line: Some(self.line),
            ..JobOutcome::new(&self.jid, code)
        }
    }
}

impl PutRound {
    pub(super) fn job_count(&self) -> usize {
        self.jobs
    }

    pub(super) fn byte_size(&self) -> usize {
        self.byte_len
    }

    /// Adds an empty call, with memory reserved for `max_jobs` jobs.
    pub(super) fn begin_call(&mut self, policy: PutPolicy, max_jobs: usize) {
        self.batches.push(PutBatch {
            policy,
            words: WireEncodedWords::default(),
            links: 0,
            jobs: Vec::with_capacity(max_jobs),
            may_replace_later: false,
        });
    }

    /// Adds a job to the last call. The relative times of the job count from `now`.
    pub(super) fn add_job_to_last_call(
        &mut self,
        line: u64,
        jid: &[u8],
        job: &NewJob,
        now: Moment,
    ) -> Option<&mut SentJob> {
        let batch = self.batches.last_mut()?;
        let before = batch.words.wire_byte_len();
        job.for_each_put_word(jid, now, |word| batch.words.add_word(word));
        self.byte_len += batch.words.wire_byte_len() - before;
        batch.links += job.tag_and_dependency_count();
        self.jobs += 1;
        let queue = match batch.jobs.last() {
            Some(last) if last.queue.as_bytes() == job.queue() => last.queue.clone(),
            _ => job.queue().into(),
        };
        batch.jobs.push(SentJob {
            line,
            jid: jid.into(),
            queue,
            sum: None,
            since: None,
        });
        batch.jobs.last_mut()
    }

    /// Sends the calls. The first one carries the moment `next_call_at`, each further one a later moment, because jobs
    /// put at one and the same time have no order. `next_call_at` then is the first moment for the next round. The first
    /// job that is put sets the maxima.
    pub(super) fn send_timestamped_calls(
        &mut self,
        core: &mut Core,
        next_call_at: &mut Moment,
        maxima: Option<&ThrottleMaximaJson>,
        evidence: PutEvidence,
    ) -> Vec<CallOutcomes> {
        let now = *next_call_at;
        let mut calls = Vec::with_capacity(self.batches.len());
        for batch in &mut self.batches {
            let words = if batch.may_replace_later {
                batch.words.clone()
            } else {
                std::mem::take(&mut batch.words)
            };
            let call = batch.policy.put_many_call(maxima, words);
            calls.push((call.at_moment(Some(*next_call_at)), batch.jobs.len()));
            *next_call_at = next_call_at.plus(APART);
        }
        core.put_many(now, calls, evidence)
    }
}

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

/// Number of skipped lines at which a round is sent even without jobs, so that the progress bar moves.
const MAX_BEFORE: usize = 10_000;

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
        let jid = match (job.jid.jid_unless_fresh(), unfinished) {
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
