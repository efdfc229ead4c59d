//! `qless get`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{JobTargets, WatchFlag};
use crate::clock::moment::Moment;
use crate::core::api::job;
use crate::core::api::not_found;
use crate::core::call::Call;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::explain;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::json::write;
use crate::model::job::reason::{DelayReason, ReasonCode};
use crate::model::job::{Job, State};
use crate::model::list::{JobOrRecurring, JobsInFull, List};
use crate::name::Name;
use crate::select;
use crate::session::Session;
use crate::text::{Sanitized, sanitize_keeping_lines};
use crate::view::View;
use crate::view::field;
use crate::view::field::FieldLookup;

/// Show jobs in full
///
/// Works for jobs and for recurring jobs. One jid gives one document; several give a list without
/// histories. Jids that do not exist are listed at the end.
///
/// Examples: `qless get 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless get nightly --data > nightly.json`
/// · `qless get $jid --field failure.message`
/// · `qless jobs --group boom -o jid | qless get - -o ndjson`
///
/// Exit codes: 0, 4 no such job, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: JobTargets,
    /// Include histories in lists, too
    #[arg(long)]
    history: bool,
    /// Print only the data, byte for byte
    #[arg(long, conflicts_with = "field")]
    data: bool,
    /// Print only one value, such as `failure.message` or `data.user`
    #[arg(long, value_name = "PATH")]
    field: Option<String>,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run)
    .watch_interval(|args| args.watch.every)
    .context_member_dispatch(|args| {
        if args.data || args.field.is_some() {
            MemberDispatch::JobsInOrder(&args.targets.jids)
        } else {
            MemberDispatch::Jobs(&args.targets.jids)
        }
    });

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobsInFull>()?;
    args.targets.require_either_jids_or_selector()?;
    if args.watch.every.is_some() && args.targets.jids.contains(&ValueFileOrStdinArg::Stdin) {
        return Err(Error::usage("`--watch` cannot read jids from stdin again")
            .hint("name the jids, or a file of them: `@FILE`"));
    }
    let mut source = session.input();
    let given = if args.targets.jids.is_empty() {
        None
    } else {
        Some(jids::read_jids(&mut source, &args.targets.jids)?)
    };
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        return print_raw_reply(given, &args, now, session);
    }
    let one = matches!(given, Some(GivenJids::One(_)));
    let detail_level = if one || args.history {
        job::JobFields::Full
    } else {
        job::JobFields::Brief
    };
    let mut details = match &given {
        Some(given) => read_jobs_and_recurring(session.core()?, now, detail_level, given.jids())?,
        None => {
            let mut jobs =
                select::matching_jobs(session, now, &args.targets.selector, detail_level)?;
            session
                .core()?
                .add_missing_merge_payloads(now, jobs.iter_mut())?;
            let items = jobs.into_iter().map(|job| JobOrRecurring::Job(job.into()));
            JobsInFull {
                list: List::of_all(items.collect()),
                missing: Vec::new(),
            }
        }
    };
    if args.data {
        print_data(&details, one, session)?;
    } else if let Some(path) = &args.field {
        print_field(&details, path, session)?;
    } else {
        show_details(&mut details, one, now, session)?;
    }
    not_found::refuse_missing_jobs(&details.missing).map(|()| Exit::Ok)
}

/// Reads jobs, then recurring jobs for the jids that no job has.
fn read_jobs_and_recurring(
    core: &mut Core,
    now: Moment,
    detail_level: job::JobFields,
    jids: &[Name],
) -> Result<JobsInFull, Error> {
    let mut items = core.jobs_or_recurring_jobs(now, detail_level, jids)?;
    let jobs = items.iter_mut().filter_map(|item| match item {
        Some(JobOrRecurring::Job(job)) => Some(job.as_mut()),
        _ => None,
    });
    core.add_missing_merge_payloads(now, jobs)?;
    let missing = jids.iter().zip(&items).filter(|(_, item)| item.is_none());
    Ok(JobsInFull {
        missing: missing.map(|(jid, _)| jid.clone()).collect(),
        list: List::of_all(items.into_iter().flatten().collect()),
    })
}

fn show_details(
    details: &mut JobsInFull,
    is_single: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if session.ui.format() == Format::Table {
        for detail in &mut details.list.items {
            if let JobOrRecurring::Job(job) = detail {
                if !job.dependencies.is_empty() || !job.dependents.is_empty() {
                    job.neighbors = session.core()?.dependencies_then_dependents(now, job)?;
                }
                if is_single {
                    job.blocked_by = delay_reason_beyond_state(job, now, session)?;
                }
            }
        }
    }
    match details.list.items.first() {
        Some(JobOrRecurring::Job(job)) if is_single => {
            session.ui.show(job.as_ref())?;
            if let Some(reason) = &job.blocked_by {
                session.ui.hint_if(reason.fix_command());
            }
            Ok(())
        }
        Some(JobOrRecurring::Recurring(recurring)) if is_single => {
            session.ui.show(recurring.as_ref())
        }
        None if is_single => Ok(()),
        _ => session.ui.show(details),
    }
}

/// The first reason that blocks a job from running, except reasons that its state already shows.
fn delay_reason_beyond_state(
    job: &Job,
    now: Moment,
    session: &mut Session,
) -> Result<Option<Box<DelayReason>>, Error> {
    let is_open = matches!(
        job.state,
        Some(
            State::Waiting | State::Stalled | State::Scheduled | State::Depends | State::Throttled
        )
    );
    if !is_open {
        return Ok(None);
    }
    let explanation = match explain::explain_single_job(session.core()?, now, job) {
        Ok(explanation) => explanation,
        // If a key of the queue has a wrong type, show the job without a reason.
        Err(error) if error.kind() == Kind::WrongKeyType => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut reasons = explanation.reasons.into_iter();
    let is_news = |reason: &DelayReason| reason.blocking && reason.code != ReasonCode::Scheduled;
    Ok(reasons.find(is_news).map(Box::new))
}

/// Prints the data of jobs: for one job exactly its bytes, for several jobs one line each.
fn print_data(details: &JobsInFull, is_single: bool, session: &mut Session) -> Result<(), Error> {
    for detail in &details.list.items {
        let data = match detail {
            JobOrRecurring::Job(job) => &job.data,
            JobOrRecurring::Recurring(recurring) => &recurring.data,
        };
        session.ui.write_verbatim_unless_terminal(data.as_bytes())?;
        if !is_single || session.ui.is_stdout_terminal() {
            session.ui.print_text("\n")?;
        }
    }
    Ok(())
}

fn print_field(details: &JobsInFull, path: &str, session: &mut Session) -> Result<(), Error> {
    for detail in &details.list.items {
        let unwritable = |error| Error::internal(format!("document: {error}"));
        let mut document = Vec::new();
        write::write_unsanitized_compact(detail, &mut document).map_err(unwritable)?;
        let document = String::from_utf8(document).map_err(Error::internal)?;
        let text = match field::find_field(&document, path) {
            FieldLookup::Text(text) => sanitize_keeping_lines(text.as_bytes()),
            FieldLookup::Json(json) => Sanitized(&json).to_string(),
            FieldLookup::Unknown(known) if !is_known_job_field(path) => {
                let error = Error::usage(format!("a job has no field `{}`", Sanitized(path)));
                return Err(error.hint(format!("its fields are {}", known.join(", "))));
            }
            FieldLookup::Unknown(_) | FieldLookup::Nothing => {
                let jid = detail.jid();
                let error = format!("`{jid}` has no `{}`", Sanitized(path));
                return Err(Error::not_found(error).about_jid(jid));
            }
        };
        session.ui.print_text(&format!("{text}\n"))?;
    }
    Ok(())
}

/// Whether documents of jobs may have the first field of a path. Asks the schema, because a single document omits
/// fields without a value.
fn is_known_job_field(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    Job::DOCUMENT.fields_schema()["properties"]
        .get(first)
        .is_some()
}

/// Prints the reply of the core's command `get` for one job, or `multiget` for several jobs, as `-o raw` asks for.
fn print_raw_reply(
    given: Option<GivenJids>,
    args: &Args,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let call = match &given {
        Some(GivenJids::One(jid)) => Call::raw_call("get").arg(jid),
        Some(GivenJids::Many(jids)) => Call::raw_call("multiget").args(jids),
        None => {
            let jobs = select::matching_jobs(
                session,
                now,
                &args.targets.selector,
                job::JobFields::Snapshot,
            )?;
            Call::raw_call("multiget").args(jobs.iter().map(|job| &job.jid))
        }
    };
    let text = session.core()?.call_for_raw_output(now, &call)?;
    match given {
        Some(GivenJids::One(jid)) if text.is_empty() => {
            not_found::refuse_missing_jobs(&[jid]).map(|()| Exit::Ok)
        }
        Some(GivenJids::Many(jids)) => {
            // The reply does not say which jobs are missing, so read the jobs once more.
            session.ui.write_verbatim_unless_terminal(&text)?;
            let mut jobs = session
                .core()?
                .jobs(now, job::JobFields::Snapshot, &jids)?
                .into_iter();
            let missing = jids.into_iter().filter(|_| jobs.next().flatten().is_none());
            not_found::refuse_missing_jobs(&missing.collect::<Vec<_>>()).map(|()| Exit::Ok)
        }
        _ => session
            .ui
            .write_verbatim_unless_terminal(&text)
            .map(|()| Exit::Ok),
    }
}
