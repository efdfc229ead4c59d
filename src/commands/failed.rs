//! `qless failed`

use std::time::Duration;

use super::cancel::CancelFlags;
use super::jobs;
use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::{
    BulkFlags, RequireExistingQueueFlag, Selector, SpreadOverTimeFlag, WatchFlag,
};
use crate::args::value;
use crate::bulk::BulkPlan;
use crate::bulk::cancel::{CANCEL, cancel_jobs, refuse_complete};
use crate::bulk::requeue::{RETRY, RetryOptions, retry_jobs};
use crate::command_line::CommandLine;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::JobSnapshot;
use crate::model::failure;
use crate::model::job::State;
use crate::model::list::{JobsAndMissingJids, List};
use crate::name::Name;
use crate::select::nothing;
use crate::session::Session;

/// Show the groups of failed jobs, or the jobs of a group
///
/// Shows each group with its newest failure, and the queues of its newest and oldest 100 jobs; QUEUES
/// ends in `…` if these are not all jobs. `--group` or another selector lists jobs, newest failure
/// first. `--retry-all` puts each of these jobs into its own queue with all its retries, and skips
/// jobs that changed since they were listed. `--cancel-all` deletes them; with `--save`, after writing them to a
/// file. Both ask first.
///
/// Without an action, `--older-than` is an alarm for cron: it lists the jobs that failed at least that long
/// ago and exits with 10. If there are none, it has no output and exits with 0.
///
/// Examples: `qless failed`
/// · `qless failed --group 'upload error' --retry-all`
/// · `qless failed --group 'failed-retries-*' --retry-all --spread 15m --yes`
/// · `qless failed --group 'bad payload' --older-than 30d --cancel-all --dry-run`
/// · `qless failed --older-than 10m`
///
/// Exit codes: 0, also if there are none; 3 some failed, 4 unknown group, 6 server, 9 not
/// confirmed, 10 `--older-than` lists a job.
///
/// See also: `qless retry`, `qless cancel`, `qless help recipes`
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("existing_queue", |flag| flag.requires("to").conflicts_with("cancel_all")),
          mut_arg("spread", |flag| flag.conflicts_with("cancel_all")),
          mut_arg("dependents", |flag| flag.requires("cancel_all").conflicts_with("retry_all")
              .help("With `--cancel-all`: what to do with jobs that depend on one of these")),
          mut_arg("save", |flag| flag.requires("cancel_all").conflicts_with("retry_all")
              .help("With `--cancel-all`: save the jobs to this file first, for `qless import`")))]
pub(crate) struct Args {
    /// Retry these jobs, each in its own queue
    #[arg(long, group = "action")]
    retry_all: bool,
    /// Cancel these jobs
    #[arg(long, group = "action")]
    cancel_all: bool,
    /// Act on all groups
    #[arg(long, requires = "action", conflicts_with_all = ["queues", "groups", "tags", "all"])]
    all_groups: bool,
    /// With `--retry-all`: put them into this queue instead of their own
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(), requires = "retry_all",
          conflicts_with = "cancel_all", add = value::CompletionKind::Queues)]
    to: Option<Name>,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    /// With `--retry-all`: run them after this time
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true,
          requires = "retry_all", conflicts_with = "cancel_all")]
    delay: Option<Duration>,
    #[command(flatten)]
    cancel: CancelFlags,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: SpreadOverTimeFlag,
    #[command(flatten)]
    selector: Selector,
    #[command(flatten)]
    pub watch: WatchFlag,
}

impl Args {
    fn writes(&self) -> bool {
        self.retry_all || self.cancel_all
    }

    /// The failed jobs that an action is for. Refuses to act on all groups unless a flag says so.
    fn selector_for_action(&self) -> Result<Selector, Error> {
        let selector = &self.selector;
        if selector.selects_nothing() && !self.all_groups {
            return Err(Error::usage("no group is given")
                .hint("`--group GROUP` names one, `--all-groups` means all"));
        }
        if selector.states.iter().any(|state| *state != State::Failed) {
            return Err(Error::usage("`qless failed` takes only `--state failed`"));
        }
        selector.with_default_states(&[State::Failed])
    }
}

pub(crate) const SPEC: Spec<Args> =
    Spec::writes_if(HelpGroup::Recover, Args::writes, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    if args.retry_all {
        return retry_all(args, session);
    }
    if args.cancel_all {
        return cancel_all(args, session);
    }
    let spread = args.spread.spread.map(|_| "--spread");
    if let Some(flag) = args.bulk.given_flags().chain(spread).next() {
        return Err(Error::usage(format!(
            "`{flag}` needs `--retry-all` or `--cancel-all`"
        )));
    }
    let mut selector = args.selector;
    if selector.selects_nothing() {
        return list_failure_groups(&selector, session);
    }
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobsAndMissingJids>()?;
    selector = selector.with_default_states(&[State::Failed])?;
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &raw_failed_call(&selector)?);
    }
    let listed = jobs::list_jobs(&selector, true, now, session)?;
    if selector.groups.is_empty() {
        session
            .ui
            .hint("`qless failed` without a selector lists the groups");
    }
    Ok(match (selector.older_than, listed.jobs) {
        (Some(_), 1..) => Exit::Threshold,
        _ => listed.exit,
    })
}

/// `--retry-all`: retries the selected failed jobs.
fn retry_all(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let selector = args.selector_for_action()?;
    let mut plan = BulkPlan::without_jobs(session, &RETRY, &args.bulk)?;
    let now = session.connect()?;
    let options = RetryOptions {
        to: args.to,
        existing: args.existing,
        delay: args.delay,
        ..RetryOptions::default()
    };
    let refuse = |job: &JobSnapshot| options.refuse_not_retriable(job);
    plan.add_selected_jobs(session, now, &selector, refuse)?;
    plan.spread = args.spread.spread.unwrap_or_default();
    retry_jobs(plan, &options, session)
}

/// `--cancel-all`: cancels the selected failed jobs.
fn cancel_all(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let selector = args.selector_for_action()?;
    let mut plan = BulkPlan::without_jobs(session, &CANCEL, &args.bulk)?;
    let now = session.connect()?;
    let save = args.cancel.open_save_file(&args.bulk, session)?;
    plan.add_selected_jobs(session, now, &selector, refuse_complete)?;
    cancel_jobs(plan, args.cancel.dependents, save, now, session)
}

fn list_failure_groups(selector: &Selector, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<List<failure::FailureGroup>>(&[Format::Raw])?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("failed"));
    }
    let (core, out) = session.core_and_ui()?;
    let mut groups = List::of_all(core.failed_groups(now)?);
    let first = groups.items.first().map(|group| group.group.clone());
    groups.keep_page(selector.offset, selector.limit.or(out.default_row_limit()));
    out.show(&groups)?;
    out.note_rows_left_out(
        groups.items.len() as u64,
        groups.total,
        selector.offset,
        "groups",
    );
    match first {
        Some(group) => {
            let failed = CommandLine::new("failed").with_exact_pattern("--group", &group);
            out.hint_if(failed.with_word("--retry-all").shell_line());
        }
        None => {
            out.note_to_people("no failed jobs");
            nothing::hint_why_empty(session, now, None)?;
        }
    }
    Ok(Exit::Ok)
}

/// The call of the core's command `failed`, for `-o raw`. Refuses any selector but one group, which the command takes.
fn raw_failed_call(selector: &Selector) -> Result<Call, Error> {
    let group = match selector.groups.as_slice() {
        [group]
            if selector.has_no_flag_but_group_or_state() && selector.states == [State::Failed] =>
        {
            group.as_plain_name()
        }
        _ => None,
    };
    let unsupported =
        || Error::usage("the core's own `failed` takes one group and no other selector");
    let call = Call::raw_call("failed").arg(group.ok_or_else(unsupported)?);
    let limit = selector.limit.unwrap_or(25);
    Ok(call.arg(selector.offset.to_string()).arg(limit.to_string()))
}
