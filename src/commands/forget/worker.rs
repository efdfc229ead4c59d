//! `qless forget worker`

use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::{backtick_list, comma_list, format_count};

/// Remove workers from the list of known workers
///
/// Only workers without jobs are removed. The next pop lists the worker again.
///
/// Example: `qless forget worker build-7-4121`
///
/// Exit codes: 0, 4 unknown worker, 5 it holds jobs, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Workers
    #[arg(required = true, value_name = "WORKER", value_parser = value::name_or_empty(),
          add = value::CompletionKind::Workers)]
    pub workers: Vec<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let core = session.core()?;
    let known = core.index_members(now, &Index::Workers)?;
    for name in &args.workers {
        let holder = core.worker_with_jobs(now, name)?;
        let held = holder.map_or(0, |holder| holder.jobs.len() + holder.stalled.len());
        if held > 0 {
            let held = format_count(held as u64, "job", "jobs");
            let message = format!("cannot forget `{name}`: it holds {held}");
            let workers = CommandLine::new("workers").with_name_argument(name);
            return Err(Error::conflict(message).hint_if(workers.fill_sentence("{} shows them")));
        }
        if !known.contains(name) {
            return Err(Error::unknown_name("worker", name, &known));
        }
    }
    let what = format!("forget worker {}", backtick_list(&args.workers));
    let consent =
        session.ask_unless_dry_run(args.dry, AskWhen::Always, &what, |_| String::new())?;
    if let Some(consent) = consent {
        let core = session.core()?;
        core.forget_workers(now, &args.workers, consent)?;
        let forgot = format!("forgot {}", comma_list(&args.workers));
        session.ui.note_to_people(&forgot);
    }
    let done = CommandResult::new("forget worker", args.workers, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
