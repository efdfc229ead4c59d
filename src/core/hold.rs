//! What workers call: taking jobs, and what the holder of a lock may do.

use std::time::Duration;

use super::call::{Call, Value};
use super::steer::Each;
use super::{Core, reply};
use crate::cli::value::seconds;
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::quote::array;
use crate::out::Consent;

/// Where a job goes when it is completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    pub queue: Name,
    pub delay: Duration,
    pub depends: Vec<Name>,
}

/// A job in the hands of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub jid: Name,
    pub queue: Name,
    pub worker: Name,
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

    /// Completes a job and returns its new state.
    pub fn complete(
        &mut self,
        now: Moment,
        job: &Held,
        data: &[u8],
        next: Option<&Next>,
    ) -> Result<Name, Error> {
        let mut words: Vec<&[u8]> = vec![job.jid.as_bytes(), job.worker.as_bytes()];
        words.extend([job.queue.as_bytes(), data]);
        let (delay, depends);
        if let Some(next) = next {
            delay = seconds(next.delay);
            depends = array(next.depends.iter().map(Name::as_bytes));
            words.extend([b"next", next.queue.as_bytes(), b"delay", delay.as_bytes()]);
            words.extend([b"depends", depends.as_slice()]);
        }
        reply::bytes(self.call(now, "complete", &words)?).map(Name::from)
    }

    /// Pushes the end of a lock back and returns it, in whole seconds.
    pub fn heartbeat(
        &mut self,
        now: Moment,
        job: &Held,
        data: Option<&[u8]>,
    ) -> Result<i64, Error> {
        let mut words: Vec<&[u8]> = vec![job.jid.as_bytes(), job.worker.as_bytes()];
        words.extend(data);
        reply::integer(self.call(now, "heartbeat", &words)?)
    }

    /// Fails running jobs, each in the name of its holder.
    pub fn fail(&mut self, now: Moment, held: &[Held], why: &Why, data: Option<&[u8]>) -> Each<()> {
        let calls: Vec<Call> = held
            .iter()
            .map(|held| {
                Call::new("fail")
                    .arg(held.jid.as_bytes())
                    .arg(held.worker.as_bytes())
                    .arg(why.group.as_bytes())
                    .arg(why.message.as_bytes())
                    .args(data)
            })
            .collect();
        let replies = self.calls(now, &calls);
        replies.into_iter().map(|reply| reply.map(drop)).collect()
    }

    /// Gives running jobs back, which spends a try, and returns how many each has left.
    pub fn retry(
        &mut self,
        now: Moment,
        held: &[Held],
        delay: Duration,
        group: Option<&Name>,
        message: Option<&Name>,
    ) -> Each<i64> {
        let calls: Vec<Call> = held
            .iter()
            .map(|held| {
                Call::new("retry")
                    .arg(held.jid.as_bytes())
                    .arg(held.queue.as_bytes())
                    .arg(held.worker.as_bytes())
                    .arg(seconds(delay))
                    .args(group.map(Name::as_bytes))
                    .args(message.map(Name::as_bytes))
            })
            .collect();
        let replies = self.calls(now, &calls);
        replies
            .into_iter()
            .map(|reply| reply::integer(reply?))
            .collect()
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
