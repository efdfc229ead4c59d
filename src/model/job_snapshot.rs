//! A job as it was just before a write: the fields that decide about the write, and the mark that
//! guards it.
//!
//! A plan may hold a million snapshots, so the fields that many jobs share are stored once.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::job::Job;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A job as it was when it was read: little enough that a plan can hold a million.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSnapshot {
    pub jid: Name,
    /// The guarded call compares this mark with the present one.
    pub mark: Box<[u8]>,
    pub common: Arc<SharedJobFields>,
    pub since: Option<Moment>,
    /// When a scheduled job is due, or a job in state `depends` once nothing blocks it.
    pub due: Option<Moment>,
    /// How much later than the first job this job is to run, if the starts are spread over a time.
    pub later: Duration,
}

/// Fields that many jobs share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedJobFields {
    /// The stored state.
    pub stored: Name,
    /// The state that is shown: `stalled` for a lock that has expired.
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
    /// The stored copy of these fields. Stores them if there is none.
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
