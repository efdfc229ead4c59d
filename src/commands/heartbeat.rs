//! `qless heartbeat`

use std::ffi::OsString;

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::{DryRun, Holder, MaxData};
use crate::args::value;
use crate::bulk::JobOutcome;
use crate::bulk::acting_worker::ActingWorker;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::source::InputSource;
use crate::model::complete::Lock;
use crate::model::done::Done;
use crate::name::Name;
use crate::session::Session;
use crate::text::short;

/// Extend the lock on a job
///
/// The call is made in the name of the worker that holds the job. Prints the new expiry.
///
/// Example: `qless heartbeat 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
///
/// Exit codes: 0, 4 unknown jid, 5 not running or held by another worker, 6 server.
///
/// See also: `qless pop`, `qless config get heartbeat`
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
    #[command(flatten)]
    holder: Holder,
    #[command(flatten)]
    dry: DryRun,
}

const VERB: &str = "heartbeat";

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Work, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    let mut source = InputSource::default();
    let data = match &args.data {
        Some(given) => Some(data::read(&mut source, given, args.limit.max_data)?.0),
        None => None,
    };
    let now = session.begin()?;
    let name = ActingWorker::of(&args.holder)?;
    let job = name.read_job(session.core()?, now, &args.jid, VERB)?;
    if args.dry.dry_run {
        let jid = short(args.jid.as_bytes());
        session
            .ui
            .note_dry_run(&format!("would extend the lock on {jid}"));
        session.ui.show(&Done::new(VERB, vec![args.jid], true))?;
        return Ok(Exit::Ok);
    }
    let worker = name.for_job(&job);
    let end = session
        .core()?
        .heartbeat(now, &args.jid, &worker, data.as_deref())
        .map_err(|error| JobOutcome::explain(&args.jid, VERB, error))?;
    if session.ui.format() == Format::Raw {
        session.ui.text(&format!("{end}\n"))?;
        return Ok(Exit::Ok);
    }
    session.ui.show(&Lock {
        jid: args.jid,
        worker,
        expires: Moment::from_micros(end.saturating_mul(1_000_000)),
    })?;
    Ok(Exit::Ok)
}
