//! Changes many jobs in one round trip, each by one command of qless-core: priority, tags, tracking, timeout,
//! dependencies. Each job has its own outcome.
//!
//! The core changes a job only if its mark is still the one that the client read. A job without a mark does not exist;
//! some commands still remove what is left of it, such as its entry among the tracked jobs.

use serde::de::DeserializeOwned;

use super::guard::GuardReply;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls};
use crate::error::{Error, JobChangeRefusal};
use crate::json::quote::quote_array;
use crate::model::bulk::{JobOutcome, JobSnapshot};
use crate::model::job::Job;
use crate::name::Name;

/// The reply for each job.
pub(crate) type PerJob<T> = Vec<Result<GuardReply<T>, Error>>;

impl JobOutcome {
    /// The reply to the call of a command that named only this job. A refusal is an error with the words of bulk
    /// commands.
    pub(crate) fn single_reply<T>(
        job: &JobSnapshot,
        verb: &str,
        mut replies: PerJob<T>,
    ) -> Result<T, Error> {
        match replies.pop() {
            Some(Ok(GuardReply::Done(reply))) => Ok(reply),
            Some(Ok(GuardReply::Refused(refusal))) => {
                Err(JobOutcome::from_guard_refusal(job, &refusal).to_error(verb))
            }
            Some(Err(error)) => Err(JobOutcome::refusal_or_error(&job.jid, verb, error)),
            None => Err(Error::internal("the changed job has no outcome")),
        }
    }
}

/// Adds the outcomes of one call per job. `done` makes the outcome of a job that was changed. The result is the first
/// error that is not about its job alone.
pub(crate) fn add_outcomes_of_replies<T>(
    outcomes: &mut Vec<JobOutcome>,
    jobs: &[JobSnapshot],
    replies: PerJob<T>,
    done: impl Fn(&JobSnapshot, T) -> JobOutcome,
) -> Result<(), Error> {
    let mut stopped_by = Ok(());
    for (job, reply) in jobs.iter().zip(replies) {
        outcomes.push(match reply {
            Ok(GuardReply::Done(reply)) => done(job, reply).with_snapshot(job),
            Ok(GuardReply::Refused(refusal)) => JobOutcome::from_guard_refusal(job, &refusal),
            Err(error) => match JobOutcome::from_refusal(&job.jid, &error) {
                Some(outcome) => outcome.with_snapshot(job),
                None => {
                    let outcome = JobOutcome::of_failed_call(job, &error);
                    stopped_by = stopped_by.and(Err(error));
                    outcome
                }
            },
        });
    }
    stopped_by
}

impl Core {
    pub fn set_priority(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        priority: i64,
    ) -> PerJob<i64> {
        let call = |job: &JobSnapshot| {
            let call = Call::new(calls::PRIORITY);
            call.arg(&job.jid).arg(priority.to_string())
        };
        self.call_guarded_for_each_job(now, note, jobs, call, |_| priority)
    }

    /// Removes and adds tags. Returns all tags of each job as a JSON array.
    pub fn change_tags(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        removed: &[Name],
        added: &[Name],
    ) -> PerJob<Name> {
        let call = |job: &JobSnapshot| {
            let call = |verb: &str| Call::new(calls::TAG).arg(verb).arg(&job.jid);
            let (removed, added) = (removed.iter(), added.iter());
            match (removed.len(), added.len()) {
                (_, 0) => call("remove").args(removed),
                (0, _) => call("add").args(added),
                (count, _) => call("swap")
                    .arg(count.to_string())
                    .args(removed)
                    .args(added),
            }
        };
        self.call_guarded_for_each_job(now, note, jobs, call, |job| {
            Name::from(quote_array(job.tags))
        })
    }

    /// Starts tracking jobs if `is_tracked`, else stops tracking them. The result of a job is whether that changed
    /// anything; true if the reply was lost but the core applied the call.
    pub fn start_or_stop_tracking(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        is_tracked: bool,
    ) -> PerJob<bool> {
        let call = |job: &JobSnapshot| track_call(is_tracked, &job.jid);
        self.call_guarded_for_each_job(now, note, jobs, call, |_| true)
    }

    /// Tracks jobs that were just put.
    pub fn track_new_jobs(&mut self, now: Moment, jids: &[&Name]) -> Vec<Result<(), Error>> {
        let calls: Vec<Call> = jids.iter().map(|jid| track_call(true, jid)).collect();
        self.call_all(now, &calls)
    }

    pub fn revoke_locks(&mut self, now: Moment, note: &[u8], jobs: &[JobSnapshot]) -> PerJob<()> {
        let call = |job: &JobSnapshot| Call::new(calls::TIMEOUT).arg(&job.jid);
        self.call_guarded_for_each_job(now, note, jobs, call, |_| ())
    }

    /// Removes these dependencies from jobs, or all their dependencies if the list is empty.
    pub fn remove_given_or_all_dependencies(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        dependencies: &[Name],
    ) -> PerJob<()> {
        let all = Name::from("all");
        let dependencies = if dependencies.is_empty() {
            std::slice::from_ref(&all)
        } else {
            dependencies
        };
        let call = |job: &JobSnapshot| {
            let call = Call::new(calls::DEPENDS).arg(&job.jid);
            call.arg("off").args(dependencies)
        };
        self.call_guarded_for_each_job(now, note, jobs, call, |_| ())
    }

    pub fn append_to_history(
        &mut self,
        now: Moment,
        jid: &Name,
        message: &Name,
        data: Option<&[u8]>,
    ) -> Result<(), Error> {
        let call = Call::new(calls::LOG).arg(jid).arg(message).args(data);
        self.call(now, call)
    }

    /// Makes one call for each job, guarded by its mark. If a reply was lost but the core applied the call,
    /// `result_of_job` makes the result from the job as it is now.
    pub(crate) fn call_guarded_for_each_job<T: DeserializeOwned>(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        call: impl Fn(&JobSnapshot) -> Call,
        result_of_job: impl Fn(Job) -> T,
    ) -> PerJob<T> {
        let guarded = |job: &JobSnapshot| {
            if job.mark.is_empty() {
                call(job)
            } else {
                call(job).guarded_by_mark(&job.jid, &job.mark, note)
            }
        };
        let calls: Vec<Call> = jobs.iter().map(guarded).collect();
        let replies = self.call_all_for_replies(now, &calls);
        let mut to_reconcile: Vec<bool> = Vec::with_capacity(jobs.len());
        let mut outcomes: PerJob<Vec<Option<T>>> = Vec::with_capacity(jobs.len());
        for (job, reply) in jobs.iter().zip(replies) {
            let repeated = reply.repeated;
            to_reconcile.push(repeated && !job.mark.is_empty());
            outcomes.push(if !job.mark.is_empty() {
                // `guard.call` returns the reply of the command that it ran after it had verified the mark.
                reply.read()
            } else {
                match reply.read() {
                    Ok(reply) => Ok(GuardReply::Done(vec![reply])),
                    // If the first attempt removed what was left of the job, the repeated call finds nothing: count it
                    // as done.
                    Err(error) if repeated && is_job_gone(&error, &job.jid) => {
                        Ok(GuardReply::Done(Vec::new()))
                    }
                    Err(error) => Err(error),
                }
            });
        }
        let repeated = jobs.iter().zip(&mut outcomes).zip(to_reconcile);
        let repeated = repeated.filter_map(|((job, outcome), repeated)| match outcome {
            Ok(outcome) if repeated => Some((&job.jid, outcome)),
            _ => None,
        });
        let done = |job| vec![Some(result_of_job(job))];
        self.reconcile_repeated_calls(now, note, repeated.collect(), done);
        let outcomes = outcomes.into_iter().map(|outcome| {
            Ok(match outcome? {
                GuardReply::Refused(refusal) => GuardReply::Refused(refusal),
                GuardReply::Done(reply) => {
                    let reply = reply.into_iter().flatten().next();
                    GuardReply::Done(reply.unwrap_or_else(|| result_of_job(Job::default())))
                }
            })
        });
        outcomes.collect()
    }
}

fn is_job_gone(error: &Error, jid: &Name) -> bool {
    error.refusal_of(jid) == Some(&JobChangeRefusal::Gone)
}

fn track_call(is_tracked: bool, jid: &Name) -> Call {
    let word = if is_tracked { "track" } else { "untrack" };
    Call::new(calls::TRACK).arg(word).arg(jid)
}
