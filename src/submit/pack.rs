//! The second reading: lines become calls, packed beside the sending, a few rounds ahead of it.

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

/// SendOptions jobs are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendOptions {
    pub policy: Policy,
    /// As many jobs as a call takes.
    pub batch: usize,
    /// As many as are sent in one round trip, and as many calls.
    pub jobs: usize,
    pub calls: usize,
    /// What a time is counted from that is told as one from now.
    pub now: Moment,
}

/// More than this is not put by one call, so that it does not stop the server for long.
const HEAVY: usize = 1 << 19;
/// Nor sent in one round trip, so that it does not fill our memory.
const HEAVIEST: usize = 1 << 20;

/// What is sent in one round trip.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub parts: Vec<Batch>,
    /// SendOptions many lines an earlier run has done, as a journal tells.
    pub before: usize,
    jobs: usize,
    size: usize,
    names: Vec<u8>,
}

/// The jobs of one call.
#[derive(Debug)]
pub(super) struct Batch {
    puts: Puts,
    pub jobs: Vec<BatchedJob>,
    /// The call once more, where its job may have been replaced by an earlier run.
    pub again: Option<Puts>,
}

impl Batch {
    /// Returns the call, to be sent.
    pub(super) fn take(&mut self) -> Puts {
        std::mem::take(&mut self.puts)
    }
}

/// A job as it is sent.
#[derive(Clone, Debug)]
pub(super) struct BatchedJob {
    pub line: u64,
    jid: Range<usize>,
    queue: Range<usize>,
    /// The SHA-256 of its line, where there is a journal that does not have it yet.
    pub sum: Option<[u8; 32]>,
    /// When an earlier run sent it that did not live to see the answer.
    pub since: Option<Moment>,
}

impl Round {
    pub(super) fn jid(&self, job: &BatchedJob) -> &[u8] {
        &self.names[job.jid.clone()]
    }

    pub(super) fn queue(&self, job: &BatchedJob) -> &[u8] {
        &self.names[job.queue.clone()]
    }

    /// Returns how many jobs are sent.
    pub(super) fn jobs(&self) -> usize {
        self.jobs
    }

    fn name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }
}

/// Packs the lines, as they stand or in another order, until all are or nobody wants them any more.
pub(super) fn pack(
    twice: &TwoPassFile,
    plan: &JobDefaults,
    order: Option<&[LineLocation]>,
    notes: Option<&JournalState>,
    how: SendOptions,
    to: &SyncSender<Result<Round, Error>>,
) {
    let packed = UuidSource::new().and_then(|fresh| {
        let mut packer = Packer {
            twice,
            plan,
            notes,
            how,
            fresh,
            jids: Vec::new(),
            round: Round::default(),
            to,
        };
        match order {
            None => _ = twice.each(twice.lines(), |row| packer.line(row))?,
            Some(order) => {
                let mut text = Vec::new();
                for place in order {
                    twice.line(place.offset, place.length, &mut text)?;
                    packer.line(TextLine {
                        number: place.number,
                        offset: place.offset,
                        text: &text,
                    })?;
                }
            }
        }
        packer.hand_over()
    });
    if let Err(error) = packed {
        // Nobody wants to hear it if sending has ended.
        _ = to.send(Err(error));
    }
}

struct Packer<'p> {
    twice: &'p TwoPassFile,
    plan: &'p JobDefaults,
    notes: Option<&'p JournalState>,
    how: SendOptions,
    fresh: UuidSource,
    /// For the jobs of this round, the next one last.
    jids: Vec<[u8; 32]>,
    round: Round,
    to: &'p SyncSender<Result<Round, Error>>,
}

impl Packer<'_> {
    fn line(&mut self, row: TextLine) -> Result<(), Error> {
        if self.notes.is_some_and(|notes| notes.done(row.number)) {
            self.round.before += 1;
            return match self.round.before < MOST_BEFORE {
                true => Ok(()),
                false => self.hand_over(),
            };
        }
        // It was checked before: if it is refused now, it is not what it was.
        let changed = |_| self.twice.changed();
        let line = JobLine::read(row.text, self.plan.max_data).map_err(changed)?;
        let job = self.plan.job(row.text, &line).map_err(changed)?;
        let noted = self.notes.and_then(|notes| notes.open(row.number));
        let since = noted.and_then(|noted| noted.since);
        // What may have been put already is not replaced before that is known.
        let alone = self.how.policy.replace && since.is_some();
        let policy = Policy {
            replace: self.how.policy.replace && !alone,
            ..self.how.policy
        };
        let fits = |part: &Batch| {
            part.jobs.len() < self.how.batch
                && part.puts.size() < HEAVY
                && part.puts.policy == policy
                && !alone
        };
        if !self.round.parts.last().is_some_and(fits) {
            let full = self.round.parts.len() >= self.how.calls || self.round.size >= HEAVIEST;
            if full {
                self.hand_over()?;
            }
            self.round.parts.push(Batch {
                puts: Puts::new(policy),
                jobs: Vec::with_capacity(self.how.batch.min(self.how.jobs)),
                again: None,
            });
        }
        // Only now it is known to which round it belongs.
        let fresh;
        let jid = match (job.jid.known(), noted) {
            (Some(jid), _) => jid,
            (None, Some(noted)) => &noted.jid,
            (None, None) => {
                fresh = self.fresh()?;
                &fresh
            }
        };
        let sum = match self.notes {
            Some(notes) if since.is_none() => Some(notes.sum(row.text)),
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
        if let Some(part) = round.parts.last_mut() {
            let before = part.puts.size();
            job.words(jid, self.how.now, |words| part.puts.add(words));
            round.size += part.puts.size() - before;
            part.jobs.push(sent);
            if alone {
                part.again = Some(part.puts.clone());
            }
        }
        round.jobs += 1;
        match round.jobs < self.how.jobs {
            true => Ok(()),
            false => self.hand_over(),
        }
    }

    /// Returns a new jid. Jobs of one moment are popped by their jids, the last letter of the
    /// alphabet first: so the jids of a round are handed out in this order, that of the lines.
    fn fresh(&mut self) -> Result<[u8; 32], Error> {
        if self.jids.is_empty() {
            for _ in 0..self.how.jobs {
                self.jids.push(self.fresh.jid()?);
            }
            self.jids.sort_unstable();
        }
        match self.jids.pop() {
            Some(jid) => Ok(jid),
            None => self.fresh.jid(),
        }
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        self.jids.clear();
        let round = std::mem::take(&mut self.round);
        if round.jobs == 0 && round.before == 0 {
            return Ok(());
        }
        let gone = |_| Error::internal("nobody sends");
        self.to.send(Ok(round)).map_err(gone)
    }
}

/// As many lines that were done before are told at once.
const MOST_BEFORE: usize = 10_000;
