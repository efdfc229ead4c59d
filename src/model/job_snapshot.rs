//! A job as a write saw it just before: what it needs to judge it, and the mark that guards it.
//!
//! A plan holds a million of them: what many jobs have in common is held once.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::job::Job;
use crate::clock::moment::Moment;
use crate::name::Name;

/// What was seen of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSnapshot {
    pub jid: Name,
    /// What a guarded call compares.
    pub mark: Box<[u8]>,
    pub common: Arc<SharedFields>,
    pub since: Option<Moment>,
    /// When it is to run, if that is still ahead.
    pub due: Option<Moment>,
    /// How much later than the others it is to run, where they are spread over a time.
    pub later: Duration,
}

/// What many jobs have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedFields {
    /// The stored state.
    pub stored: Name,
    /// The state an operator sees: `stalled` for a lock that ran out.
    pub state: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    /// Who holds it, or held it last.
    pub worker: Option<Name>,
    pub priority: Option<Name>,
    /// How many tries it has when it begins anew.
    pub retries: Option<Name>,
}

/// What was met so far.
#[derive(Debug, Default)]
pub struct Interner(HashSet<Arc<SharedFields>>);

impl Interner {
    /// Returns the one that is held of those that are alike.
    pub fn share(&mut self, common: SharedFields) -> Arc<SharedFields> {
        if let Some(held) = self.0.get(&common) {
            return held.clone();
        }
        let common = Arc::new(common);
        self.0.insert(common.clone());
        common
    }
}

impl Deref for JobSnapshot {
    type Target = SharedFields;

    fn deref(&self) -> &SharedFields {
        &self.common
    }
}

impl JobSnapshot {
    /// Returns whether the job is in this stored state.
    pub fn is(&self, state: &str) -> bool {
        self.stored.as_bytes() == state.as_bytes()
    }

    pub fn of(job: Job, alike: &mut Interner) -> JobSnapshot {
        let stored = job.state_stored.unwrap_or_default();
        let common = SharedFields {
            state: job
                .state
                .map_or(stored.clone(), |state| state.word().into()),
            stored,
            queue: job.queue,
            worker: job.worker,
            priority: job.priority.map(|priority| priority.to_string().into()),
            retries: job.retries.map(|retries| retries.to_string().into()),
        };
        JobSnapshot {
            jid: job.jid,
            mark: job.mark.into(),
            common: alike.share(common),
            since: job.since,
            due: job.scheduled_for,
            later: Duration::ZERO,
        }
    }
}
