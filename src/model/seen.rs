//! A job as a write saw it just before: what it needs to judge it, and the mark that guards it.

use std::time::Duration;

use super::job::Job;
use super::moment::Moment;
use super::name::Name;

/// What was seen of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    pub jid: Name,
    /// What a guarded call compares.
    pub mark: Vec<u8>,
    /// The stored state.
    pub stored: Name,
    /// The state an operator sees: `stalled` for a lock that ran out.
    pub state: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    /// Who holds it, or held it last.
    pub worker: Option<Name>,
    pub since: Option<Moment>,
    pub priority: Option<Name>,
    /// How many tries it has when it begins anew.
    pub retries: Option<Name>,
    /// When it is to run, if that is still ahead.
    pub due: Option<Moment>,
    /// How much later than the others it is to run, where they are spread over a time.
    pub later: Duration,
}

impl Seen {
    /// Returns whether the job is in this stored state.
    pub fn is(&self, state: &str) -> bool {
        self.stored.as_bytes() == state.as_bytes()
    }
}

impl From<Job> for Seen {
    fn from(job: Job) -> Seen {
        let stored = job.state_stored.unwrap_or_default();
        Seen {
            jid: job.jid,
            mark: job.mark,
            state: job
                .state
                .map_or(stored.clone(), |state| state.word().into()),
            stored,
            queue: job.queue,
            worker: job.worker,
            since: job.since,
            due: job.scheduled_for,
            later: Duration::ZERO,
            priority: job.priority.map(|priority| priority.to_string().into()),
            retries: job.retries.map(|retries| retries.to_string().into()),
        }
    }
}
