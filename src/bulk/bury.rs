//! Burying: jobs that have not started become failed.

use super::order;
use super::{BulkPlan, JobOutcome, SliceOutcome};
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Verb;
use crate::model::bulk::{Code, ItemDetail, RowContent};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::session::Session;

pub(crate) const BURY: Verb = Verb {
    word: "bury",
    infinitive: "bury",
    past: "buried",
    of_one: None,
    row_content: RowContent::Nothing,
};

/// The states of jobs that have not started.
pub(crate) const NOT_STARTED: [State; 5] = [
    State::Waiting,
    State::Stalled,
    State::Scheduled,
    State::Depends,
    State::Throttled,
];

/// Refuses a job that a worker holds, or that has ended.
pub(crate) fn refuse(job: &JobSnapshot) -> Option<JobOutcome> {
    let jid = &job.jid;
    match job.stored.as_bytes() {
        b"running" => {
            let holder = job.worker.clone().unwrap_or_default();
            let why = ItemDetail::Is(format!("{}, held by `{holder}`", job.state));
            Some(JobOutcome::refused(jid, Code::StateChanged, why))
        }
        b"complete" => Some(JobOutcome::complete(jid)),
        b"failed" => Some(JobOutcome::wrong_state(jid, job.state.clone(), None)),
        _ => None,
    }
}

/// Refuses the same jobs, with the command that fails a running one.
pub(crate) fn refuse_with_hint(job: &JobSnapshot, fail: &CommandLine) -> Option<JobOutcome> {
    let outcome = refuse(job)?;
    Some(if job.is("running") {
        let fail = fail.clone().name(&job.jid);
        outcome.hint_if(fail.within("fail it for its worker: {}"))
    } else {
        outcome
    })
}

/// Fails the jobs of a plan, after a question if they were selected. Of a lane, the last job goes
/// first: the bury of the first one would make the next one runnable, and that one would then differ
/// from its snapshot.
pub(crate) fn run(
    mut plan: BulkPlan,
    why: &FailureReason,
    session: &mut Session,
) -> Result<Exit, Error> {
    plan.consent(
        session,
        &format!("\n  their group becomes `{}`\n", why.group),
    )?;
    let jobs = std::mem::take(&mut plan.jobs);
    plan.jobs = order::last_of_lane_first(jobs, session.now(), session)?;
    let note = plan.note();
    plan.run(session, |core, now, jobs| {
        let replies = core.bury(now, &note, jobs, why);
        SliceOutcome::each(jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid)
                .state_after("failed")
                .raw(job.jid.as_bytes())
        })
    })
}
