//! `qless timeout`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{BulkFlags, JobTargets};
use crate::args::value;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::job::State;
use crate::session::Session;

/// Revoke the locks on running jobs
///
/// The worker gets an event, and `qless work` stops the program. The job is the next one that its queue runs; no
/// retry is used. Whoever gets it does not wait until the program has ended: both may run for up to `--kill-after`,
/// as may the next job of its lane, lock or throttle. `QLESS_FENCE` tells them apart.
///
/// Examples: `qless timeout 77be2d0c4a1f4e0f9f0d3b6a5c8e7f10`
/// · `qless timeout --held-by 'mx-2-*' --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not running, 6 server, 9 not confirmed.
///
/// See also: `qless retry --force`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Held)]
pub(crate) struct Args {
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: JobTargets,
}

const TIMEOUT: Verb = Verb {
    of_one: Some("revoked the lock on"),
    ..Verb::new("timeout", "time out", "timed out").allowing_raw_format()
};

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let (flags, targets) = (&args.bulk, &args.jobs);
    let states = &[State::Running, State::Stalled];
    let plan = BulkPlan::of_targets(
        session,
        &TIMEOUT,
        flags,
        targets,
        states,
        refuse_not_running,
    )?;
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let replies = core.revoke_locks(now, note, jobs);
        add_outcomes_of_replies(outcomes, jobs, replies, |job, ()| {
            JobOutcome::done(&job.jid).with_state_after("stalled")
        })
    })
}

fn refuse_not_running(job: &JobSnapshot) -> Option<JobOutcome> {
    if job.has_stored_state("running") {
        return None;
    }
    let outcome = JobOutcome::wrong_state(&job.jid, job.state.clone(), Some("running"));
    Some(outcome.with_already_as_asked(job.has_stored_state("stalled")))
}
