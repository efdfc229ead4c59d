//! What workers call: taking jobs, and what the holder of a lock may do.

use std::time::Duration;

use super::job_calls::{Each, Steered};
use super::reconcile::SecondReply;
use crate::clock::duration::seconds;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::error::Error;
use crate::json::quote::array;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

/// Where a job goes when it is completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    pub queue: Name,
    pub delay: Duration,
    pub depends: Vec<Name>,
}

/// What is recorded of a failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why {
    pub group: Name,
    pub message: Name,
}

impl Core {
    /// Takes up to `count` jobs; the reply is the core's own.
    pub fn pop(
        &mut self,
        now: Moment,
        queue: &Name,
        worker: &Name,
        count: u64,
    ) -> Result<Vec<u8>, Error> {
        let count = count.to_string();
        let words = [queue.as_bytes(), worker.as_bytes(), count.as_bytes()];
        reply::bytes(self.call(now, "pop", &words)?)
    }

    /// Completes a job in a worker's name and returns its new state.
    pub fn complete(
        &mut self,
        now: Moment,
        note: &[u8],
        job: &JobSnapshot,
        worker: &Name,
        data: &[u8],
        next: Option<&Next>,
    ) -> Result<Steered<Name>, Error> {
        let queue = job.queue.clone().unwrap_or_default();
        let call = |job: &JobSnapshot| {
            let mut call = Call::new("complete")
                .arg(job.jid.as_bytes())
                .arg(worker.as_bytes())
                .arg(queue.as_bytes())
                .arg(data);
            if let Some(next) = next {
                call = call.arg("next").arg(next.queue.as_bytes());
                call = call.arg("delay").arg(seconds(next.delay));
                let depends = array(next.depends.iter().map(Name::as_bytes));
                call = call.arg("depends").arg(depends);
            }
            call
        };
        let read = |value| reply::bytes(value).map(Name::from);
        let after = |after: SecondReply| after.state.unwrap_or_default();
        let jobs = std::slice::from_ref(job);
        let mut steered = self.steer(now, note, jobs, call, read, after);
        steered
            .pop()
            .unwrap_or_else(|| Err(reply::unexpected("an outcome")))
    }

    /// Pushes the end of a lock back and returns it, in whole seconds.
    pub fn heartbeat(
        &mut self,
        now: Moment,
        jid: &Name,
        worker: &Name,
        data: Option<&[u8]>,
    ) -> Result<i64, Error> {
        let mut words: Vec<&[u8]> = vec![jid.as_bytes(), worker.as_bytes()];
        words.extend(data);
        reply::integer(self.call(now, "heartbeat", &words)?)
    }

    /// Fails running jobs, each in the name of a worker.
    pub fn fail(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        why: &Why,
        data: Option<&[u8]>,
    ) -> Each<()> {
        let call = |job: &JobSnapshot| {
            Call::new("fail")
                .arg(job.jid.as_bytes())
                .arg(worker(job).as_bytes())
                .arg(why.group.as_bytes())
                .arg(why.message.as_bytes())
                .args(data)
        };
        self.steer(now, note, jobs, call, |_| Ok(()), |_| ())
    }

    /// Gives running jobs back, each in the name of a worker, which spends a try, and returns how
    /// many each has left.
    pub fn retry(
        &mut self,
        now: Moment,
        note: &[u8],
        jobs: &[JobSnapshot],
        worker: impl Fn(&JobSnapshot) -> Name,
        delay: Duration,
        why: Option<&Why>,
    ) -> Each<i64> {
        let call = |job: &JobSnapshot| {
            let queue = job.queue.clone().unwrap_or_default();
            let call = Call::new("retry")
                .arg(job.jid.as_bytes())
                .arg(queue.as_bytes())
                .arg(worker(job).as_bytes())
                .arg(seconds(delay));
            match why {
                Some(why) => call.arg(why.group.as_bytes()).arg(why.message.as_bytes()),
                None => call,
            }
        };
        let after = |after: SecondReply| match after.state {
            Some(state) if state.as_bytes() == b"failed" => -1,
            _ => after.remaining,
        };
        self.steer(now, note, jobs, call, reply::integer, after)
    }

    /// Moves the oldest failures of a group to one queue and returns how many.
    pub fn unfail(
        &mut self,
        now: Moment,
        queue: &Name,
        group: &Name,
        count: u64,
        _: Consent,
    ) -> Result<i64, Error> {
        let count = count.to_string();
        let words = [queue.as_bytes(), group.as_bytes(), count.as_bytes()];
        reply::integer(self.call(now, "unfail", &words)?)
    }

    /// Returns one stored field of a job.
    pub fn field(
        &mut self,
        now: Moment,
        jid: &Name,
        field: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        let value = self.call(now, "look.jobs", &[field.as_bytes(), jid.as_bytes()])?;
        for job in reply::list(value)? {
            if matches!(job, Value::Nil) {
                continue;
            }
            for (name, value) in reply::pairs(job)? {
                if name == field.as_bytes() {
                    return reply::optional(value);
                }
            }
        }
        Ok(None)
    }
}
