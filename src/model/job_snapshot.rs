//! A job as it was just before a write: the fields that the write depends on, and the mark that shows whether the job
//! has changed since.
//!
//! A plan may hold a million snapshots, so fields that many jobs share are stored once.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::job::Job;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A job as it was when `qless` read it, small enough that a plan can hold a million.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSnapshot {
    pub jid: Name,
    /// The mark of the job. The call that writes compares it with the present mark, and leaves a job that has changed.
    pub mark: Box<[u8]>,
    pub common: Arc<SharedJobFields>,
    pub since: Option<Moment>,
    /// When a scheduled job is due. For a job in state `depends`, when it is due if all dependencies are complete by
    /// then.
    pub due: Option<Moment>,
    /// The delay of this job after the first one, if an operator spreads the starts of the jobs over a time.
    pub later: Duration,
}

/// Fields that many jobs share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedJobFields {
    /// The stored state.
    pub stored: Name,
    /// The state that `qless` shows: `stalled` for a running job whose lock has expired, else the stored state.
    pub state: Name,
    /// Absent for a job that is complete.
    pub queue: Option<Name>,
    /// The worker that holds the job. For a stalled job, the worker that lost its lock.
    pub worker: Option<Name>,
    pub priority: Option<Name>,
    /// The retries of a fresh run.
    pub retries: Option<Name>,
    /// The group of the last failure.
    pub group: Option<Name>,
}

/// Stores equal fields once.
#[derive(Debug, Default)]
pub struct FieldInterner(HashSet<Arc<SharedJobFields>>);

impl FieldInterner {
    /// The stored copy of equal fields. If there is none, stores these.
    pub fn intern(&mut self, fields: SharedJobFields) -> Arc<SharedJobFields> {
        if let Some(shared) = self.0.get(&fields) {
            return shared.clone();
        }
        let fields = Arc::new(fields);
        self.0.insert(fields.clone());
        fields
    }
}

impl Deref for JobSnapshot {
    type Target = SharedJobFields;

    fn deref(&self) -> &SharedJobFields {
        &self.common
    }
}

impl JobSnapshot {
    pub fn has_stored_state(&self, state: &str) -> bool {
        self.stored.as_bytes() == state.as_bytes()
    }

    pub fn has_failed_in_group(&self, group: &Name) -> bool {
        self.has_stored_state("failed") && self.group.as_ref() == Some(group)
    }

    pub fn from_job(job: Job, interner: &mut FieldInterner) -> JobSnapshot {
        let since = job.unchanged_since();
        let stored = job.state_stored.unwrap_or_default();
        let common = SharedJobFields {
            state: job
                .state
                .map_or(stored.clone(), |state| state.into_str().into()),
            stored,
            queue: job.queue,
            worker: job.worker,
            priority: job.priority.map(|priority| priority.to_string().into()),
            retries: job.retries.map(|retries| retries.to_string().into()),
            group: job.failure.map(|failure| failure.group),
        };
        JobSnapshot {
            jid: job.jid,
            mark: job.mark.into(),
            common: interner.intern(common),
            since,
            due: job.scheduled_for,
            later: Duration::ZERO,
        }
    }
}
