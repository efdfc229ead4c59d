//! `qless move`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{
    BulkFlags, DueTimeFlags, JobTargets, RequireExistingQueueFlag, SpreadOverTimeFlag,
};
use crate::args::value;
use crate::bulk::requeue::{due_after_delay_and_spread, wrong_state_outcome};
use crate::bulk::{BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{JobSnapshot, OutcomeCode, Verb};
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;

/// Move jobs to another queue
///
/// A moved job has all its retries again; data, tags and priority stay. A scheduled time that is
/// still ahead stays, unless `--delay` or `--at` is given. A job with dependencies keeps them.
/// Failed and complete jobs run again in the new queue; a selector without `--state` leaves
/// complete jobs out. Running jobs are moved only with `--force`.
///
/// Example: `qless move 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --to mail-slow`
///
/// Example: `qless move --queue mail --tag bulk --to mail-slow --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 running, or already in that queue, 6 server, 9
/// not confirmed.
///
/// See also: `qless promote`, `qless retry`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// New queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::CompletionKind::Queues)]
    to: Name,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    #[command(flatten)]
    later: DueTimeFlags,
    /// Move running jobs, too; their locks are revoked
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: SpreadOverTimeFlag,
    #[command(flatten)]
    jobs: JobTargets,
}

const MOVE: Verb = Verb::new("move", "move", "moved");

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Submit, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let states = State::UNFINISHED;
    let refuse = |job: &JobSnapshot| args.refuse_held_or_already_there(job);
    let (flags, targets) = (&args.bulk, &args.jobs);
    let mut plan = BulkPlan::of_targets(session, &MOVE, flags, targets, states, refuse)?;
    plan.spread = args.spread.spread.unwrap_or_default();
    let new_queue = plan.note_or_refuse_new_queue(Some(&args.to), args.existing, session)?;
    let effects = effect_lines(&args.to, &plan) + &new_queue;
    let consent = plan.ask_consent_or_print_plan(session, &effects)?;
    let begun = session.now();
    let at = args.later.given_due_moment(begun);
    let to = Some(&args.to);
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        // A job keeps its own scheduled time, also if the starts of the other jobs are spread over a time.
        let due = |job: &JobSnapshot| match (args.later.delay, at, job.due) {
            (None, Some(at), _) => Some(at.plus(job.later)),
            (None, None, Some(due)) => Some(due),
            (delay, ..) => due_after_delay_and_spread(delay, job, begun, now),
        };
        let jobs: Vec<_> = jobs.iter().map(|job| (job, due(job))).collect();
        outcomes.extend(core.requeue_jobs(now, note, RequeueVerb::Move, to, None, &jobs)?);
        Ok(())
    })
}

impl Args {
    /// Refuses a job that a worker holds, unless `--force` is given. Also refuses a job that is in the queue
    /// already, unless the move runs it again or at another time.
    fn refuse_held_or_already_there(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let running = job.state.as_bytes() == b"running";
        if running && !self.force {
            let by_force = CommandLine::new("move --force").with_flag("--to", &self.to);
            let by_force = by_force.with_name_argument(&job.jid);
            return Some(
                wrong_state_outcome(job).hint_if(by_force.fill_sentence("take its lock away: {}")),
            );
        }
        let changes_place = running
            || job.has_stored_state("failed")
            || job.has_stored_state("complete")
            || self.later.is_time_given();
        if !changes_place && job.queue.as_ref() == Some(&self.to) {
            let why = format!("it is in `{}` already", self.to);
            let outcome = JobOutcome::refused(&job.jid, OutcomeCode::StateChanged, why);
            return Some(outcome.with_already_as_asked(true));
        }
        None
    }
}

/// Where the jobs go, for the question.
fn effect_lines(to: &Name, plan: &BulkPlan) -> String {
    let ended =
        |job: &&JobSnapshot| job.has_stored_state("failed") || job.has_stored_state("complete");
    let again = match plan.jobs.iter().filter(ended).count() as u64 {
        0 => String::new(),
        1 => "; 1 of them failed or is complete: it runs again".into(),
        many => format!("; {many} of them failed or are complete: they run again"),
    };
    format!("\n  all go to `{to}` with fresh retries{again}\n")
}
