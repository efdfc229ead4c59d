//! Jobs in the hands of a worker: who may settle them, in whose name.

use super::JobOutcome;
use crate::args::shared::Holder;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::actor;
use crate::text::clean;

/// In whose name jobs are settled.
#[derive(Clone, Debug)]
pub(crate) enum InName {
    Of(Name),
    /// Of whichever worker holds the job.
    Holder,
}

impl InName {
    /// Returns what the flags and the environment say.
    pub(crate) fn of(holder: &Holder) -> Result<InName, Error> {
        match holder.as_holder {
            true => Ok(InName::Holder),
            false => actor::worker(holder.worker.as_ref()).map(InName::Of),
        }
    }

    /// Refuses a job that is not running, or not held by this worker.
    pub(crate) fn judge(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        if !job.is("running") {
            let state = clean(job.state.as_bytes());
            let why = format!("it is {state}, not running");
            return Some(JobOutcome::refused(&job.jid, Code::StateChanged, why));
        }
        match (self, &job.worker) {
            (InName::Of(name), Some(worker)) if name != worker => {
                Some(JobOutcome::held_by(&job.jid, worker.as_bytes()))
            }
            _ => None,
        }
    }

    /// Looks at one job that is to be settled.
    pub(crate) fn take(
        &self,
        core: &mut Core,
        now: Moment,
        jid: &Name,
        verb: &str,
    ) -> Result<JobSnapshot, Error> {
        let seen = core.snapshots(now, std::slice::from_ref(jid))?;
        match seen.into_iter().flatten().next() {
            None => Err(JobOutcome::gone(jid).error(verb)),
            Some(job) => match self.judge(&job) {
                None => Ok(job),
                Some(fate) => Err(fate.error(verb)),
            },
        }
    }

    /// Returns in whose name a job is settled.
    pub(crate) fn worker(&self, job: &JobSnapshot) -> Name {
        match self {
            InName::Of(name) => name.clone(),
            InName::Holder => job.worker.clone().unwrap_or_default(),
        }
    }
}
