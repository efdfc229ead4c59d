//! `qless retry`

use std::time::Duration;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{
    BulkFlags, HolderFlags, JobTargets, RequireExistingQueueFlag, Selector, SpreadOverTimeFlag,
};
use crate::args::value;
use crate::bulk::acting_worker::ActingWorker;
use crate::bulk::requeue::{RETRY, RetryOptions, retry_jobs};
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Verb;
use crate::model::bulk::{BulkTableColumns, JobSnapshot};
use crate::model::ending::FailureReason;
use crate::model::job::State;
use crate::name::Name;
use crate::session::Session;

/// Retry failed jobs, each in its own queue
///
/// A failed job goes back to its own queue with all its retries; tags, priority and data stay. A
/// job that changed since it was read is skipped. Jobs that are retried together run in no
/// particular order, except that those of a lane run in the order of their puts. A selector without
/// `--state` means failed jobs, also with `--completed` and `--force`.
///
/// With `--worker` or `--as-holder`, the worker that holds the job retries it: this uses one retry,
/// or fails the job if none remains. It prints the remaining retries.
///
/// Examples: `qless retry 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless retry --group 'upload error' --older-than 1h --rate 20/s --dry-run`
/// · `qless retry --klass 'Mail::*' --message 'timed? out' --spread 15m`
/// · `qless jobs --group boom -o jid | qless retry -`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 the job's state or lock forbids it, 6 server,
/// 9 not confirmed.
///
/// See also: `qless failed`, `qless help selectors`, `qless help recipes`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Failed,
          mut_arg("existing_queue", |flag| flag.requires("to")),
          mut_arg("spread", |flag| flag.conflicts_with_all(["worker", "as_holder"])))]
pub(crate) struct Args {
    /// Put them into this queue instead of their own
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          conflicts_with_all = ["worker", "as_holder"], add = value::CompletionKind::Queues)]
    to: Option<Name>,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    /// Run them after this time
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    delay: Option<Duration>,
    /// New priority; higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true,
          conflicts_with_all = ["worker", "as_holder"])]
    priority: Option<i64>,
    /// Retry complete jobs, too
    #[arg(long, conflicts_with_all = ["worker", "as_holder"])]
    completed: bool,
    /// Retry running jobs, too; their locks are revoked, no retry is used
    #[arg(long, conflicts_with_all = ["worker", "as_holder"])]
    force: bool,
    #[command(flatten)]
    holder: HolderFlags,
    /// Failure group to record with the holder's retry
    #[arg(long, value_name = "G", value_parser = value::new_name(),
          add = value::CompletionKind::Groups)]
    fail_group: Option<Name>,
    /// Failure message to record with the holder's retry
    #[arg(long, value_name = "M", value_parser = value::name(), requires = "fail_group")]
    fail_message: Option<Name>,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: SpreadOverTimeFlag,
    #[command(flatten)]
    jobs: JobTargets,
}

/// The verb for a retry in the name of the worker that holds the job, which uses one retry.
const HOLDER_RETRY: Verb = Verb::new("retry", "retry", "retried")
    .with_table(BulkTableColumns::Remaining)
    .allowing_raw_format();

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Recover, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let by_holder = args.holder.is_holder_given();
    if args.fail_group.is_some() && !by_holder {
        return Err(
            Error::usage("`--fail-group` needs `--worker` or `--as-holder`")
                .hint("only the worker that holds a job records a failure with its retry"),
        );
    }
    if by_holder {
        return retry_as_holder(&args, session);
    }
    let options = RetryOptions {
        to: args.to,
        existing: args.existing,
        delay: args.delay,
        priority: args.priority,
        completed: args.completed,
        force: args.force,
    };
    note_flags_ineffective_without_state(&options, &args.jobs.selector, session);
    let (flags, targets) = (&args.bulk, &args.jobs);
    let refuse = |job: &JobSnapshot| options.refuse_not_retriable(job);
    let mut plan = BulkPlan::of_targets(session, &RETRY, flags, targets, &[State::Failed], refuse)?;
    plan.spread = args.spread.spread.unwrap_or_default();
    retry_jobs(plan, &options, session)
}

/// Prints a note if `--completed` or `--force` has no effect because `--state` is missing: a selector without
/// `--state` selects only failed jobs.
fn note_flags_ineffective_without_state(
    options: &RetryOptions,
    selector: &Selector,
    session: &mut Session,
) {
    if !selector.states.is_empty() || selector.selects_nothing() {
        return;
    }
    for (given, flag, state) in [
        (options.completed, "--completed", "complete"),
        (options.force, "--force", "running"),
    ] {
        if given {
            session.ui.note(&format!(
                "note: only failed jobs are selected; `{flag}` needs `--state {state}` to select {state} jobs"
            ));
        }
    }
}

/// Retries jobs in the name of the worker that holds them.
fn retry_as_holder(args: &Args, session: &mut Session) -> Result<Exit, Error> {
    let name = ActingWorker::from_holder_flags(&args.holder)?;
    let delay = args.delay.unwrap_or_default();
    let why = args.fail_group.clone().map(|group| FailureReason {
        group,
        message: args.fail_message.clone().unwrap_or_default(),
    });
    let (flags, targets) = (&args.bulk, &args.jobs);
    let refuse = |job: &JobSnapshot| name.refuse_not_held(job);
    let plan = BulkPlan::of_targets(
        session,
        &HOLDER_RETRY,
        flags,
        targets,
        &[State::Running],
        refuse,
    )?;
    let consent = plan.ask_consent_or_print_plan(session, "")?;
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let worker = |job: &JobSnapshot| name.acting_worker_for(job);
        let replies = core.retry(now, note, jobs, worker, delay, why.as_ref());
        add_outcomes_of_replies(outcomes, jobs, replies, |job, remaining| {
            let state = match remaining {
                ..0 => "failed",
                _ if delay.is_zero() => "waiting",
                _ => "scheduled",
            };
            let shown = match remaining {
                ..0 => "0, failed".to_owned(),
                _ => remaining.to_string(),
            };
            let outcome = JobOutcome::done(&job.jid)
                .with_state_after(state)
                .with_raw_reply(remaining.to_string().as_bytes());
            outcome.with_cells([Name::from(shown)])
        })
    })
}
