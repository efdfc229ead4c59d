//! `qless stats`

use super::{HelpGroup, Spec};
use crate::args::format::Format;
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::args::value::UtcDay;
use crate::clock::moment::Moment;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::NamePattern;
use crate::model::stats;
use crate::model::stats::{MeasuredDuration, QueueDayStats, StatsOfQueuesByDay};
use crate::name::Name;
use crate::session::Session;

/// Show what happened in a queue on a day, or day by day
///
/// Counts completed jobs, failures and lost locks, and measures how long jobs waited and ran. Days
/// are in UTC; a day without data has zeros.
///
/// Percentiles come from the histogram that the core keeps, with buckets of a second up to one
/// minute, a minute up to one hour, an hour up to one day, and a day up to one week. So they are
/// upper bounds, marked `≤`; `> 7d` is beyond the last bucket. CHANGE compares the jobs completed
/// per hour with the day before.
///
/// Examples: `qless stats mail` · `qless stats mail --day yesterday -o json`
/// · `qless stats mail --histogram run` · `qless stats 'mail*' --days 7`
///
/// Exit codes: 0, 4 unknown queue, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Queues (name or glob)
    #[arg(value_name = "QUEUE", required = true, value_parser = value::name_or_glob(),
          add = value::CompletionKind::Queues)]
    queues: Vec<NamePattern>,
    /// Day: `2026-11-20`, `today` or `yesterday`
    #[arg(long, value_name = "DAY", default_value = "today", value_parser = value::day)]
    day: UtcDay,
    /// Show the last N days up to today, one line per day (up to 366)
    #[arg(long, value_name = "N", conflicts_with_all = ["day", "histogram"], value_parser = value::day_count)]
    days: Option<u16>,
    /// Show the histogram of this measure; in a pipe, one line per bucket that has jobs
    #[arg(long, value_name = "MEASURE")]
    histogram: Option<MeasuredDuration>,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    match args.days {
        Some(_) => session.ui.check_columns::<StatsOfQueuesByDay>()?,
        None => session.ui.check_columns::<stats::StatsOfQueuesOnDay>()?,
    }
    let now = session.connect()?;
    let mut days = days_to_show(&args, now)?;
    let queues = session.core()?.queues_like(now, &args.queues)?;
    let names: Vec<Name> = queues.into_iter().map(|queue| queue.name).collect();
    if session.ui.format() == Format::Raw {
        for queue in &names {
            for (_, day) in &days {
                let call = Call::raw_call("stats").arg(queue).arg(day.to_string());
                session.print_core_reply(now, &call)?;
            }
        }
        return Ok(Exit::Ok);
    }
    let (core, out) = session.core_and_ui()?;
    let Some(count) = args.days else {
        let list = List::of_all(core.stats(now, &names, &days)?);
        let histogram_of = args.histogram;
        return out.show_and_exit_ok(&stats::StatsOfQueuesOnDay { list, histogram_of });
    };
    days.insert(0, UtcDay::Near(-i64::from(count)).date_and_start(now)?);
    let mut shown: Vec<QueueDayStats> = Vec::new();
    for queue in core.stats(now, &names, &days)?.chunk_by_mut(is_same_queue) {
        for at in 1..queue.len() {
            let (before, from) = queue.split_at_mut(at);
            from[0].set_change_since(&before[at - 1]);
        }
        shown.extend_from_slice(&queue[1..]);
    }
    out.show_and_exit_ok(&StatsOfQueuesByDay(List::of_all(shown)))
}

fn is_same_queue(one: &QueueDayStats, other: &QueueDayStats) -> bool {
    one.queue == other.queue
}

/// The days to show, oldest first: the name of each day and the moment at which it begins.
fn days_to_show(args: &Args, now: Moment) -> Result<Vec<(String, Moment)>, Error> {
    match args.days {
        None => Ok(vec![args.day.date_and_start(now)?]),
        Some(count) => (0..i64::from(count))
            .rev()
            .map(|ago| UtcDay::Near(-ago).date_and_start(now))
            .collect(),
    }
}
