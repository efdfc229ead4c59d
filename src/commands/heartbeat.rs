//! `qless heartbeat`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{BulkFlags, DryRunFlag, HolderFlags, MaxInputDataFlag};
use crate::args::value;
use crate::bulk::acting_worker::ActingWorker;
use crate::bulk::{BulkPlan, JobOutcome, add_outcomes_of_replies};
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::bulk::Verb;
use crate::model::bulk::{BulkTableColumns, JobSnapshot};
use crate::model::complete::ExtendedLock;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::text::short_jid;

/// Extend the locks on jobs
///
/// The call is made in the name of the worker that holds the job. Prints the new expiry; for several
/// jobs jid and expiry of each. A job that is not running is skipped.
///
/// Examples: `qless heartbeat 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless jobs --held-by mx-1 -o jid | qless heartbeat - --worker mx-1`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not running or held by another worker, 6 server.
///
/// See also: `qless pop`, `qless config get heartbeat`
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
    #[command(flatten)]
    holder: HolderFlags,
    #[command(flatten)]
    dry: DryRunFlag,
}

const HEARTBEAT: Verb = Verb::new("heartbeat", "extend the lock on", "extended")
    .with_table(BulkTableColumns::Expiries)
    .allowing_raw_format();

/// The word for errors about one job.
const VERB: &str = "heartbeat";

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Work, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    let mut source = session.input();
    let given = jids::read_jids(&mut source, &args.jids)?;
    let data = match &args.data {
        Some(given) => Some(data::read_json_data(&mut source, given, args.limit.max_data)?.0),
        None => None,
    };
    let now = session.connect()?;
    let worker = ActingWorker::from_holder_flags(&args.holder)?;
    let dry = args.dry.dry_run;
    match given {
        GivenJids::One(jid) => extend_lock(jid, data.as_deref(), &worker, dry, now, session),
        GivenJids::Many(_) => extend_locks(&given, data.as_deref(), &worker, dry, now, session),
    }
}

/// Extends the lock on one job.
fn extend_lock(
    jid: Name,
    data: Option<&[u8]>,
    worker: &ActingWorker,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let job = worker.read_held_job(session.core()?, now, &jid, VERB)?;
    if dry_run {
        let shown = short_jid(&jid);
        session
            .ui
            .note_dry_run_changes(&format!("would extend the lock on {shown}"));
        return session
            .ui
            .show_and_exit_ok(&CommandResult::new(VERB, vec![jid], true));
    }
    let holder = worker.acting_worker_for(&job);
    let jobs = std::slice::from_ref(&job);
    let replies = session
        .core()?
        .heartbeat(now, jobs, |_| holder.clone(), data);
    let end = JobOutcome::single_reply(&job, VERB, replies)?;
    if session.ui.format() == Format::Raw {
        session.ui.print_text(&format!("{end}\n"))?;
        return Ok(Exit::Ok);
    }
    session.ui.show_and_exit_ok(&ExtendedLock {
        jid,
        worker: holder,
        expires: moment_of_seconds(end),
    })
}

/// Extends the locks on several jobs. Does not ask first, because the command acts for a worker.
fn extend_locks(
    given: &GivenJids,
    data: Option<&[u8]>,
    worker: &ActingWorker,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let flags = BulkFlags {
        dry_run,
        ..BulkFlags::default()
    };
    let mut plan = BulkPlan::without_jobs(session, &HEARTBEAT, &flags)?;
    plan.add_named_jobs(session, now, given, |job| worker.refuse_not_held(job))?;
    let consent = if dry_run {
        plan.ask_consent_or_print_plan(session, "")?
    } else {
        Some(session.ui.consent_without_question())
    };
    plan.change_in_slices(session, consent, |core, now, _, jobs, outcomes| {
        let worker = |job: &JobSnapshot| worker.acting_worker_for(job);
        let ends = core.heartbeat(now, jobs, worker, data);
        add_outcomes_of_replies(outcomes, jobs, ends, |job, end| {
            let expires = moment_of_seconds(end);
            let expires = expires.to_rfc3339().unwrap_or_else(|| expires.to_string());
            let mut outcome = JobOutcome::done(&job.jid).with_raw_reply(end.to_string());
            outcome.detail = Some(format!("the lock expires {expires}").into());
            outcome.with_cells([Name::from(expires)])
        })
    })
}

fn moment_of_seconds(seconds: i64) -> Moment {
    Moment::from_micros(seconds.saturating_mul(1_000_000))
}
