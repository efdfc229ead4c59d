//! `qless stats`

use crate::cli::Format;
use crate::cli::value::{self, Day};
use crate::core::call::Call;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::name::Name;
use crate::model::pattern::Pattern;
use crate::model::queue::Stats;

/// Show what happened in a queue on a day
///
/// How many jobs were completed and failed, how often locks were lost, and how long jobs waited
/// and ran. Days are those of UTC; a day without data has zeros.
///
/// Examples: `qless stats mail` · `qless stats mail --day yesterday -o json`
///
/// Exit codes: 0, 4 unknown queue, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The queues, by name or glob
    #[arg(value_name = "QUEUE", required = true, value_parser = value::pattern())]
    queues: Vec<Pattern>,
    /// The day: `2026-11-20`, `today` or `yesterday`
    #[arg(long, value_name = "DAY", default_value = "today", value_parser = value::day)]
    day: Day,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    cx.out.shows::<List<Stats>>()?;
    let now = cx.begin()?;
    let (name, of) = args.day.begins(now)?;
    let (core, out) = cx.parts()?;
    let queues = core.queues_like(now, &args.queues)?;
    let names: Vec<Name> = queues.into_iter().map(|queue| queue.name).collect();
    if out.format() == Format::Raw {
        for queue in &names {
            let text = core.raw(now, &Call::new("stats").arg(queue).arg(of.to_string()))?;
            out.verbatim(&text)?;
        }
        return Ok(Exit::Ok);
    }
    let stats = core.stats(now, &names, &name, of)?;
    out.show(&List::whole(stats))?;
    Ok(Exit::Ok)
}
