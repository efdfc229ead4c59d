//! Promoting: scheduled jobs run now.

use super::{RequeueTarget, RunTime, wrong_state};
use crate::bulk::{BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::RowContent;
use crate::model::bulk::Verb;
use crate::model::job_snapshot::JobSnapshot;
use crate::session::Session;

pub(crate) const PROMOTE: Verb = Verb {
    word: "promote",
    infinitive: "promote",
    past: "promoted",
    of_one: None,
    row_content: RowContent::Nothing,
};

/// Refuses a job that is not scheduled. Older cores leave some jobs in the schedule whose state is
/// `waiting`.
pub(crate) fn refuse(job: &JobSnapshot) -> Option<JobOutcome> {
    let hint = match job.stored.as_bytes() {
        b"scheduled" => return None,
        b"waiting" if job.due.is_some() => return None,
        b"failed" => CommandLine::new("retry").name(&job.jid).within("{}"),
        b"depends" => {
            let release = CommandLine::new("depends --off-all").name(&job.jid);
            release.within("let it wait no longer: {}")
        }
        _ => return Some(wrong_state(job).with_as_asked(job.is("waiting"))),
    };
    Some(wrong_state(job).hint_if(hint))
}

/// Promotes the jobs of a plan.
pub(crate) fn run(mut plan: BulkPlan, session: &mut Session) -> Result<Exit, Error> {
    // A job that waits in its lane cannot be released by `depends --off-all`, which the refusal names.
    plan.explain_lane(session)?;
    let requeue = RequeueTarget {
        verb: RequeueVerb::Promote,
        to: None,
        priority: None,
    };
    requeue.run(plan, session, |_| RunTime::Now, |_| true)
}
