//! The worker in whose name a command ends a running job or extends its lock.

use super::JobOutcome;
use crate::args::shared::HolderFlags;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::bulk::JobSnapshot;
use crate::name::Name;
use crate::session::actor;

/// The worker in whose name jobs are ended or their locks extended.
#[derive(Clone, Debug)]
pub(crate) enum ActingWorker {
    Named(Name),
    /// The worker that holds the job.
    Holder,
}

impl ActingWorker {
    /// The worker that the flags and the environment name.
    pub(crate) fn from_holder_flags(holder: &HolderFlags) -> Result<ActingWorker, Error> {
        if holder.as_holder {
            Ok(ActingWorker::Holder)
        } else {
            actor::worker_name_given_or_of_session(holder.worker.as_ref()).map(ActingWorker::Named)
        }
    }

    /// Refuses a job that is not running, or that another worker holds.
    pub(crate) fn refuse_not_held(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        if !job.has_stored_state("running") {
            let state = job.state.clone();
            return Some(JobOutcome::wrong_state(&job.jid, state, Some("running")));
        }
        match (self, &job.worker) {
            (ActingWorker::Named(name), Some(worker)) if name != worker => {
                Some(JobOutcome::held_by_other(&job.jid, worker))
            }
            _ => None,
        }
    }

    /// Reads the job that the command acts on. Refuses a job that does not exist, is not running, or that another
    /// worker holds.
    pub(crate) fn read_held_job(
        &self,
        core: &mut Core,
        now: Moment,
        jid: &Name,
        verb: &str,
    ) -> Result<JobSnapshot, Error> {
        let found = core.job_snapshots(now, std::slice::from_ref(jid))?;
        match found.into_iter().flatten().next() {
            None => Err(JobOutcome::gone(jid).to_error(verb)),
            Some(job) => match self.refuse_not_held(&job) {
                None => Ok(job),
                Some(outcome) => Err(outcome.to_error(verb)),
            },
        }
    }

    /// The worker that settles this job.
    pub(crate) fn acting_worker_for(&self, job: &JobSnapshot) -> Name {
        match self {
            ActingWorker::Named(name) => name.clone(),
            ActingWorker::Holder => job.worker.clone().unwrap_or_default(),
        }
    }
}
