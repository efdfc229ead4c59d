//! Packs and sends the calls of one round trip.

use std::ops::Range;

use std::time::Duration;

use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::core::api::put::{PutPolicy, PutResult, ThrottleMaximaJson};
use crate::core::call::connect::PackedWords;
use crate::core::call::{Call, Core};
use crate::error::Error;
use crate::input::line::NewJob;

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
    names: Vec<u8>,
}

/// The jobs of one call.
#[derive(Debug)]
pub(super) struct PutBatch {
    pub policy: PutPolicy,
    /// The words of the jobs. The call takes them when it is sent, unless `may_replace_later` is set.
    words: PackedWords,
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
        self.words.byte_len() >= FULL_CALL || self.links >= FULL_OF_LINKS
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
#[derive(Clone, Debug)]
pub(super) struct SentJob {
    pub line: u64,
    /// Parts of the names of the round.
    jid: Range<usize>,
    queue: Range<usize>,
    /// The SHA-256 of the job's line, to be recorded in the journal. `None` if the journal has it already, or if
    /// there is no journal.
    pub sum: Option<[u8; 32]>,
    /// When an earlier run sent the job without seeing a reply. `None` if no run did.
    pub since: Option<Moment>,
}

impl PutRound {
    pub(super) fn jid(&self, job: &SentJob) -> &[u8] {
        &self.names[job.jid.clone()]
    }

    pub(super) fn queue(&self, job: &SentJob) -> &[u8] {
        &self.names[job.queue.clone()]
    }

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
            words: PackedWords::default(),
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
        let sent = SentJob {
            line,
            jid: self.append_name(jid),
            queue: self.append_name(job.queue()),
            sum: None,
            since: None,
        };
        let batch = self.batches.last_mut()?;
        let before = batch.words.byte_len();
        job.for_each_put_word(jid, now, |word| batch.words.add_word(word));
        self.byte_len += batch.words.byte_len() - before;
        batch.links += job.link_count();
        self.jobs += 1;
        batch.jobs.push(sent);
        batch.jobs.last_mut()
    }

    fn append_name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }

    /// Sends the calls. The first one carries the moment `next_call_at`, each further one a later moment, because jobs
    /// put at one and the same time have no order. `next_call_at` then is the first moment for the next round. The first
    /// job that is put sets the maxima. `have_histories` says whether the jobs come with their histories.
    pub(super) fn send_timestamped_calls(
        &mut self,
        core: &mut Core,
        next_call_at: &mut Moment,
        maxima: Option<&ThrottleMaximaJson>,
        have_histories: bool,
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
        core.put_many(now, calls, have_histories)
    }
}
