//! `qless workers`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::core::api::index::Index;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::{NamePattern, passes_filter};
use crate::model::worker::{Worker, WorkerJobs};
use crate::name::Name;
use crate::select::nothing;
use crate::session::Session;

/// Show workers, or the jobs of one worker
///
/// LAST SEEN is the time of the last pop or heartbeat. One name shows the jobs of that worker as in
/// `jobs`, stalled jobs first.
///
/// Examples: `qless workers` · `qless workers mx-2-18841` · `qless workers 'mx-*'`
///
/// Exit codes: 0, also if there are none; 4 unknown worker, 6 server.
///
/// See also: `qless timeout`, `qless forget worker`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these workers (name or glob)
    #[arg(value_name = "WORKER", value_parser = value::name_or_glob(), add = value::CompletionKind::Workers)]
    workers: Vec<NamePattern>,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let one = match args.workers.as_slice() {
        [worker] => worker.as_plain_name(),
        _ => None,
    };
    match one {
        Some(_) => {
            session.ui.require_format(&[Format::Jid, Format::Raw])?;
            session.ui.check_columns::<WorkerJobs>()?;
        }
        None => {
            session.ui.require_format(&[Format::Raw])?;
            session.ui.check_columns::<List<Worker>>()?;
        }
    }
    session.require_writable_if_raw_output()?;
    let now = session.connect()?;
    if session.ui.format() == Format::Raw {
        return print_raw_core_reply(&args.workers, session);
    }
    let (core, out) = session.core_and_ui()?;
    if let Some(name) = one {
        let Some(holder) = core.worker_with_jobs(now, name)? else {
            let known = core.index_members(now, &Index::Workers)?;
            return Err(Error::unknown_name("worker", name, &known));
        };
        let empty = holder.details.is_empty();
        out.show(&holder)?;
        if empty {
            out.note_to_people("the worker holds no jobs");
        }
        return Ok(Exit::Ok);
    }
    let mut workers = core.workers(now, &[])?;
    let known: Vec<Name> = workers.iter().map(|worker| worker.name.clone()).collect();
    for name in args
        .workers
        .iter()
        .filter_map(|worker| worker.as_plain_name())
    {
        if !known.contains(name) {
            return Err(Error::unknown_name("worker", name, &known));
        }
    }
    workers.retain(|worker| passes_filter(&args.workers, Some(&worker.name)));
    let empty = workers.is_empty();
    out.show(&List::of_all(workers))?;
    if empty {
        out.note_to_people("no workers");
        nothing::hint_why_empty(session, now, None)?;
    }
    Ok(Exit::Ok)
}

/// Prints the reply of the core's own `workers`, which also forgets workers not seen for long.
fn print_raw_core_reply(workers: &[NamePattern], session: &mut Session) -> Result<Exit, Error> {
    let now = session.now();
    let names: Option<Vec<&Name>> = workers.iter().map(NamePattern::as_plain_name).collect();
    let names = names.ok_or_else(|| Error::usage("the core's own `workers` takes no globs"))?;
    if names.is_empty() {
        return session.print_core_reply(now, &Call::raw_call("workers"));
    }
    for name in names {
        session.print_core_reply(now, &Call::raw_call("workers").arg(name))?;
    }
    Ok(Exit::Ok)
}
