//! Changes of many jobs in one round trip, each by a command of the reference: priority, tags,
//! tracking, revoked lock. Each job has its own outcome.
//!
//! A job is changed only if it is still as its mark says. A job without a mark does not exist; some
//! commands change its leftovers all the same.

use super::guard::{CHANGE_DEPENDENCIES, GuardReply, outcome_and_reply};
use super::reconcile::ChangedJob;
use crate::clock::moment::Moment;
use crate::core::call::call_spec::RetryClass;
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::error::{Error, Refusal};
use crate::model::bulk::Code;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

/// The outcome for each job.
pub(crate) type PerJob<T> = Vec<Result<CallOutcome<T>, Error>>;

/// The outcome of one command of the reference.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome<T> {
    /// The command ran. The value is its reply.
    Done(T),
    /// The job changed since it was read.
    Refused(GuardReply),
}

impl Core {
    /// Sets the priority of jobs.
    pub fn priority(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        to: i64,
    ) -> PerJob<i64> {
        let call = |job: &JobSnapshot| {
            Call::write(
                "priority",
                RetryClass::Idempotent,
                "change the priority of",
                "changing the priority of",
            )
            .jid(&job.jid)
            .arg(to.to_string())
        };
        self.call_each(now, note, jobs, call, reply::integer, |_| to)
    }

    /// Removes and adds tags. Returns all tags of each job as a JSON array.
    pub fn tag(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        off: &[Name],
        on: &[Name],
    ) -> PerJob<Vec<u8>> {
        let call = |job: &JobSnapshot| {
            let call = |verb: &str| {
                let call = Call::write("tag", RetryClass::Idempotent, "tag", "tagging");
                call.arg(verb).jid(&job.jid)
            };
            let (off, on) = (off.iter(), on.iter());
            match (off.len(), on.len()) {
                (_, 0) => call("remove").args(off),
                (0, _) => call("add").args(on),
                (count, _) => call("swap").arg(count.to_string()).args(off).args(on),
            }
        };
        self.call_each(now, note, jobs, call, reply::bytes, |job| job.tags)
    }

    /// Starts or stops tracking jobs. Returns whether that changed anything.
    pub fn track(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        tracked: bool,
    ) -> PerJob<bool> {
        let call = |job: &JobSnapshot| track_call(tracked, &job.jid);
        let read = |value| Ok(reply::integer(value)? != 0);
        self.call_each(now, note, jobs, call, read, |_| true)
    }

    /// Tracks jobs that were just put.
    pub fn track_new(&mut self, now: Moment, jids: &[&Name]) -> Vec<Result<(), Error>> {
        let calls: Vec<Call> = jids.iter().map(|jid| track_call(true, jid)).collect();
        let results = self.calls(now, &calls).into_iter();
        results.map(|result| result.map(drop)).collect()
    }

    /// Revokes the locks of running jobs.
    pub fn timeout(&mut self, now: Moment, note: &[u8], jobs: &[JobSnapshot]) -> PerJob<()> {
        let call = |job: &JobSnapshot| {
            let call = Call::write("timeout", RetryClass::Guarded, "time out", "timing out");
            call.jid(&job.jid)
        };
        self.call_each(now, note, jobs, call, |_| Ok(()), |_| ())
    }

    /// Removes these dependencies of jobs, or all if none is named.
    pub fn undepend(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        off: &[Name],
    ) -> PerJob<()> {
        let all = Name::from("all");
        let off = if off.is_empty() {
            std::slice::from_ref(&all)
        } else {
            off
        };
        let call = |job: &JobSnapshot| {
            let (verb, doing) = CHANGE_DEPENDENCIES;
            let call = Call::write("depends", RetryClass::Idempotent, verb, doing);
            call.jid(&job.jid).arg("off").args(off)
        };
        self.call_each(now, note, jobs, call, |_| Ok(()), |_| ())
    }

    /// Appends to a job's history.
    pub fn log(
        &mut self,
        now: Moment,
        jid: &Name,
        message: &Name,
        data: Option<&[u8]>,
    ) -> Result<(), Error> {
        let call = Call::write("log", RetryClass::Never, "log to", "logging to");
        let call = call.jid(jid).arg(message).args(data);
        self.call(now, call).map(drop)
    }

    /// Makes one call for each job, guarded by its mark. `read` reads the reply of the command. `after`
    /// makes the result from the job's present state if the reply was lost.
    pub(crate) fn call_each<T>(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        call: impl Fn(&JobSnapshot) -> Call,
        read: impl Fn(Value) -> Result<T, Error>,
        after: impl Fn(ChangedJob) -> T,
    ) -> PerJob<T> {
        let guarded = |job: &JobSnapshot| {
            if job.mark.is_empty() {
                call(job)
            } else {
                call(job).guarded(&job.jid, &job.mark, note)
            }
        };
        let calls: Vec<Call> = jobs.iter().map(guarded).collect();
        let replies = self.replies(now, &calls);
        let mut to_reconcile: Vec<bool> = Vec::with_capacity(jobs.len());
        let mut outcomes: Vec<Result<(GuardReply, Option<Value>), Error>> = Vec::new();
        for (job, reply) in jobs.iter().zip(replies) {
            to_reconcile.push(reply.repeated && !job.mark.is_empty());
            outcomes.push(match (job.mark.is_empty(), reply.result) {
                (true, Ok(value)) => Ok((GuardReply::done(), Some(value))),
                // The first attempt removed even the leftovers.
                (true, Err(error)) if reply.repeated && is_gone(&error, &job.jid) => {
                    Ok((GuardReply::done(), None))
                }
                (_, result) => result.and_then(outcome_and_reply),
            });
        }
        let repeated = jobs.iter().zip(&mut outcomes).zip(to_reconcile);
        let repeated = repeated.filter_map(|((job, outcome), repeated)| match outcome {
            Ok((outcome, _)) if repeated => Some((&job.jid, outcome)),
            _ => None,
        });
        let mut present = self.reconcile(now, note, repeated.collect());
        let outcomes = jobs.iter().zip(outcomes).map(|(job, outcome)| {
            let (outcome, reply) = outcome?;
            match (outcome.code, reply) {
                (Code::Ok, Some(reply)) => read(reply).map(CallOutcome::Done),
                (Code::Ok, None) => {
                    let job = present.remove(&job.jid).unwrap_or_default();
                    Ok(CallOutcome::Done(after(job)))
                }
                _ => Ok(CallOutcome::Refused(outcome)),
            }
        });
        outcomes.collect()
    }
}

fn is_gone(error: &Error, jid: &Name) -> bool {
    error.refusal_of(jid) == Some(&Refusal::Gone)
}

fn track_call(tracked: bool, jid: &Name) -> Call {
    let word = if tracked { "track" } else { "untrack" };
    let call = Call::write("track", RetryClass::Idempotent, "track", "tracking");
    call.arg(word).jid(jid)
}
