//! Promoting: scheduled jobs run now.

use super::{Requeue, When, refuse};
use crate::bulk::{JobOutcome, Plan};
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Shows;
use crate::model::job_snapshot::JobSnapshot;
use crate::model::verb::Verb;
use crate::session::Session;
use crate::text::quoted;

pub(crate) const PROMOTE: Verb = Verb {
    word: "promote",
    asks: "promote",
    past: "promoted",
    shows: Shows::Nothing,
};

/// Refuses a job that waits for no time. Older cores leave some in the schedule that call
/// themselves waiting.
pub(crate) fn judge(job: &JobSnapshot) -> Option<JobOutcome> {
    let jid = quoted(&job.jid);
    let hint = match job.stored.as_bytes() {
        b"scheduled" => return None,
        b"waiting" if job.due.is_some() => return None,
        b"failed" => format!("`qless retry {jid}`"),
        b"depends" => format!("let it wait no longer: `qless depends {jid} --off-all`"),
        _ => return Some(refuse(job)),
    };
    Some(refuse(job).hint(hint))
}

/// Promotes the jobs of a plan.
pub(crate) fn run(plan: Plan, session: &mut Session) -> Result<Exit, Error> {
    let requeue = Requeue {
        verb: RequeueVerb::Promote,
        to: None,
        priority: None,
    };
    requeue.run(plan, session, |_| When::Now, |_| true)
}
