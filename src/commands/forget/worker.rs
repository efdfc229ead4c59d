//! `qless forget worker`

use crate::cli::shared::DryRun;
use crate::cli::{Format, value};
use crate::core::index::Index;
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::Done;
use crate::model::name::Name;
use crate::view::text::{clean, plural, quoted};

/// Take workers off the list of known ones
///
/// Only workers that hold no job. The next pop lists the worker again.
///
/// Example: `qless forget worker build-7-4121`
///
/// Exit codes: 0, 4 unknown worker, 5 it holds jobs, 6 server, 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The workers
    #[arg(required = true, value_name = "WORKER", value_parser = value::jids(),
          add = value::Candidates::Workers)]
    workers: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let core = cx.core()?;
    let known = core.members(now, &Index::Workers)?;
    for name in &args.workers {
        let holder = core.holder(now, name)?;
        let held = holder.map_or(0, |holder| holder.jobs.len() + holder.stalled.len());
        if held > 0 {
            let held = plural(held as u64, "job", "jobs");
            let message = format!("cannot forget `{}`: it holds {held}", clean(name));
            let hint = format!("`qless workers {}` shows them", quoted(name));
            return Err(Error::conflict(message).hint(hint));
        }
        if !known.contains(name) {
            return Err(unknown::error("worker", name, &known));
        }
    }
    let names: Vec<String> = args
        .workers
        .iter()
        .map(|name| format!("`{}`", clean(name)))
        .collect();
    let what = format!("forget worker {}", names.join(", "));
    let dry = args.dry.dry_run;
    if dry {
        cx.out.would(&format!("would {what}"));
    } else {
        let on = cx.on()?;
        let consent = cx.out.confirm(&(what + &on), |_| String::new())?;
        cx.core()?.forget_workers(now, &args.workers, consent)?;
        let names: Vec<String> = args.workers.iter().map(clean).collect();
        cx.out
            .note_on_terminal(&format!("forgot {}", names.join(", ")));
    }
    cx.out
        .show(&Done::new("forget worker", args.workers, dry))?;
    Ok(Exit::Ok)
}
