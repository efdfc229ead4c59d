//! The second pass: lines are packed into calls by a thread that is a few rounds ahead of the
//! sending.

use std::ops::Range;
use std::sync::mpsc::SyncSender;

use super::job_spec::{JobDefaults, UuidSource};
use super::journal::JournalState;
use super::order::LineLocation;
use crate::clock::moment::Moment;
use crate::core::api::put::{Policy, Puts};
use crate::error::Error;
use crate::input::line::JobLine;
use crate::input::two_pass::{TextLine, TwoPassFile};

/// The limits and options for packing.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendOptions {
    pub policy: Policy,
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

/// The calls of one round trip.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub batches: Vec<Batch>,
    /// How many lines are skipped because the journal says that they are done.
    pub done_before: usize,
    jobs: usize,
    size: usize,
    names: Vec<u8>,
}

/// The jobs of one call.
#[derive(Debug)]
pub(super) struct Batch {
    puts: Puts,
    pub jobs: Vec<BatchedJob>,
    /// A copy of the call, if an earlier run may have replaced its job.
    pub again: Option<Puts>,
}

impl Batch {
    /// Takes the call out, to be sent.
    pub(super) fn take(&mut self) -> Puts {
        std::mem::take(&mut self.puts)
    }
}

/// A job of a batch.
#[derive(Clone, Debug)]
pub(super) struct BatchedJob {
    pub line: u64,
    jid: Range<usize>,
    queue: Range<usize>,
    /// The SHA-256 of its line, if the journal does not have it yet.
    pub sum: Option<[u8; 32]>,
    /// When an earlier run sent the job, if that run saw no reply.
    pub since: Option<Moment>,
}

impl Round {
    pub(super) fn jid(&self, job: &BatchedJob) -> &[u8] {
        &self.names[job.jid.clone()]
    }

    pub(super) fn queue(&self, job: &BatchedJob) -> &[u8] {
        &self.names[job.queue.clone()]
    }

    /// Returns the number of jobs in the round.
    pub(super) fn jobs(&self) -> usize {
        self.jobs
    }

    fn name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }
}

/// Packs the lines, in the order of the file or the one given, until the end or until the receiver
/// is dropped.
pub(super) fn pack(
    file: &TwoPassFile,
    defaults: &JobDefaults,
    order: Option<&[LineLocation]>,
    state: Option<&JournalState>,
    limits: SendOptions,
    to: &SyncSender<Result<Round, Error>>,
) {
    let packed = UuidSource::new().and_then(|fresh| {
        let mut packer = Packer {
            file,
            defaults,
            state,
            limits,
            fresh,
            jids: Vec::new(),
            round: Round::default(),
            to,
        };
        match order {
            None => _ = file.each(file.lines(), |row| packer.line(row))?,
            Some(order) => {
                let mut text = Vec::new();
                for place in order {
                    file.line(place.offset, place.length, &mut text)?;
                    packer.line(TextLine {
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
        _ = to.send(Err(error));
    }
}

struct Packer<'p> {
    file: &'p TwoPassFile,
    defaults: &'p JobDefaults,
    state: Option<&'p JournalState>,
    limits: SendOptions,
    fresh: UuidSource,
    /// New jids for the jobs of this round, the next one last.
    jids: Vec<[u8; 32]>,
    round: Round,
    to: &'p SyncSender<Result<Round, Error>>,
}

impl Packer<'_> {
    fn line(&mut self, row: TextLine) -> Result<(), Error> {
        if self.state.is_some_and(|state| state.done(row.number)) {
            self.round.done_before += 1;
            return if self.round.done_before < MOST_BEFORE {
                Ok(())
            } else {
                self.send_round()
            };
        }
        // The first pass accepted the line: if it is refused now, the file has changed.
        let changed = |_| self.file.changed();
        let line = JobLine::read(row.text, self.defaults.max_data).map_err(changed)?;
        let job = self.defaults.job(row.text, &line).map_err(changed)?;
        let unfinished = self.state.and_then(|state| state.open(row.number));
        let since = unfinished.and_then(|unfinished| unfinished.since);
        // A job that may exist already is replaced only if the reply to a plain put requires it.
        let alone = self.limits.policy.replace && since.is_some();
        let policy = Policy {
            replace: self.limits.policy.replace && !alone,
            ..self.limits.policy
        };
        let fits = |batch: &Batch| {
            batch.jobs.len() < self.limits.batch
                && !batch.puts.is_full()
                && batch.puts.policy == policy
                && !alone
        };
        if !self.round.batches.last().is_some_and(fits) {
            let full =
                self.round.batches.len() >= self.limits.calls || self.round.size >= FULL_ROUND;
            if full {
                self.send_round()?;
            }
            self.round.batches.push(Batch {
                puts: Puts::new(policy),
                jobs: Vec::with_capacity(self.limits.batch.min(self.limits.jobs)),
                again: None,
            });
        }
        // New jids are sorted by round, so the round of the job must be known.
        let fresh;
        let jid = match (job.jid.known(), unfinished) {
            (Some(jid), _) => jid,
            (None, Some(unfinished)) => &unfinished.jid,
            (None, None) => {
                fresh = self.fresh()?;
                &fresh
            }
        };
        let sum = match self.state {
            Some(state) if since.is_none() => Some(state.sum(row.text)),
            _ => None,
        };
        let sent = BatchedJob {
            line: row.number,
            jid: self.round.name(jid),
            queue: self.round.name(job.queue),
            sum,
            since,
        };
        let round = &mut self.round;
        if let Some(batch) = round.batches.last_mut() {
            let before = batch.puts.size();
            job.words(jid, self.limits.now, |words| batch.puts.add(words));
            round.size += batch.puts.size() - before;
            batch.jobs.push(sent);
            if alone {
                batch.again = Some(batch.puts.clone());
            }
        }
        round.jobs += 1;
        if round.jobs < self.limits.jobs {
            Ok(())
        } else {
            self.send_round()
        }
    }

    /// Returns a new jid. Jobs put at the same moment are popped in descending order of their jids,
    /// so the jids of a round are used in this order, which is that of the lines.
    fn fresh(&mut self) -> Result<[u8; 32], Error> {
        if self.jids.is_empty() {
            for _ in 0..self.limits.jobs {
                self.jids.push(self.fresh.jid()?);
            }
            self.jids.sort_unstable();
        }
        match self.jids.pop() {
            Some(jid) => Ok(jid),
            None => self.fresh.jid(),
        }
    }

    fn send_round(&mut self) -> Result<(), Error> {
        self.jids.clear();
        let round = std::mem::take(&mut self.round);
        if round.jobs == 0 && round.done_before == 0 {
            return Ok(());
        }
        let ended = |_| Error::internal("the sending has ended");
        self.to.send(Ok(round)).map_err(ended)
    }
}

/// Maximum number of skipped lines that one round counts.
const MOST_BEFORE: usize = 10_000;
