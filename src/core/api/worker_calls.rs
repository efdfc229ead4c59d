//! The calls of workers: popping jobs, and the calls of the holder of a lock.

use std::time::Duration;

use super::finish_and_pop::next_queue_args;
use super::guard::GuardReply;
use super::job_calls::PerJob;
use crate::clock::duration::decimal_seconds_text;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::json::Number;
use crate::model::bulk::JobSnapshot;
use crate::model::ending::{FailureReason, NextQueue};
use crate::model::job::{Job, State};
use crate::name::Name;

impl Core {
    /// Pops up to `count` jobs. Returns the JSON text that the core's `pop` replies.
    pub fn pop_json(
        &mut self,
        now: Moment,
        queue: &Name,
        worker: &Name,
        count: u64,
    ) -> Result<Vec<u8>, Error> {
        let call = Call::new(calls::POP).arg(queue).arg(worker);
        let Bytes(jobs) = self.call(now, call.arg(count.to_string()))?;
        Ok(jobs)
    }

    /// Completes running jobs, each in the name of the worker that `worker` returns. The result of a job is the name of
    /// its new state. Without new data a job keeps its data, byte for byte.
    pub fn complete(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        data: Option<&[u8]>,
        next: Option<&NextQueue>,
    ) -> PerJob<Name> {
        let call = |job: &JobSnapshot| {
            let queue = job.queue.clone().unwrap_or_default();
            Call::new(calls::COMPLETE)
                .arg(&job.jid)
                .arg(worker(job).as_bytes())
                .arg(queue.as_bytes())
                .arg(data.unwrap_or_default())
                .args(next.into_iter().flat_map(next_queue_args))
        };
        let after = |job: Job| {
            let state = job.state.as_ref().map_or("", State::into_str);
            Name::from(state)
        };
        self.call_guarded_for_each_job(now, note, jobs, call, after)
    }

    /// Extends the locks on jobs, each in the name of a worker. Returns when they expire, in whole
    /// seconds.
    pub fn heartbeat(
        &mut self,
        now: Moment,
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        data: Option<&[u8]>,
    ) -> PerJob<i64> {
        let call = |job: &JobSnapshot| {
            let call = Call::new(calls::HEARTBEAT).arg(&job.jid);
            call.arg(worker(job).as_bytes()).args(data)
        };
        let calls: Vec<Call> = jobs.iter().map(call).collect();
        let results = self.call_all(now, &calls).into_iter();
        let results = results.map(|result| result.map(GuardReply::Done));
        results.collect()
    }

    /// Fails running jobs, each in the name of a worker.
    pub fn fail(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        why: &FailureReason,
        data: Option<&[u8]>,
    ) -> PerJob<()> {
        let call = |job: &JobSnapshot| {
            Call::new(calls::FAIL)
                .arg(&job.jid)
                .arg(worker(job).as_bytes())
                .arg(why.group.as_bytes())
                .arg(why.message.as_bytes())
                .args(data)
        };
        self.call_guarded_for_each_job(now, note, jobs, call, |_| ())
    }

    /// Fails jobs that have not started.
    pub fn bury(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        why: &FailureReason,
    ) -> PerJob<()> {
        let call = |job: &JobSnapshot| {
            Call::new(calls::BURY)
                .arg(&job.jid)
                .arg(why.group.as_bytes())
                .arg(why.message.as_bytes())
        };
        self.call_guarded_for_each_job(now, note, jobs, call, |_| ())
    }

    /// Retries running jobs, each in the name of a worker: the job returns to its queue and uses one retry. The result
    /// is the number of remaining retries, -1 if the job failed because it had none.
    pub fn retry(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        delay: Duration,
        why: Option<&FailureReason>,
    ) -> PerJob<i64> {
        let call = |job: &JobSnapshot| {
            let queue = job.queue.clone().unwrap_or_default();
            let call = Call::new(calls::RETRY)
                .arg(&job.jid)
                .arg(queue.as_bytes())
                .arg(worker(job).as_bytes())
                .arg(decimal_seconds_text(delay));
            match why {
                Some(why) => call.arg(why.group.as_bytes()).arg(why.message.as_bytes()),
                None => call,
            }
        };
        let after = |job: Job| match job.state {
            Some(State::Failed) => -1,
            _ => job.remaining.map_or(0, Number::floor),
        };
        self.call_guarded_for_each_job(now, note, jobs, call, after)
    }

    /// Moves the oldest failed jobs of a group to one queue. Returns the number of moved jobs.
    pub fn unfail(
        &mut self,
        now: Moment,
        queue: &Name,
        group: &Name,
        count: u64,
        _: Consent,
    ) -> Result<i64, Error> {
        let call = Call::new(calls::UNFAIL).arg(queue).arg(group);
        self.call(now, call.arg(count.to_string()))
    }
}
