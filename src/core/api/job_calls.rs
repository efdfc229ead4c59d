//! Changes to many jobs in one round trip, each by a command of the reference: priority, tags,
//! tracking, lock taken away. Each job has its own outcome.
//!
//! A job that was seen is changed only if it still is as its mark says. One that does not exist,
//! of which something can be changed all the same, is named without a mark.

use super::guard::{GuardReply, outcome_and_reply};
use super::reconcile::SecondReply;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::refusal;
use crate::core::call::refusal::Refusal;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

/// What became of each job.
pub(crate) type Each<T> = Vec<Result<Steered<T>, Error>>;

/// What became of a job that a command of the reference was to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Steered<T> {
    /// It was changed; what the command answered.
    Done(T),
    /// It is not as it was seen.
    Refused(GuardReply),
}

impl Core {
    /// Gives jobs another priority.
    pub fn priority(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        to: i64,
    ) -> Each<i64> {
        let call = |job: &JobSnapshot| {
            Call::new("priority")
                .arg(job.jid.as_bytes())
                .arg(to.to_string())
        };
        self.steer(now, note, jobs, call, reply::integer, |_| to)
    }

    /// Takes tags away and adds others; returns all that each job has then, as a JSON array.
    pub fn tag(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        off: &[Name],
        on: &[Name],
    ) -> Each<Vec<u8>> {
        let call = |job: &JobSnapshot| {
            let call = |verb: &str| Call::new("tag").arg(verb).arg(job.jid.as_bytes());
            let (off, on) = (off.iter(), on.iter());
            match (off.len(), on.len()) {
                (_, 0) => call("remove").args(off),
                (0, _) => call("add").args(on),
                (count, _) => call("swap").arg(count.to_string()).args(off).args(on),
            }
        };
        self.steer(now, note, jobs, call, reply::bytes, |after| after.tags)
    }

    /// Tracks jobs, or no longer; returns whether that changed anything.
    pub fn track(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        tracked: bool,
    ) -> Each<bool> {
        let how = if tracked { "track" } else { "untrack" };
        let call = |job: &JobSnapshot| Call::new("track").arg(how).arg(job.jid.as_bytes());
        let read = |value| Ok(reply::integer(value)? != 0);
        self.steer(now, note, jobs, call, read, |_| true)
    }

    /// Tracks jobs that were just put.
    pub fn track_again(&mut self, now: Moment, jids: &[&Name]) -> Vec<Result<(), Error>> {
        let call = |jid: &&Name| Call::new("track").arg("track").arg(jid.as_bytes());
        let calls: Vec<Call> = jids.iter().map(call).collect();
        let answers = self.calls(now, &calls).into_iter();
        answers.map(|answer| answer.map(drop)).collect()
    }

    /// Takes the locks of running jobs away.
    pub fn timeout(&mut self, now: Moment, note: &[u8], jobs: &[JobSnapshot]) -> Each<()> {
        let call = |job: &JobSnapshot| Call::new("timeout").arg(job.jid.as_bytes());
        self.steer(now, note, jobs, call, |_| Ok(()), |_| ())
    }

    /// Lets jobs no longer wait for these; for nothing at all where none is named.
    pub fn undepend(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        off: &[Name],
    ) -> Each<()> {
        let all = Name::from("all");
        let off = match off.is_empty() {
            true => std::slice::from_ref(&all),
            false => off,
        };
        let call = |job: &JobSnapshot| {
            Call::new("depends")
                .arg(job.jid.as_bytes())
                .arg("off")
                .args(off)
        };
        self.steer(now, note, jobs, call, |_| Ok(()), |_| ())
    }

    /// Appends to a job's history.
    pub fn log(
        &mut self,
        now: Moment,
        jid: &Name,
        message: &Name,
        data: Option<&[u8]>,
    ) -> Result<(), Error> {
        let mut words: Vec<&[u8]> = vec![jid.as_bytes(), message.as_bytes()];
        words.extend(data);
        self.call(now, "log", &words).map(drop)
    }

    /// Makes one call for each job, guarded by what was seen of it. `read` takes the reply of the
    /// command; `after` says what it was, where it was lost.
    pub(crate) fn steer<T>(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        call: impl Fn(&JobSnapshot) -> Call,
        read: impl Fn(Value) -> Result<T, Error>,
        after: impl Fn(SecondReply) -> T,
    ) -> Each<T> {
        let guarded = |job: &JobSnapshot| match job.mark.is_empty() {
            true => call(job),
            false => call(job).guarded(&job.jid, &job.mark, note),
        };
        let calls: Vec<Call> = jobs.iter().map(guarded).collect();
        let answers = self.answers(now, &calls, true);
        let mut made_again: Vec<bool> = Vec::with_capacity(jobs.len());
        let mut outcomes: Vec<Result<(GuardReply, Option<Value>), Error>> = Vec::new();
        for (job, answer) in jobs.iter().zip(answers) {
            made_again.push(answer.again && !job.mark.is_empty());
            outcomes.push(match (job.mark.is_empty(), answer.reply) {
                (true, Ok(reply)) => Ok((GuardReply::done(), Some(reply))),
                // Not even a trace is left: the first try took it away.
                (true, Err(error)) if answer.again && is_gone(&error, &job.jid) => {
                    Ok((GuardReply::done(), None))
                }
                (_, reply) => reply.and_then(outcome_and_reply),
            });
        }
        let again = jobs.iter().zip(&mut outcomes).zip(made_again);
        let again = again.filter_map(|((job, outcome), again)| match outcome {
            Ok((outcome, _)) if again => Some((&job.jid, outcome)),
            _ => None,
        });
        let mut settled = self.settle(now, note, again.collect());
        let steered = jobs.iter().zip(outcomes).map(|(job, outcome)| {
            let (outcome, reply) = outcome?;
            match (outcome.code, reply) {
                (Code::Ok, Some(reply)) => read(reply).map(Steered::Done),
                (Code::Ok, None) => {
                    let seen = settled.remove(&job.jid).unwrap_or_default();
                    Ok(Steered::Done(after(seen)))
                }
                _ => Ok(Steered::Refused(outcome)),
            }
        });
        steered.collect()
    }
}

fn is_gone(error: &Error, jid: &Name) -> bool {
    refusal::of(error, jid) == Some(Refusal::Gone)
}
