//! `qless promote`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{BulkFlags, JobTargets, SpreadOverTimeFlag};
use crate::args::value;
use crate::bulk::requeue::{due_after_delay_and_spread, wrong_state_outcome};
use crate::bulk::{BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::job::State;
use crate::session::Session;

/// Run scheduled jobs now
///
/// They become waiting in their own queue, with their priority and their remaining retries. A
/// selector without `--state` means scheduled jobs.
///
/// Example: `qless promote 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
///
/// Example: `qless promote --queue mail --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not scheduled, 6 server, 9 not confirmed.
///
/// See also: `qless move`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Scheduled)]
pub(crate) struct Args {
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: SpreadOverTimeFlag,
    #[command(flatten)]
    jobs: JobTargets,
}

const PROMOTE: Verb = Verb::new("promote", "promote", "promoted");

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Submit, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

/// Runs scheduled jobs now, also the `waiting` jobs that an older core left in the schedule.
fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let states = &[State::Scheduled];
    let (flags, targets) = (&args.bulk, &args.jobs);
    let mut plan = BulkPlan::of_targets(
        session,
        &PROMOTE,
        flags,
        targets,
        states,
        refuse_not_scheduled,
    )?;
    plan.spread = args.spread.spread.unwrap_or_default();
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    // The core refuses a job that waits in its lane and a job with dependencies in one way. The job in the lane gets
    // another refusal here, because `depends --off-all` does not release that job.
    plan.add_lane_wait_to_single_refusal(session)?;
    let begun = session.now();
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let due = |job: &JobSnapshot| due_after_delay_and_spread(None, job, begun, now);
        let jobs: Vec<_> = jobs.iter().map(|job| (job, due(job))).collect();
        outcomes.extend(core.requeue_jobs(now, note, RequeueVerb::Promote, None, None, &jobs)?);
        Ok(())
    })
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
