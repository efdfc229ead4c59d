//! `qless complete`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::coordination::{CoordinationFlags, ThrottleArg};
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{
    BulkFlags, DueTimeFlags, HolderFlags, MaxInputDataFlag, RequireExistingQueueFlag,
};
use crate::args::value;
use crate::bulk::acting_worker::ActingWorker;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::bulk::{maxima, new_queues};
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::bulk::{BulkTableColumns, OutcomeCode};
use crate::model::bulk::{JobSnapshot, Verb};
use crate::model::complete::CompletedJob;
use crate::model::done::CommandResult;
use crate::model::ending::NextQueue;
use crate::name::Name;
use crate::session::Session;
use crate::text::short_jid;

/// Complete jobs, or advance them to another queue
///
/// The call is made in the name of the worker that holds the job. Prints the new state; for several
/// jobs jid and state of each. A job that is not running is skipped.
///
/// Examples: `qless complete 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless complete 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --next thumbs --delay 5m`
/// · `qless pop mail --count 100 -o jid | qless complete -`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid or dependency, 5 not running or held by another
/// worker, 6 server, 9 not confirmed.
///
/// See also: `qless pop`, `qless fail`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Jids of the jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, add = value::CompletionKind::Jids(value::JidCompletionKind::Held))]
    jids: Vec<ValueFileOrStdinArg>,
    /// New data of the jobs: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<ValueFileOrStdinArg>,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    /// Advance the jobs to this queue instead of completing them
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::CompletionKind::Queues)]
    next: Option<Name>,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    #[command(flatten)]
    later: DueTimeFlags,
    /// Jid of a job that must be complete first
    #[arg(long, value_name = "JID", value_parser = value::name(), requires = "next",
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    depends: Vec<Name>,
    #[command(flatten)]
    coordinated: CoordinationFlags,
    #[command(flatten)]
    holder: HolderFlags,
    #[command(flatten)]
    bulk: BulkFlags,
}

const COMPLETE: Verb = Verb::new("complete", "complete", "completed")
    .with_table(BulkTableColumns::States)
    .allowing_raw_format();

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Work, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jids));

/// How jobs are completed.
struct CompleteOptions {
    data: Option<Vec<u8>>,
    next: Option<NextQueue>,
    worker: ActingWorker,
}

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    if args.next.is_none() && args.later.is_time_given() {
        return Err(Error::usage("`--delay` and `--at` need `--next`")
            .hint("a completed job does not run again"));
    }
    let coordination = args.coordinated.coordination_options();
    if args.next.is_none() && !coordination.is_empty() {
        return Err(Error::usage(
            "`--key`, `--hold`, `--lock`, `--throttle` and `--backoff` need `--next`",
        )
        .hint("a completed job does not run again"));
    }
    let mut source = session.input();
    let given = jids::read_jids(&mut source, &args.jids)?;
    let data = match &args.data {
        Some(given) => Some(data::read_json_data(&mut source, given, args.limit.max_data)?.0),
        None => None,
    };
    let plan = BulkPlan::without_jobs(session, &COMPLETE, &args.bulk)?;
    let now = session.connect()?;
    let queues = args.next.as_slice();
    new_queues::note_or_refuse_new_queues(queues, args.existing, args.bulk.dry_run, now, session)?;
    let later = args.later.delay_until_due(now);
    let completion = CompleteOptions {
        data,
        worker: ActingWorker::from_holder_flags(&args.holder)?,
        next: args.next.map(|queue| NextQueue {
            queue,
            delay: later,
            depends: args.depends,
            coordination,
        }),
    };
    let throttles = &args.coordinated.throttles;
    match given {
        GivenJids::One(jid) => match args.bulk.given_flag_for_several_jobs() {
            Some(flag) => Err(Error::usage(format!("`{flag}` needs several jobs"))),
            None => complete_single_job(&jid, &completion, throttles, &plan, now, session),
        },
        GivenJids::Many(_) => {
            complete_several_jobs(&given, completion, throttles, plan, now, session)
        }
    }
}

fn complete_single_job(
    jid: &Name,
    completion: &CompleteOptions,
    throttles: &[ThrottleArg],
    plan: &BulkPlan,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let verb = COMPLETE.infinitive;
    let CompleteOptions { data, next, worker } = completion;
    let job = worker.read_held_job(session.core()?, now, jid, verb)?;
    if would_depend_on_itself(next.as_ref(), jid) {
        return Err(Error::conflict(format!("`{jid}` cannot depend on itself")).about_jid(jid));
    }
    refuse_missing_dependencies(next.as_ref(), now, session)?;
    maxima::set_changed_maxima(throttles, plan.is_dry_run(), now, session)?;
    let shown = short_jid(jid);
    if plan.is_dry_run() {
        session.ui.note(&match next {
            Some(next) => format!("would advance {shown} to {}", next.queue),
            None => format!("would complete {shown}"),
        });
        return session
            .ui
            .show_and_exit_ok(&CommandResult::new(verb, vec![jid.clone()], true));
    }
    let jobs = std::slice::from_ref(&job);
    let replies = session.core()?.complete(
        now,
        &plan.note,
        jobs,
        |job| worker.acting_worker_for(job),
        data.as_deref(),
        next.as_ref(),
    );
    let state = JobOutcome::single_reply(&job, verb, replies)?;
    if let Some(replicas) = plan.flags.replicas.wait_replicas {
        session.core()?.wait_for_replicas(replicas)?;
    }
    let done = CompletedJob {
        jid: jid.clone(),
        state,
        queue: next.as_ref().map(|next| next.queue.clone()),
    };
    session.ui.show(&done)?;
    session.ui.note_to_people(&match &done.queue {
        Some(queue) => format!("completed {shown}, now in {queue}"),
        None => format!("completed {shown}"),
    });
    Ok(Exit::Ok)
}

/// Completes several jobs. Does not ask first, because the command acts for a worker.
fn complete_several_jobs(
    given: &GivenJids,
    completion: CompleteOptions,
    throttles: &[ThrottleArg],
    mut plan: BulkPlan,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    refuse_missing_dependencies(completion.next.as_ref(), now, session)?;
    let refuse = |job: &JobSnapshot| completion.refuse_not_completable(job);
    plan.add_named_jobs(session, now, given, refuse)?;
    if !plan.jobs.is_empty() {
        maxima::set_changed_maxima(throttles, plan.is_dry_run(), now, session)?;
    }
    let CompleteOptions { data, next, worker } = &completion;
    let consent = if plan.is_dry_run() {
        let advance = |next: &NextQueue| format!("\n  each advances to `{}`\n", next.queue);
        let effects = next.as_ref().map_or(String::new(), advance);
        plan.ask_consent_or_print_plan(session, &effects)?
    } else {
        Some(session.ui.consent_without_question())
    };
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let worker = |job: &JobSnapshot| worker.acting_worker_for(job);
        let states = core.complete(now, note, jobs, worker, data.as_deref(), next.as_ref());
        add_outcomes_of_replies(outcomes, jobs, states, |job, state| {
            let mut outcome = JobOutcome::done(&job.jid).with_raw_reply(state.as_bytes());
            outcome.state_after = Some(state.clone());
            outcome.with_cells([state])
        })
    })
}

impl CompleteOptions {
    fn refuse_not_completable(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let CompleteOptions { data, next, worker } = self;
        let itself = would_depend_on_itself(next.as_ref(), &job.jid);
        let cycle =
            || JobOutcome::refused(&job.jid, OutcomeCode::Cycle, "it cannot depend on itself");
        let refused = worker.refuse_not_held(job).map(|outcome| {
            let as_asked = next.is_none() && data.is_none() && job.has_stored_state("complete");
            outcome.with_already_as_asked(as_asked)
        });
        refused.or_else(|| itself.then(cycle))
    }
}

fn would_depend_on_itself(next: Option<&NextQueue>, jid: &Name) -> bool {
    next.is_some_and(|next| next.depends.contains(jid))
}

/// Refuses dependencies that do not exist, because the core would ignore them without an error.
fn refuse_missing_dependencies(
    next: Option<&NextQueue>,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    let depends = next.map_or(&[][..], |next| next.depends.as_slice());
    let found = session.core()?.job_snapshots(now, depends)?;
    for (jid, found) in depends.iter().zip(found) {
        if found.is_none() {
            return Err(Error::not_found(format!(
                "`{jid}` does not exist, so no job can depend on it"
            )));
        }
    }
    Ok(())
}
