//! Moving: into another queue, as if put there.

use super::{Requeue, When, refuse};
use crate::args::shared::Later;
use crate::bulk::{JobOutcome, Plan};
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Code, Shows};
use crate::model::job_snapshot::JobSnapshot;
use crate::model::verb::Verb;
use crate::name::Name;
use crate::session::Session;
use crate::text::{clean, quoted};

pub(crate) const MOVE: Verb = Verb {
    word: "move",
    asks: "move",
    past: "moved",
    shows: Shows::Nothing,
};

/// MoveOptions jobs are moved.
#[derive(Clone, Debug)]
pub(crate) struct MoveOptions {
    pub to: Name,
    /// At once where nothing is said, but not before a time that a job was given earlier.
    pub later: Later,
    /// Take running jobs from their workers.
    pub force: bool,
}

impl MoveOptions {
    /// Refuses a job that a worker has, and one that is there already.
    pub(crate) fn judge(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let running = job.state.as_bytes() == b"running";
        if running && !self.force {
            let (jid, to) = (quoted(&job.jid), quoted(&self.to));
            let hint = format!("take its lock away: `qless move --force {jid} --to {to}`");
            return Some(refuse(job).hint(hint));
        }
        let leaves = running || job.is("failed") || job.is("complete") || self.later.is_given();
        if !leaves && job.queue.as_ref() == Some(&self.to) {
            let why = format!("it is in `{}` already", clean(&self.to));
            return Some(JobOutcome::refused(&job.jid, Code::StateChanged, why));
        }
        None
    }

    /// Returns what else would happen to the jobs of a plan, for the one who is asked.
    pub(crate) fn promise(&self, plan: &Plan) -> String {
        let ended = |job: &&JobSnapshot| job.is("failed") || job.is("complete");
        let again = match plan.jobs.iter().filter(ended).count() as u64 {
            0 => String::new(),
            1 => "; 1 of them failed or is complete: it runs again".into(),
            many => format!("; {many} of them failed or are complete: they run again"),
        };
        format!(
            "\n  all go to `{}` with fresh retries{again}\n",
            clean(&self.to)
        )
    }

    /// Moves the jobs of a plan.
    pub(crate) fn run(&self, plan: Plan, session: &mut Session) -> Result<Exit, Error> {
        let requeue = Requeue {
            verb: RequeueVerb::Move,
            to: Some(self.to.clone()),
            priority: None,
        };
        let now = session.now();
        let when = |job: &JobSnapshot| match (self.later.delay, self.later.due(now), job.due) {
            (Some(delay), ..) => When::After(delay),
            (None, Some(at), _) => When::At(at),
            (None, None, Some(due)) => When::Still(due),
            (None, None, None) => When::Now,
        };
        requeue.run(plan, session, when, |_| false)
    }
}
