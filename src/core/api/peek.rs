//! The jobs that the next pops would return.

use super::job::{JobFields, read_job};
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, Value, calls, reply};
use crate::error::Error;
use crate::model::job::Job;
use crate::name::Name;

/// Maximum number of jobs that a dry run shows.
pub(crate) const MAX_NEXT_JOBS: u64 = 1_000;

/// Whether the pause of a queue counts, so that its next pops return nothing, or is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PausedQueuePolicy {
    Count,
    Ignored,
}

impl Core {
    /// The jobs that pops of queues would get now, one queue after the other, by the core's dry run of `pop`. Writes
    /// nothing. A job that a recurring job would put first has a jid, but no state yet.
    pub(crate) fn next_jobs(
        &mut self,
        now: Moment,
        queues: &[Name],
        count: u64,
        pauses: PausedQueuePolicy,
    ) -> Result<Vec<Job>, Error> {
        let mode = if pauses == PausedQueuePolicy::Count {
            "pop"
        } else {
            "peek"
        };
        let call = Call::new(calls::LOOK_NEXT).arg(count.to_string()).arg(mode);
        let (mut jids, mut rows) = (Vec::new(), Vec::new());
        let reply = self.call_for_reply(now, call.args(queues))?.result?;
        for (jid, row) in reply::read_pairs(calls::LOOK_NEXT.name, reply)? {
            jids.push(Name::from(jid));
            rows.push(row);
        }
        let mut next = Vec::with_capacity(jids.len());
        let jobs = self.jobs(now, JobFields::Brief, &jids)?;
        for ((jid, row), job) in jids.iter().zip(rows).zip(jobs) {
            match (job, row) {
                (Some(job), _) => next.push(job),
                // Another client has deleted the job: leave it out.
                (None, Value::Nil) => {}
                (None, row) => next.push(read_job(jid, row)?),
            }
        }
        Ok(next)
    }
}
