//! `qless get`

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::Targets;
use crate::clock::moment::Moment;
use crate::core::api::job;
use crate::core::api::not_found;
use crate::core::call::Call;
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::input::jids::JidArgs;
use crate::input::source::InputSource;
use crate::model::job::Job;
use crate::model::list::{JobDetail, JobDetails, List};
use crate::name::Name;
use crate::select;
use crate::session::Session;
use crate::text::{clean, clean_lines};
use crate::view::field;
use crate::view::field::Lookup;

/// Show jobs in full
///
/// Jobs and recurring jobs alike. One jid gives one document, several give a list without
/// histories. Jids that nothing has are told after the rest.
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
    targets: Targets,
    /// With histories, also in lists
    #[arg(long)]
    history: bool,
    /// Print only the data, byte for byte
    #[arg(long, conflicts_with = "field")]
    data: bool,
    /// Print only one value, such as `failure.message` or `data.user`
    #[arg(long, value_name = "PATH")]
    field: Option<String>,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    session.ui.check_columns::<JobDetails>()?;
    args.targets.check()?;
    let mut source = InputSource::default();
    let told = match args.targets.jids.is_empty() {
        true => None,
        false => Some(jids::read(&mut source, &args.targets.jids)?),
    };
    let now = session.begin()?;
    if session.ui.format() == Format::Raw {
        return raw(told, &args, now, session);
    }
    let one = matches!(told, Some(JidArgs::One(_)));
    let tell = if one || args.history {
        job::Detail::Full
    } else {
        job::Detail::Brief
    };
    let mut details = JobDetails::default();
    match &told {
        Some(told) => find(session.core()?, now, tell, told.jids(), &mut details)?,
        None => {
            let jobs = select::all(session, now, &args.targets.selector, tell)?;
            details.list = List::whole(
                jobs.into_iter()
                    .map(|job| JobDetail::Job(job.into()))
                    .collect(),
            );
        }
    }
    if args.data {
        data(&details, one, session)?;
    } else if let Some(path) = &args.field {
        fields(&details, path, session)?;
    } else {
        show(&mut details, one, now, session)?;
    }
    not_found::jobs(&details.missing).map(|()| Exit::Ok)
}

/// Looks for jobs, then for recurring jobs among the jids that no job has.
fn find(
    core: &mut Core,
    now: Moment,
    tell: job::Detail,
    jids: &[Name],
    details: &mut JobDetails,
) -> Result<(), Error> {
    let jobs = core.jobs(now, tell, jids)?;
    let others: Vec<Name> = jids
        .iter()
        .zip(&jobs)
        .filter(|(_, job)| job.is_none())
        .map(|(jid, _)| jid.clone())
        .collect();
    let mut recurs = match others.is_empty() {
        true => Vec::new(),
        false => core.recurs(now, &others)?,
    }
    .into_iter();
    let mut found = Vec::with_capacity(jids.len());
    for (jid, job) in jids.iter().zip(jobs) {
        match job {
            Some(job) => found.push(JobDetail::Job(job.into())),
            None => match recurs.next().flatten() {
                Some(recurring) => found.push(JobDetail::Recurring(recurring.into())),
                None => details.missing.push(jid.clone()),
            },
        }
    }
    details.list = List::whole(found);
    Ok(())
}

fn show(
    details: &mut JobDetails,
    one: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if session.ui.format() == Format::Table {
        for detail in &mut details.list.items {
            if let JobDetail::Job(job) = detail {
                job.neighbors = neighbors(job, now, session)?;
            }
        }
    }
    match details.list.items.first() {
        Some(JobDetail::Job(job)) if one => session.ui.show(job.as_ref()),
        Some(JobDetail::Recurring(recurring)) if one => session.ui.show(recurring.as_ref()),
        None if one => Ok(()),
        _ => session.ui.show(details),
    }
}

fn neighbors(
    job: &Job,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<crate::model::job::Neighbor>, Error> {
    match job.dependencies.is_empty() && job.dependents.is_empty() {
        true => Ok(Vec::new()),
        false => session.core()?.neighbors(now, job),
    }
}

/// Prints the data: of one job exactly its bytes, of several each on a line of its own.
fn data(details: &JobDetails, one: bool, session: &mut Session) -> Result<(), Error> {
    for detail in &details.list.items {
        let data = match detail {
            JobDetail::Job(job) => &job.data,
            JobDetail::Recurring(recurring) => &recurring.data,
        };
        session.ui.verbatim(data.as_bytes())?;
        if !one || session.ui.terminal() {
            session.ui.text("\n")?;
        }
    }
    Ok(())
}

fn fields(details: &JobDetails, path: &str, session: &mut Session) -> Result<(), Error> {
    for detail in &details.list.items {
        let unwritable = |error| Error::internal(format!("document: {error}"));
        let document = serde_json::to_string(detail).map_err(unwritable)?;
        let text = match field::find(&document, path) {
            Lookup::Text(text) => clean_lines(text.as_bytes()),
            Lookup::Json(json) => clean(json.as_bytes()),
            Lookup::Unknown(known) => {
                let error =
                    Error::usage(format!("a job has no field `{}`", clean(path.as_bytes())));
                return Err(error.hint(format!("its fields are {}", known.join(", "))));
            }
            Lookup::Nothing => {
                let jid = detail.jid();
                let error = format!("`{}` has no `{}`", clean(jid), clean(path.as_bytes()));
                return Err(Error::not_found(error).jid(jid));
            }
        };
        session.ui.text(&format!("{text}\n"))?;
    }
    Ok(())
}

/// The reference's `get`, or its `multiget` for several.
fn raw(
    told: Option<JidArgs>,
    args: &Args,
    now: Moment,
    session: &mut Session,
) -> Result<Exit, Error> {
    let call = match &told {
        Some(JidArgs::One(jid)) => Call::raw("get").arg(jid),
        Some(JidArgs::Many(jids)) => Call::raw("multiget").args(jids),
        None => {
            let jobs = select::all(session, now, &args.targets.selector, job::Detail::Mark)?;
            Call::raw("multiget").args(jobs.iter().map(|job| &job.jid))
        }
    };
    let text = session.core()?.raw(now, &call)?;
    match told {
        Some(JidArgs::One(jid)) if text.is_empty() => not_found::jobs(&[jid]).map(|()| Exit::Ok),
        Some(JidArgs::Many(jids)) => {
            // The reply does not say which ones it lacks.
            session.ui.verbatim(&text)?;
            let mut jobs = session
                .core()?
                .jobs(now, job::Detail::Mark, &jids)?
                .into_iter();
            let gone = jids.into_iter().filter(|_| jobs.next().flatten().is_none());
            not_found::jobs(&gone.collect::<Vec<_>>()).map(|()| Exit::Ok)
        }
        _ => session.ui.verbatim(&text).map(|()| Exit::Ok),
    }
}
