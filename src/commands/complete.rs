//! `qless complete`

use std::ffi::OsString;

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::{DryRun, Holder, Later, MaxData};
use crate::args::value;
use crate::bulk::JobOutcome;
use crate::bulk::acting_worker::ActingWorker;
use crate::clock::moment::Moment;
use crate::core::api::job_calls::CallOutcome;
use crate::core::api::worker_calls::NextQueue;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::source::InputSource;
use crate::model::complete::Complete;
use crate::model::done::Done;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::short;

/// Complete a job, or advance it to another queue
///
/// The call is made in the name of the worker that holds the job. Prints the new state.
///
/// Examples: `qless complete 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless complete 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --next thumbs --delay 5m`
///
/// Exit codes: 0, 4 unknown jid or dependency, 5 not running or held by another worker, 6 server.
///
/// See also: `qless pop`, `qless fail`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Jid of the job
    #[arg(value_parser = value::jids(), add = value::Candidates::Jids(value::Jobs::Held))]
    jid: Name,
    /// New data of the job: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<OsString>,
    #[command(flatten)]
    limit: MaxData,
    /// Advance the job to this queue instead of completing it
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::Candidates::Queues)]
    next: Option<Name>,
    #[command(flatten)]
    later: Later,
    /// Jid of a job that must be complete first
    #[arg(long, value_name = "JID", value_parser = value::name(), requires = "next",
          add = value::Candidates::Jids(value::Jobs::Open))]
    depends: Vec<Name>,
    #[command(flatten)]
    holder: Holder,
    #[command(flatten)]
    dry: DryRun,
}

const VERB: &str = "complete";

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Work, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    if args.next.is_none() && (args.later.delay.is_some() || args.later.at.is_some()) {
        return Err(Error::usage("`--delay` and `--at` need `--next`")
            .hint("a completed job does not run again"));
    }
    let mut source = InputSource::default();
    let data = match &args.data {
        Some(given) => Some(data::read(&mut source, given, args.limit.max_data)?.0),
        None => None,
    };
    let now = session.begin()?;
    let core = session.core()?;
    let name = ActingWorker::of(&args.holder)?;
    let job = name.read_job(core, now, &args.jid, VERB)?;
    dependencies(&args, now, session)?;
    let next = args.next.as_ref().map(|queue| NextQueue {
        queue: queue.clone(),
        delay: args.later.wait(now),
        depends: args.depends.clone(),
    });
    let state = match args.dry.dry_run {
        true => {
            let jid = short(args.jid.as_bytes());
            session.ui.note(&match &next {
                Some(next) => format!("would advance {jid} to {}", next.queue),
                None => format!("would complete {jid}"),
            });
            session.ui.show(&Done::new(VERB, vec![args.jid], true))?;
            return Ok(Exit::Ok);
        }
        false => {
            let core = session.core()?;
            // Without new data the job keeps its data, byte for byte.
            let data = match data {
                Some(data) => data,
                None => core.field(now, &args.jid, "data")?.unwrap_or_default(),
            };
            let (note, worker) = (actor::note(VERB, None), name.for_job(&job));
            let completed = core
                .complete(now, &note, &job, &worker, &data, next.as_ref())
                .map_err(|error| JobOutcome::explain(&args.jid, VERB, error))?;
            match completed {
                CallOutcome::Done(state) => state,
                CallOutcome::Refused(outcome) => {
                    return Err(JobOutcome::from_reply(&job, &outcome).to_error(VERB));
                }
            }
        }
    };
    let queue = args.next.clone();
    let jid = short(args.jid.as_bytes());
    let done = Complete {
        jid: args.jid,
        state,
        queue,
    };
    session.ui.show(&done)?;
    session.ui.note_on_terminal(&match &done.queue {
        Some(queue) => format!("completed {jid}, now in {queue}"),
        None => format!("completed {jid}"),
    });
    Ok(Exit::Ok)
}

/// Refuses dependencies that do not exist; the core would ignore them.
fn dependencies(args: &Args, now: Moment, session: &mut Session) -> Result<(), Error> {
    if args.depends.contains(&args.jid) {
        let jid = &args.jid;
        return Err(Error::conflict(format!("`{jid}` cannot depend on itself")).jid(&args.jid));
    }
    let found = session.core()?.snapshots(now, &args.depends)?;
    for (jid, found) in args.depends.iter().zip(found) {
        if found.is_none() {
            let jid = &jid;
            return Err(Error::not_found(format!(
                "`{jid}` does not exist, so no job can depend on it"
            )));
        }
    }
    Ok(())
}
