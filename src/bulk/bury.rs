//! Burying: jobs that have not started become failed.

use super::lanes::last_of_lane_first;
use super::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{JobSnapshot, OutcomeCode, OutcomeDetail, Verb};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::session::Session;

pub(crate) const BURY: Verb = Verb::new("bury", "bury", "buried").with_raw_replies();

/// The states of jobs that have not started.
pub(crate) const NOT_STARTED: [State; 5] = [
    State::Waiting,
    State::Stalled,
    State::Scheduled,
    State::Depends,
    State::Throttled,
];

/// Refuses a job that a worker holds, or that has ended.
pub(crate) fn refuse_running_or_ended(job: &JobSnapshot) -> Option<JobOutcome> {
    let jid = &job.jid;
    match job.stored.as_bytes() {
        b"running" => {
            let holder = job.worker.clone().unwrap_or_default();
            let why = OutcomeDetail::Is(format!("{}, held by `{holder}`", job.state));
            Some(JobOutcome::refused(jid, OutcomeCode::StateChanged, why))
        }
        b"complete" => Some(JobOutcome::already_complete(jid)),
        b"failed" => Some(JobOutcome::wrong_state(jid, job.state.clone(), None)),
        _ => None,
    }
}

/// Fails the jobs of a plan, which have not started. The last job of a lane goes first: the bury of the first one would
/// make the next one runnable, and that one would then differ from its snapshot.
pub(crate) fn bury_jobs(
    mut plan: BulkPlan,
    why: &FailureReason,
    session: &mut Session,
) -> Result<Exit, Error> {
    let effects = format!("\n  their group becomes `{}`\n", why.group);
    let consent = plan.ask_consent_or_print_plan(session, &effects)?;
    plan.jobs = last_of_lane_first(plan.jobs, session.now(), session)?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.bury(now, note, jobs, why);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid)
                .with_state_after("failed")
                .with_raw_reply(job.jid.as_bytes())
        })
    })
}
