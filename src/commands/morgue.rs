//! `qless morgue`

use std::collections::HashSet;

use clap::ValueEnum;

use super::bury::{BURY, NOT_STARTED, bury_jobs, refuse_running_or_ended};
use super::jobs;
use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{BulkFlags, Selector, SelectorWithoutFailureFlags};
use crate::args::value;
use crate::bulk::cancel::{CANCEL, cancel_jobs, refuse_complete};
use crate::bulk::requeue::{RETRY, RetryOptions, retry_jobs};
use crate::bulk::{BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::DependentsPolicy;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::model::bulk::{BulkReport, OutcomeCode};
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::ending::{FailureReason, exhausted_retries_group};
use crate::model::job::{Job, State};
use crate::model::list::JobsAndMissingJids;
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::session::Session;

/// Show, requeue and delete the dead jobs of a queue
///
/// The morgue of a queue has the jobs that failed because a retry was due and none remained, in whatever group they
/// failed, and those that were buried (group `failed-retries-QUEUE`). With `--group`, it has all failed jobs of
/// the queue in that group instead.
///
/// `list` lists the jobs, group by group, the newest failure first; `--sort age` and `--sort jid` sort
/// them. `requeue` puts them into the
/// queue again with all their retries, as `qless retry` does. `delete` deletes them, as `qless cancel`
/// does. Both take jids, or `--all`.
///
/// `bury --retrying` moves jobs of the queue into the morgue that have used a retry and are not
/// running. `drop --retrying` deletes these jobs.
///
/// Examples: `qless morgue mail list`
/// · `qless morgue mail requeue 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless morgue mail requeue --all --rate 20/s`
/// · `qless morgue mail --group 'bad payload' delete --all --dry-run`
/// · `qless morgue mail bury --retrying --yes`
///
/// Exit codes: 0, also if there are none; 3 some failed, 4 unknown queue, group or jid, 5 the job is
/// not in the morgue, 6 server, 9 not confirmed.
///
/// See also: `qless failed`, `qless retry`, `qless bury`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Failed)]
pub(crate) struct Args {
    /// Queue
    #[arg(value_name = "QUEUE", value_parser = value::name(), add = value::CompletionKind::Queues)]
    queue: Name,
    /// What to do
    #[arg(value_name = "ACTION")]
    action: MorgueAction,
    /// Jids of dead jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", add = value::CompletionKind::Targets)]
    jids: Vec<ValueFileOrStdinArg>,
    /// All failed jobs of this group; with `bury`, the group to record [default: `failed-retries-QUEUE`]
    #[arg(long, value_name = "G", value_parser = value::new_name(), add = value::CompletionKind::Groups)]
    group: Option<Name>,
    /// With `requeue` and `delete`: all dead jobs
    #[arg(long, conflicts_with = "jids")]
    all: bool,
    /// With `bury` and `drop`: jobs that have used a retry and are not running
    #[arg(long, conflicts_with_all = ["jids", "all"])]
    retrying: bool,
    /// With `bury`: failure message
    #[arg(long, value_name = "M", value_parser = value::name(), allow_hyphen_values = true)]
    message: Option<Name>,
    /// With `delete` and `drop`: what to do with jobs that depend on one of these
    #[arg(long, value_enum, default_value = "refuse", value_name = "HOW")]
    dependents: DependentsPolicy,
    #[command(flatten)]
    bulk: BulkFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MorgueAction {
    /// List the dead jobs
    #[value(alias = "ls")]
    List,
    /// Put dead jobs into the queue again
    Requeue,
    /// Delete dead jobs
    Delete,
    /// Fail jobs that have used a retry
    Bury,
    /// Delete jobs that have used a retry
    Drop,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(
    HelpGroup::Recover,
    |args| args.action != MorgueAction::List,
    run,
)
.context_member_dispatch(|args| MemberDispatch::Jobs(&args.jids));

/// The failure message that `bury` records if `--message` is not given.
const MESSAGE: &str = "buried while it was retrying";

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    args.validate_action_flags()?;
    let morgue = MorgueQueueAndGroup::from_args(&args);
    match args.action {
        MorgueAction::List => {
            let now = session.connect_to_show::<JobsAndMissingJids>(&[Format::Jid])?;
            jobs::list_jobs(&morgue.morgue_selector(), true, now, session).map(|listed| listed.exit)
        }
        MorgueAction::Requeue => {
            let options = RetryOptions::default();
            let refuse = |job: &JobSnapshot| options.refuse_not_retriable(job);
            let plan = morgue.plan_dead_jobs(&args, &RETRY, refuse, session)?;
            retry_jobs(plan, &options, session)
        }
        MorgueAction::Delete => {
            let plan = morgue.plan_dead_jobs(&args, &CANCEL, refuse_complete, session)?;
            cancel_jobs(plan, args.dependents, None, session.now(), session)
        }
        MorgueAction::Bury => {
            let why = FailureReason {
                group: morgue
                    .group
                    .clone()
                    .unwrap_or_else(|| exhausted_retries_group(&args.queue)),
                message: args.message.clone().unwrap_or_else(|| MESSAGE.into()),
            };
            let plan = morgue.plan_retrying_jobs(&args, &BURY, session)?;
            bury_jobs(plan, &why, session)
        }
        MorgueAction::Drop => {
            let plan = morgue.plan_retrying_jobs(&args, &CANCEL, session)?;
            cancel_jobs(plan, args.dependents, None, session.now(), session)
        }
    }
}

impl Args {
    /// Refuses flags that the action does not take.
    fn validate_action_flags(&self) -> Result<(), Error> {
        let action = match self.action {
            MorgueAction::List => "list",
            MorgueAction::Requeue => "requeue",
            MorgueAction::Delete => "delete",
            MorgueAction::Bury => "bury",
            MorgueAction::Drop => "drop",
        };
        let given = [
            ("jids", !self.jids.is_empty()),
            ("--all", self.all),
            ("--retrying", self.retrying),
            ("--message", self.message.is_some()),
            ("--dependents", self.dependents != DependentsPolicy::Refuse),
        ];
        let given = given.into_iter().filter(|(_, given)| *given);
        let mut given = given.map(|(what, _)| what).chain(self.bulk.given_flags());
        let refused: &[&str] = match self.action {
            MorgueAction::List => &[],
            MorgueAction::Requeue => &["--retrying", "--message", "--dependents"],
            MorgueAction::Delete => &["--retrying", "--message"],
            MorgueAction::Bury => &["jids", "--all", "--dependents"],
            MorgueAction::Drop => &["jids", "--all", "--message"],
        };
        let takes = |what: &str| self.action != MorgueAction::List && !refused.contains(&what);
        if let Some(what) = given.find(|what| !takes(what)) {
            let what = match what {
                "jids" => what.to_owned(),
                flag => format!("`{flag}`"),
            };
            return Err(Error::usage(format!("`{action}` does not take {what}")));
        }
        let acts_on_dead = matches!(self.action, MorgueAction::Requeue | MorgueAction::Delete);
        if acts_on_dead && self.jids.is_empty() && !self.all {
            let error = Error::usage(format!("`{action}` requires jids or `--all`"));
            let list = CommandLine::new("morgue")
                .with_name_argument(&self.queue)
                .with_name_argument("list");
            return Err(error.hint_if(list.fill_sentence("{} lists the dead jobs")));
        }
        if matches!(self.action, MorgueAction::Bury | MorgueAction::Drop) && !self.retrying {
            let error = Error::usage(format!("`{action}` requires `--retrying`"));
            return Err(error.hint(match self.action {
                MorgueAction::Bury => "`qless bury` buries jobs by jid or selector",
                _ => "`qless cancel` deletes jobs by jid or selector",
            }));
        }
        Ok(())
    }
}

/// The criterion for dead jobs of a queue: no retries are left, or the failure has a given group.
struct MorgueQueueAndGroup {
    queue: Name,
    /// The given group. `None` means that no retries are left.
    group: Option<Name>,
}

impl MorgueQueueAndGroup {
    fn from_args(args: &Args) -> MorgueQueueAndGroup {
        MorgueQueueAndGroup {
            queue: args.queue.clone(),
            group: args.group.clone(),
        }
    }

    fn morgue_selector(&self) -> Selector {
        Selector {
            groups: self.group.iter().cloned().map(NamePattern::Plain).collect(),
            ..Selector::from(SelectorWithoutFailureFlags {
                queues: vec![NamePattern::Plain(self.queue.clone())],
                states: vec![State::Failed],
                dead: self.group.is_none(),
                ..SelectorWithoutFailureFlags::default()
            })
        }
    }

    fn contains_job(&self, job: &Job) -> bool {
        let group = job.failure.as_ref().map(|failure| &failure.group);
        job.queue.as_ref() == Some(&self.queue)
            && match &self.group {
                Some(named) => group == Some(named),
                None => job.is_in_morgue(),
            }
    }

    /// Plans the action for the dead jobs that the arguments name, or for all dead jobs with `--all`.
    fn plan_dead_jobs(
        &self,
        args: &Args,
        verb: &'static Verb,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
        session: &mut Session,
    ) -> Result<BulkPlan, Error> {
        session.ui.require_format(&[Format::Jid])?;
        session.ui.check_columns::<BulkReport>()?;
        let given = jids::read_jids(&mut session.input(), &args.jids)?;
        let mut plan = BulkPlan::without_jobs(session, verb, &args.bulk)?;
        let now = session.connect()?;
        if args.all {
            plan.add_selected_jobs(session, now, &self.morgue_selector(), refuse)?;
            return Ok(plan);
        }
        let fields = "jid,queue,shown,failure,remaining";
        let jobs = session
            .core()?
            .jobs_with_fields(now, fields, given.jids())?;
        let dead = jobs
            .into_iter()
            .flatten()
            .filter(|job| self.contains_job(job));
        let dead: HashSet<Name> = dead.map(|job| job.jid).collect();
        // The snapshots are newer than `dead`.
        let refuse = |job: &JobSnapshot| {
            if dead.contains(&job.jid) && job.has_stored_state("failed") {
                None
            } else {
                Some(self.not_in_morgue_outcome(job, verb))
            }
        };
        plan.add_named_jobs(session, now, &given, refuse)?;
        Ok(plan)
    }

    /// The refusal of a job that is not in this morgue, with the reason and the command that acts on it all the same.
    fn not_in_morgue_outcome(&self, job: &JobSnapshot, verb: &Verb) -> JobOutcome {
        if !job.has_stored_state("failed") {
            return JobOutcome::wrong_state(&job.jid, job.state.clone(), Some("failed"));
        }
        let why = match (&self.group, &job.queue) {
            (_, Some(queue)) if *queue != self.queue => {
                format!("it failed in queue `{queue}`, not in `{}`", self.queue)
            }
            (Some(group), _) => format!("it did not fail in `{}` with group `{group}`", self.queue),
            (None, _) => format!("its retries are not used up in `{}`", self.queue),
        };
        let command = CommandLine::new(verb.word).with_name_argument(&job.jid);
        let hint = command.fill_sentence(&format!("{} it all the same: {{}}", verb.word));
        JobOutcome::refused(&job.jid, OutcomeCode::StateChanged, why).hint_if(hint)
    }

    /// Plans the action for the jobs of the queue that have used a retry and are not running.
    fn plan_retrying_jobs(
        &self,
        args: &Args,
        verb: &'static Verb,
        session: &mut Session,
    ) -> Result<BulkPlan, Error> {
        session.ui.require_format(&[Format::Jid])?;
        session.ui.check_columns::<BulkReport>()?;
        let mut plan = BulkPlan::without_jobs(session, verb, &args.bulk)?;
        let now = session.connect()?;
        session.core()?.require_queue(now, &self.queue)?;
        let selector = Selector::from(SelectorWithoutFailureFlags {
            queues: vec![NamePattern::Plain(self.queue.clone())],
            states: NOT_STARTED.to_vec(),
            retrying: args.retrying,
            ..SelectorWithoutFailureFlags::default()
        });
        plan.add_selected_jobs(session, now, &selector, refuse_running_or_ended)?;
        Ok(plan)
    }
}
