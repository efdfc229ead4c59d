//! Packs and sends the calls of one round trip.

use std::ops::Range;

use std::time::Duration;

use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::core::api::put::{PutCall, PutPolicy, PutResult, ThrottleMaximaJson};
use crate::core::call::Core;
use crate::error::Error;
use crate::input::line::NewJob;

/// Time between the moments of two consecutive calls, about the time that the server takes for one put. Workers pop
/// jobs of one moment in the order of their jids, and the core's scores do not distinguish closer moments.
const APART: Duration = Duration::from_micros(20);

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
    puts: PutCall,
    pub jobs: Vec<SentJob>,
    /// A copy of the call that replaces its job. Kept if an earlier run may have replaced the job already.
    pub copy_to_replace: Option<PutCall>,
}

impl PutBatch {
    /// Whether the call has reached its maximum size.
    pub(super) fn is_call_full(&self) -> bool {
        self.puts.is_full()
    }

    pub(super) fn policy(&self) -> PutPolicy {
        self.puts.policy
    }

    /// Keeps a copy of the call. If the core replies that the job exists, and no earlier run has replaced it, the
    /// copy is sent to replace it.
    pub(super) fn save_call_for_later_replace(&mut self) {
        self.copy_to_replace = Some(self.puts.clone());
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
            puts: PutCall::new(policy),
            jobs: Vec::with_capacity(max_jobs),
            copy_to_replace: None,
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
        let before = batch.puts.added_jobs_byte_len();
        job.add_to_call(jid, now, &mut batch.puts);
        self.byte_len += batch.puts.added_jobs_byte_len() - before;
        self.jobs += 1;
        batch.jobs.push(sent);
        batch.jobs.last_mut()
    }

    fn append_name(&mut self, name: &[u8]) -> Range<usize> {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        start..self.names.len()
    }

    /// Sends the calls. The first one carries the moment `next_call_at`, each further one a later moment.
    /// `next_call_at` then is the first moment for the next round. The first job that is put sets the maxima.
    pub(super) fn send_timestamped_calls(
        &mut self,
        core: &mut Core,
        next_call_at: &mut Moment,
        maxima: Option<&ThrottleMaximaJson>,
    ) -> Vec<CallOutcomes> {
        let now = *next_call_at;
        let mut calls = Vec::with_capacity(self.batches.len());
        for batch in &mut self.batches {
            let mut puts = std::mem::take(&mut batch.puts).at_moment(*next_call_at);
            puts.maxima = maxima.cloned();
            calls.push(puts);
            *next_call_at = next_call_at.plus(APART);
        }
        core.put_batches(now, calls)
    }
}
