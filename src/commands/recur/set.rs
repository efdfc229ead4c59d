//! `qless recur set`

use std::slice;
use std::time::Duration;

use super::{RECURRING, note_next_runs, require_recurring, stays_paused_clause_or_empty};
use crate::args::coordination::{COORDINATION, CoordinationFlags, OccupiedLaneFlags};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::moment;
use crate::args::moment::{MomentArg, RecurrenceArg};
use crate::args::shared::{DryRunFlag, MaxInputDataFlag, RequireExistingQueueFlag};
use crate::args::value;
use crate::bulk::{maxima, new_queues};
use crate::clock::duration;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::model::coordination::CoordinationOption;
use crate::model::done::CommandResult;
use crate::model::recur::Recurring;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;

/// Change a recurring job
///
/// The jobs that it has put stay as they are.
///
/// Examples: `qless recur set nightly --every 12h --priority 5` · `qless recur set nightly --at 04:00`
///
/// Exit codes: 0, 2 usage, 4 no such recurring job, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jid of the recurring job
    #[arg(value_parser = value::name_or_empty(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jid: Name,
    /// Interval: a duration, `@hourly`, `@daily` or `@weekly`. The next run moves by the difference,
    /// unless `--at` or such a word is given
    #[arg(long, value_name = "D", value_parser = moment::parse_recurrence, allow_hyphen_values = true)]
    every: Option<RecurrenceArg>,
    /// Time of the next run: `03:00`, `mon 03:00`, `2026-11-21T06:00:00Z`, or `:30` for the next half
    /// hour. The interval stays, unless `--every` is given
    #[arg(long, value_name = "T|:MM", value_parser = moment::parse_run_time,
          allow_hyphen_values = true)]
    at: Option<MomentArg>,
    /// Queue
    #[arg(long, value_parser = value::new_name(), add = value::CompletionKind::Queues)]
    queue: Option<Name>,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    /// Class of the jobs: the kind of work
    #[arg(long, value_parser = value::new_name())]
    klass: Option<Name>,
    /// Data: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<ValueFileOrStdinArg>,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    /// Priority; higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true)]
    priority: Option<i64>,
    /// Number of retries of each job
    #[arg(long, value_name = "N", value_parser = value::at_least_zero)]
    retries: Option<u64>,
    /// Maximum number of missed runs to make up for; 0 means all
    #[arg(long, value_name = "N", value_parser = value::at_least_zero)]
    backlog: Option<u64>,
    #[command(flatten)]
    coordinated: CoordinationFlags,
    #[command(flatten)]
    lane: OccupiedLaneFlags,
    /// Put no job while an earlier one has not ended: `--unique` with the jid as key
    #[arg(help_heading = COORDINATION, long,
          conflicts_with_all = ["key", "merge", "unique", "until", "dup", "score"])]
    no_overlap: bool,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let mut changes: Vec<(&str, Vec<u8>)> = Vec::new();
    let every = args.every.as_ref().map(|every| every.interval);
    let at = args.at.or_else(|| args.every.and_then(|every| every.at));
    if let Some(every) = every {
        changes.push((
            "interval",
            duration::decimal_seconds_text(every).into_bytes(),
        ));
    }
    if let Some(queue) = &args.queue {
        changes.push(("queue", queue.as_bytes().to_vec()));
    }
    if let Some(klass) = args.klass {
        changes.push(("klass", klass.into_bytes()));
    }
    if let Some(given) = &args.data {
        let data = data::read_json_data(&mut session.input(), given, args.limit.max_data)?.0;
        changes.push(("data", data));
    }
    if let Some(priority) = args.priority {
        changes.push(("priority", priority.to_string().into_bytes()));
    }
    if let Some(retries) = args.retries {
        changes.push(("retries", retries.to_string().into_bytes()));
    }
    if let Some(backlog) = args.backlog {
        changes.push(("backlog", backlog.to_string().into_bytes()));
    }
    let mut coordination = args.lane.lane_and_coordination_options(&args.coordinated);
    if args.no_overlap {
        super::forbid_overlaps(&args.jid, &mut coordination);
        // The recurring job may have these options from before. `until` with the value `start` would allow a put while
        // the first job runs; `ttl` would forbid puts for a time after the job has ended. An empty value removes an
        // option.
        for option in [CoordinationOption::Until, CoordinationOption::Ttl] {
            if coordination.option_value(option).is_none() {
                coordination.set_option(option, &b""[..]);
            }
        }
    }
    let options = coordination.option_pairs();
    changes.extend(options.map(|(name, value)| (name, value.to_vec())));
    if changes.is_empty() && at.is_none() {
        return Err(Error::usage("no change is given")
            .hint("`qless recur set --help` lists what can be changed"));
    }
    let now = session.connect()?;
    let found = require_recurring(session, now, &args.jid)?;
    let next = at.as_ref().map(|at| at.resolve(now));
    let runs = next_runs(&found, every, next);
    let jid = &args.jid;
    let dry = args.dry.dry_run;
    let queues = args.queue.as_slice();
    new_queues::note_or_refuse_new_queues(queues, args.existing, dry, now, session)?;
    maxima::set_changed_maxima(&args.coordinated.throttles, dry, now, session)?;
    let jids = slice::from_ref(jid);
    let consent = session.ask_about_names_unless_dry_run(
        args.dry,
        AskWhen::IfProtected,
        "change",
        RECURRING,
        jids,
    )?;
    if consent.is_some() {
        session
            .core()?
            .update_recurring(now, &args.jid, &changes, next)?;
        session.ui.note_to_people(&format!(
            "changed {jid}{}",
            stays_paused_clause_or_empty(&found)
        ));
    }
    if every.is_some() || next.is_some() {
        note_next_runs(&runs, dry || next.is_some(), session);
    }
    if session.ui.format() == Format::Raw && !dry {
        // The reply of the core.
        session.ui.print_text("1\n")?;
    }
    session.ui.show_and_exit_ok(
        &CommandResult::new("recur set", vec![args.jid], dry).with_next_runs(&runs),
    )
}

/// The next runs after the change; none if the recurring job is paused, or
/// has no valid time.
fn next_runs(found: &Recurring, every: Option<Duration>, next: Option<Moment>) -> Vec<Moment> {
    let (false, Some(before), Some(scheduled)) = (found.is_paused(), found.every_s, found.next)
    else {
        return Vec::new();
    };
    let every = every.map_or(before.0, |every| every.as_secs_f64());
    let moved = Moment::from_seconds(scheduled.seconds() + every - before.0);
    match next.or(moved) {
        Some(next) => Recurring::next_runs(next, every).to_vec(),
        None => Vec::new(),
    }
}
