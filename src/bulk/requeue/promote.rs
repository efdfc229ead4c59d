//! Promoting: scheduled jobs run now.

use super::{DueTime, RequeueTarget, wrong_state_outcome};
use crate::bulk::{BulkAction, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::model::bulk::BulkTableColumns;
use crate::model::bulk::Verb;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;

pub(crate) const PROMOTE: Verb = Verb {
    word: "promote",
    infinitive: "promote",
    past: "promoted",
    of_one: None,
    table_columns: BulkTableColumns::Nothing,
    raw: false,
};

/// Runs scheduled jobs now, also the `waiting` jobs that an older core left in the schedule. The core refuses a job
/// that waits in its lane and a job with dependencies in one way. This action gives the job in the lane another
/// refusal, because `depends --off-all` does not release that job.
pub(crate) fn promote_action() -> BulkAction<'static> {
    let promote = BulkAction::new(&PROMOTE, |core, slice| {
        let target = RequeueTarget {
            verb: RequeueVerb::Promote,
            to: None,
            priority: None,
        };
        target.requeue_slice(core, slice, |_| DueTime::Now, |_| true)
    });
    promote
        .with_default_states(&[State::Scheduled])
        .refuse_if(refuse_not_scheduled)
        .with_step_after_consent(|plan, session| plan.add_lane_wait_to_single_refusal(session))
}

fn refuse_not_scheduled(job: &JobSnapshot) -> Option<JobOutcome> {
    let hint = match job.stored.as_bytes() {
        b"scheduled" => return None,
        b"waiting" if job.due.is_some() => return None,
        b"failed" => CommandLine::new("retry")
            .with_name_argument(&job.jid)
            .fill_sentence("{}"),
        b"depends" => {
            let release = CommandLine::new("depends --off-all").with_name_argument(&job.jid);
            release.fill_sentence("let it wait no longer: {}")
        }
        _ => {
            return Some(
                wrong_state_outcome(job).with_already_as_asked(job.has_stored_state("waiting")),
            );
        }
    };
    Some(wrong_state_outcome(job).hint_if(hint))
}
