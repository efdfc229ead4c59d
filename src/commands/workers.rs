//! `qless workers`

use crate::cli::shared::Watch;
use crate::cli::{Format, value};
use crate::core::call::Call;
use crate::core::index::Index;
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::name::Name;
use crate::model::pattern::Pattern;
use crate::model::worker::{Holder, Worker};

/// Show the workers, or the jobs of one
///
/// Last seen is the last pop or heartbeat. With one name: its jobs as in `jobs`, stalled first.
///
/// Examples: `qless workers` · `qless workers mx-2-18841` · `qless workers 'mx-*'`
///
/// Exit codes: 0, also if there are none; 4 unknown worker, 6 server.
///
/// See also: `qless timeout`, `qless forget worker`
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Only these workers, by name or glob
    #[arg(value_name = "WORKER", value_parser = value::pattern(), add = value::Candidates::Workers)]
    workers: Vec<Pattern>,
    #[command(flatten)]
    pub watch: Watch,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    let one = match args.workers.as_slice() {
        [worker] => worker.plain(),
        _ => None,
    };
    match one {
        Some(_) => {
            cx.out.accepts(&[Format::Jid, Format::Raw])?;
            cx.out.shows::<Holder>()?;
        }
        None => {
            cx.out.accepts(&[Format::Raw])?;
            cx.out.shows::<List<Worker>>()?;
        }
    }
    cx.writes_raw()?;
    let now = cx.begin()?;
    if cx.out.format() == Format::Raw {
        return raw(&args.workers, cx);
    }
    let (core, out) = cx.parts()?;
    if let Some(name) = one {
        let Some(holder) = core.holder(now, name)? else {
            let known = core.members(now, &Index::Workers)?;
            return Err(unknown::error("worker", name, &known));
        };
        let empty = holder.details.is_empty();
        out.show(&holder)?;
        if empty {
            out.note_on_terminal("it holds no jobs");
        }
        return Ok(Exit::Ok);
    }
    let mut workers = core.workers(now, &[])?;
    let known: Vec<Name> = workers.iter().map(|worker| worker.name.clone()).collect();
    for name in args.workers.iter().filter_map(|worker| worker.plain()) {
        if !known.contains(name) {
            return Err(unknown::error("worker", name, &known));
        }
    }
    if !args.workers.is_empty() {
        workers.retain(|worker| {
            args.workers
                .iter()
                .any(|wanted| wanted.matches(&worker.name))
        });
    }
    let empty = workers.is_empty();
    out.show(&List::whole(workers))?;
    if empty {
        out.note_on_terminal("no workers");
    }
    Ok(Exit::Ok)
}

/// The reference's `workers`, which also forgets those that were not seen for long.
fn raw(workers: &[Pattern], cx: &mut Cx) -> Result<Exit, Error> {
    let now = cx.now();
    let names: Option<Vec<&Name>> = workers.iter().map(Pattern::plain).collect();
    let names = names.ok_or_else(|| Error::usage("the core's own `workers` knows no globs"))?;
    let calls: Vec<Call> = match names.is_empty() {
        true => vec![Call::new("workers")],
        false => names
            .into_iter()
            .map(|name| Call::new("workers").arg(name))
            .collect(),
    };
    for call in &calls {
        let text = cx.core()?.raw(now, call)?;
        cx.out.verbatim(&text)?;
    }
    Ok(Exit::Ok)
}
