//! Putting jobs back into a queue: the common part of retry, promote and move.

use std::time::Duration;

use super::{JobOutcome, JobSlice, SliceOutcome};
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardReply, RequeueOptions as Call, RequeueResult, RequeueVerb};
use crate::core::call::Core;
use crate::model::bulk::{OutcomeCode, OutcomeDetail};
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

pub(crate) mod moving;
pub(crate) mod promote;
pub(crate) mod retry;

/// Where jobs go, and with which priority.
#[derive(Clone, Debug)]
pub(crate) struct RequeueTarget {
    pub verb: RequeueVerb,
    /// The destination queue. `None`: each job goes back to its own queue.
    pub to: Option<Name>,
    pub priority: Option<i64>,
}

/// When a job that is put back is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DueTime {
    /// Immediately.
    Now,
    After(Duration),
    At(Moment),
    /// At the job's own scheduled time, even if the action spreads the starts of the other jobs over a time.
    Still(Moment),
}

impl DueTime {
    /// When a job is due; `None` means immediately. If the action spreads the starts of the jobs over a time,
    /// a delay counts from the start of the action, otherwise from the call for this part of the jobs.
    fn due_moment_unless_now(self, job: &JobSnapshot, slice: &JobSlice) -> Option<Moment> {
        let from = if job.later.is_zero() {
            slice.now
        } else {
            slice.begun
        };
        match self {
            DueTime::Now if job.later.is_zero() => None,
            DueTime::Now => Some(from.plus(job.later)),
            DueTime::After(delay) => Some(from.plus(delay).plus(job.later)),
            DueTime::At(at) => Some(at.plus(job.later)),
            DueTime::Still(at) => Some(at),
        }
    }
}

impl RequeueTarget {
    /// Puts the jobs of a slice back into a queue, each due at the time that `when` gives. Jobs for which
    /// `keeps_retries` is true keep their remaining retries; the other jobs get all their retries again.
    fn requeue_slice(
        &self,
        core: &mut Core,
        slice: &JobSlice,
        when: impl Fn(&JobSnapshot) -> DueTime,
        keeps_retries: impl Fn(&JobSnapshot) -> bool,
    ) -> SliceOutcome {
        let mut outcomes = Vec::with_capacity(slice.jobs.len());
        for keeps_remaining_retries in [false, true] {
            let jobs = slice
                .jobs
                .iter()
                .filter(|job| keeps_retries(job) == keeps_remaining_retries);
            let jobs: Vec<(&JobSnapshot, Option<Moment>)> = jobs
                .map(|job| (job, when(job).due_moment_unless_now(job, slice)))
                .collect();
            if jobs.is_empty() {
                continue;
            }
            let call = Call {
                verb: self.verb,
                to: self.to.as_ref(),
                priority: self.priority,
                keeps_remaining_retries,
            };
            match core.requeue_jobs(slice.now, &call, slice.note, &jobs) {
                Ok(replies) => {
                    let replies = jobs.iter().zip(replies);
                    outcomes.extend(replies.map(|((job, _), reply)| requeue_outcome(job, &reply)));
                }
                Err(error) => return SliceOutcome::stopped_after(outcomes, error),
            }
        }
        Ok(outcomes).into()
    }
}

fn requeue_outcome(job: &JobSnapshot, reply: &GuardReply<RequeueResult>) -> JobOutcome {
    let Some(done) = &reply.done else {
        return JobOutcome::from_refusing_reply(job, reply);
    };
    let mut outcome = JobOutcome::done(&job.jid).with_snapshot(job);
    outcome.item.state_after = done.state.clone();
    outcome.item.queue = done.queue.clone().or(outcome.item.queue);
    outcome
}

/// Whether a worker holds the job, or has lost it and no other worker took it since.
fn is_running_or_stalled(job: &JobSnapshot) -> bool {
    job.has_stored_state("running") || job.has_stored_state("stalled")
}

/// The refusal to put a job back into a queue because of its state, with the reason.
fn wrong_state_outcome(job: &JobSnapshot) -> JobOutcome {
    let worker = || match &job.worker {
        Some(worker) => format!("`{worker}`"),
        None => "a worker without a name".into(),
    };
    let why = match job.state.as_bytes() {
        b"stalled" => OutcomeDetail::Is(format!("stalled, {} lost its lock", worker())),
        b"running" => OutcomeDetail::Is(format!("running, held by {}", worker())),
        b"depends" => "it waits for other jobs".into(),
        b"complete" => return JobOutcome::already_complete(&job.jid),
        _ => return JobOutcome::wrong_state(&job.jid, job.state.clone(), None),
    };
    JobOutcome::refused(&job.jid, OutcomeCode::StateChanged, why)
}
