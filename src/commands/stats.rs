//! `qless stats`

use super::{Group, Spec};
use crate::args::format::Format;
use crate::args::shared::Watch;
use crate::args::value;
use crate::args::value::Day;
use crate::clock::moment::Moment;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::Pattern;
use crate::model::stats;
use crate::model::stats::{Measure, Stats, StatsByDay};
use crate::name::Name;
use crate::session::Session;

/// Show what happened in a queue on a day, or day by day
///
/// How many jobs were completed and failed, how often locks were lost, and how long jobs waited
/// and ran. Days are those of UTC; a day without data has zeros.
///
/// Percentiles come from the histogram that the core keeps, in steps of seconds to a minute,
/// minutes to an hour, hours to a day and days to a week: so they are upper bounds, marked `≤`,
/// and `> 7d` beyond the last step. CHANGE is that of the jobs completed per hour, against the
/// day before.
///
/// Examples: `qless stats mail` · `qless stats mail --day yesterday -o json`
/// · `qless stats mail --histogram run` · `qless stats 'mail*' --days 7`
///
/// Exit codes: 0, 4 unknown queue, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The queues, by name or glob
    #[arg(value_name = "QUEUE", required = true, value_parser = value::pattern(),
          add = value::Candidates::Queues)]
    queues: Vec<Pattern>,
    /// The day: `2026-11-20`, `today` or `yesterday`
    #[arg(long, value_name = "DAY", default_value = "today", value_parser = value::day)]
    day: Day,
    /// The last N days up to today, at most 366: a line for each
    #[arg(long, value_name = "N", conflicts_with_all = ["day", "histogram"], value_parser = value::days)]
    days: Option<u16>,
    /// Whose histogram to show; in a pipe a line for each of its buckets that holds jobs
    #[arg(long, value_name = "OF")]
    histogram: Option<Measure>,
    #[command(flatten)]
    pub watch: Watch,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run).watch(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    match args.days {
        Some(_) => session.ui.check_columns::<StatsByDay>()?,
        None => session.ui.check_columns::<stats::DayStats>()?,
    }
    let now = session.begin()?;
    let (core, out) = session.core_and_ui()?;
    let mut days = days(&args, now)?;
    let queues = core.queues_like(now, &args.queues)?;
    let names: Vec<Name> = queues.into_iter().map(|queue| queue.name).collect();
    if out.format() == Format::Raw {
        for queue in &names {
            for (_, of) in &days {
                let text = core.raw(now, &Call::raw("stats").arg(queue).arg(of.to_string()))?;
                out.verbatim(&text)?;
            }
        }
        return Ok(Exit::Ok);
    }
    let Some(count) = args.days else {
        let list = List::whole(core.stats(now, &names, &days)?);
        let picture = args.histogram;
        out.show(&stats::DayStats { list, picture })?;
        return Ok(Exit::Ok);
    };
    days.insert(0, Day::Near(-i64::from(count)).begins(now)?);
    let mut told: Vec<Stats> = Vec::new();
    for queue in core.stats(now, &names, &days)?.chunk_by_mut(of_one_queue) {
        for at in 1..queue.len() {
            let (before, from) = queue.split_at_mut(at);
            from[0].set_change(&before[at - 1]);
        }
        told.extend_from_slice(&queue[1..]);
    }
    out.show(&StatsByDay(List::whole(told)))?;
    Ok(Exit::Ok)
}

fn of_one_queue(one: &Stats, other: &Stats) -> bool {
    one.queue == other.queue
}

/// Returns the days that were asked for, oldest first: their names and first moments.
fn days(args: &Args, now: Moment) -> Result<Vec<(String, Moment)>, Error> {
    match args.days {
        None => Ok(vec![args.day.begins(now)?]),
        Some(count) => (0..i64::from(count))
            .rev()
            .map(|ago| Day::Near(-ago).begins(now))
            .collect(),
    }
}
