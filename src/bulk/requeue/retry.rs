//! Retrying: failed jobs, each into its own queue where nothing else is said.

use std::time::Duration;

use super::{Requeue, When, held, refuse};
use crate::bulk::{JobOutcome, Plan};
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Shows;
use crate::model::job_snapshot::JobSnapshot;
use crate::model::verb::Verb;
use crate::name::Name;
use crate::session::Session;
use crate::text::{clean, quoted};

pub(crate) const RETRY: Verb = Verb {
    word: "retry",
    asks: "retry",
    past: "retried",
    shows: Shows::Nothing,
};

/// RetryOptions jobs are retried.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryOptions {
    pub to: Option<Name>,
    pub delay: Option<Duration>,
    pub priority: Option<i64>,
    /// Run complete jobs again.
    pub completed: bool,
    /// Take running jobs from their workers.
    pub force: bool,
}

impl RetryOptions {
    /// Refuses a job that is not there to be retried.
    pub(crate) fn judge(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let jid = quoted(&job.jid);
        let hint = match job.stored.as_bytes() {
            b"failed" => return None,
            b"complete" if self.completed => return None,
            b"running" | b"stalled" if self.force => return None,
            b"complete" => format!("run it again: `qless retry --completed {jid}`"),
            b"running" | b"stalled" => format!("take its lock away: `qless retry --force {jid}`"),
            b"scheduled" => format!("run it now: `qless promote {jid}`"),
            b"depends" => format!("see which: `qless depends {jid}`"),
            _ => return Some(refuse(job)),
        };
        Some(refuse(job).hint(hint))
    }

    /// Returns where the jobs would go, for the one who is asked.
    pub(crate) fn promise(&self, plan: &Plan) -> String {
        let to = match &self.to {
            Some(to) => format!("all go to `{}`", clean(to.as_bytes())),
            None => "each goes back to its own queue".into(),
        };
        let anew: Vec<&JobSnapshot> = plan.jobs.iter().filter(|job| !held(job)).collect();
        let retries = anew.first().and_then(|job| job.retries.as_ref());
        let retries =
            retries.filter(|one| anew.iter().all(|job| job.retries.as_ref() == Some(one)));
        let retries = match retries {
            Some(one) if one.as_bytes() == b"1" => "1 fresh retry".into(),
            Some(many) => format!("{} fresh retries", clean(many.as_bytes())),
            None => "fresh retries".into(),
        };
        match (anew.len(), anew.len() == plan.jobs.len()) {
            (0, _) => format!("\n  {to} with the retries it has left\n"),
            (_, true) => format!("\n  {to} with {retries}\n"),
            _ => format!("\n  {to} with {retries}; what runs, with those it has left\n"),
        }
    }

    /// Retries the jobs of a plan. One that was taken from its worker keeps the tries it has left;
    /// the others get all anew.
    pub(crate) fn run(&self, plan: Plan, session: &mut Session) -> Result<Exit, Error> {
        let requeue = Requeue {
            verb: RequeueVerb::Retry,
            to: self.to.clone(),
            priority: self.priority,
        };
        let when = self.delay.map_or(When::Now, When::After);
        requeue.run(plan, session, |_| when, held)
    }
}
