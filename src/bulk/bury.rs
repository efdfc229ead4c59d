//! Burying: jobs that have not started become failed.

use super::order;
use super::{BulkAction, JobOutcome, SliceOutcome};
use crate::command_line::CommandLine;
use crate::model::bulk::Verb;
use crate::model::bulk::{BulkTableColumns, OutcomeCode, OutcomeDetail};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;

pub(crate) const BURY: Verb = Verb {
    word: "bury",
    infinitive: "bury",
    past: "buried",
    of_one: None,
    table_columns: BulkTableColumns::Nothing,
    raw: true,
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

/// Fails jobs that have not started. `command_if_running` is the command that fails a running one, without the
/// jid. The last job of a lane goes first: the bury of the first one would make the next one
/// runnable, and that one would then differ from its snapshot.
pub(crate) fn bury_action<'a>(
    why: &'a FailureReason,
    command_if_running: Option<&'a CommandLine>,
) -> BulkAction<'a> {
    let bury = BulkAction::new(&BURY, |core, slice| {
        let replies = core.bury(slice.now, slice.note, slice.jobs, why);
        SliceOutcome::from_replies(slice.jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid)
                .with_state_after("failed")
                .with_raw_reply(job.jid.as_bytes())
        })
    });
    bury.with_default_states(&NOT_STARTED)
        .refuse_if(move |job| {
            let outcome = refuse_running_or_ended(job)?
                .with_already_as_asked(job.has_failed_in_group(&why.group));
            let fail = command_if_running.filter(|_| job.has_stored_state("running"));
            let fail = fail.and_then(|fail| {
                let fail = fail.clone().with_name_argument(&job.jid);
                fail.fill_sentence("fail it for its worker: {}")
            });
            Some(outcome.hint_if(fail))
        })
        .describe_effects(|_| format!("\n  their group becomes `{}`\n", why.group))
        .with_step_after_consent(|plan, session| {
            let jobs = std::mem::take(&mut plan.jobs);
            plan.jobs = order::last_of_lane_first(jobs, session.now(), session)?;
            Ok(())
        })
}
