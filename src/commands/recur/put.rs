//! `qless recur put`

use std::ffi::OsString;
use std::slice;
use std::time::Duration;

use super::{note_next_runs, stays_paused_clause_or_empty};
use crate::args::coordination::{self, COORDINATION, CoordinationFlags, OccupiedLaneFlags};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::moment;
use crate::args::moment::{MomentArg, RecurrenceArg};
use crate::args::shared::{
    DryRunFlag, MaxInputDataFlag, RequireExistingQueueFlag, refuse_too_many_tags,
};
use crate::args::value;
use crate::bulk::{maxima, new_queues};
use crate::clock::duration::decimal_seconds_text;
use crate::clock::moment::Moment;
use crate::core::api::template::RecurringJobToPut;
use crate::core::api::template::pause_and_count_note;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::model::coordination::CoordinationOptions;
use crate::model::done::CommandResult;
use crate::model::recur::Recurring;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::submit::queue_defaults::note_option_without_required_dup;
use crate::text::format_duration;

/// Create a recurring job
///
/// Each interval one job is put into the queue, when a worker pops it or a client peeks it. The
/// first job is put immediately, unless `--offset` or `--at` is given. Prints the jid of the
/// recurring job; on a terminal, in a dry run and with `--at` also the next three runs.
///
/// Times of day are those of this machine's time zone when the command runs. The interval is fixed: if
/// the zone has summer time, a daily job moves by an hour, and back in autumn. `@daily` is midnight,
/// `@weekly` the midnight before Sunday, `@hourly` the full hour.
///
/// `--backlog` limits how many missed runs are made up for. For example, a queue with a job every 10
/// minutes is not popped from 01:00 until 02:05. The next pop gets the 7 jobs of 01:00 to 02:00; with
/// `--backlog 2` only those of 01:50 and 02:00.
///
/// Example: `qless recur put reports Nightly --at 03:00 --jid nightly`
///
/// Example: `qless recur put reports Half --at :30 --dry-run`
///
/// Example: `qless recur put reports Weekly --every 1w --at 'mon 03:00'`
///
/// Example: `qless recur put reports Hourly --every 1h --jid hourly --no-overlap`
///
/// Exit codes: 0, 2 usage, 4 the queue does not exist (`--existing-queue`), 5 the jid exists, 6 server,
/// 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Queue
    #[arg(value_parser = value::new_name(), add = value::CompletionKind::Queues)]
    queue: Name,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    /// Class of the jobs: the kind of work
    #[arg(value_parser = value::klass())]
    klass: Name,
    /// Data: JSON, `@FILE`, or `-` for stdin
    #[arg(value_name = "DATA", allow_negative_numbers = true)]
    positional: Option<ValueFileOrStdinArg>,
    /// Data: JSON, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true, conflicts_with = "positional")]
    data: Option<ValueFileOrStdinArg>,
    /// Member of the data: `key=text` or `key:=json`; dots in the key make nested objects
    #[arg(long, value_name = "PAIR", conflicts_with_all = ["positional", "data"])]
    arg: Vec<OsString>,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    /// Interval: a duration, `@hourly`, `@daily` or `@weekly` [default: as `--at` implies]
    #[arg(long, value_name = "D", value_parser = moment::parse_recurrence, allow_hyphen_values = true)]
    every: Option<RecurrenceArg>,
    /// Put the first job after this time
    #[arg(long, value_name = "D", value_parser = value::duration, allow_hyphen_values = true)]
    offset: Option<Duration>,
    /// Put the first job at this time. Without `--every`, `03:00` means daily, `:30` hourly and
    /// `mon 03:00` weekly; `2026-11-21T06:00:00Z` is a time as well
    #[arg(long, value_name = "T|:MM", value_parser = moment::parse_run_time, allow_hyphen_values = true,
          conflicts_with = "offset")]
    at: Option<MomentArg>,
    /// Not there: the hint says what is
    #[arg(long, value_name = "LINE", hide = true, allow_hyphen_values = true)]
    cron: Option<OsString>,
    /// Not there: the hint says what is
    #[arg(long, value_name = "DAYS", hide = true, allow_hyphen_values = true)]
    on: Option<OsString>,
    /// Not there: the hint says what is
    #[arg(long, value_name = "ZONE", hide = true, allow_hyphen_values = true)]
    tz: Option<OsString>,
    /// Maximum number of missed runs to make up for; 0 means all
    #[arg(long, value_name = "N", value_parser = value::at_least_zero, default_value = "0")]
    backlog: u64,
    /// Jid of the recurring job [default: a new one]
    #[arg(long, value_parser = value::new_jid())]
    pub(super) jid: Option<Name>,
    /// Leave an existing recurring job with this jid as it is
    #[arg(long, conflicts_with = "replace")]
    if_absent: bool,
    /// Replace an existing recurring job with this jid; only its count stays, and a paused one stays paused
    #[arg(long)]
    replace: bool,
    /// Priority; higher runs first
    #[arg(long, value_name = "N", value_parser = value::integer, allow_hyphen_values = true,
          default_value = "0")]
    priority: i64,
    /// Tag
    #[arg(long = "tag", value_name = "T", value_parser = value::new_name(),
          add = value::CompletionKind::Tags)]
    tags: Vec<Name>,
    /// Number of retries of each job
    #[arg(long, value_name = "N", value_parser = value::at_least_zero, default_value = "5")]
    retries: u64,
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
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    refuse_too_many_tags("--tag", &args.tags)?;
    let (every, at) = interval_and_first_run(&args)?;
    let data = match args.positional.as_ref().or(args.data.as_ref()) {
        Some(given) => data::read_json_data(&mut session.input(), given, args.limit.max_data)?.0,
        None => data::refuse_too_long(data::build_object(&args.arg)?, args.limit.max_data)?,
    };
    let now = session.connect()?;
    let fresh = args.jid.is_none();
    let new_jid = || Name::from(uuid::Uuid::new_v4().simple().to_string());
    let jid = args.jid.unwrap_or_else(new_jid);
    let mut coordination = args.lane.lane_and_coordination_options(&args.coordinated);
    if args.no_overlap {
        super::forbid_overlaps(&jid, &mut coordination);
    }
    // The core refuses a recurring job with such an option but without a key, whatever the defaults of its queue are.
    if !coordination.has_key_with_defaults(&CoordinationOptions::default()) {
        coordination::refuse_unmet_requirements(&coordination)?;
    }
    note_option_without_required_dup(args.queue.as_bytes(), &coordination, now, session)?;
    let offset = match (args.offset, &at) {
        (Some(wait), _) => wait.as_secs_f64(),
        (None, Some(at)) => at.resolve(now).since(now),
        (None, None) => 0.0,
    };
    let job = RecurringJobToPut {
        jid,
        queue: args.queue,
        klass: args.klass,
        data: data.into(),
        every: decimal_seconds_text(every),
        offset: offset.to_string(),
        priority: args.priority.to_string(),
        retries: args.retries.to_string(),
        backlog: args.backlog.to_string(),
        tags: args.tags,
        coordination,
    };
    let jid = &job.jid;
    let found = session.core()?.recurring_jobs(now, slice::from_ref(jid))?;
    let found = found.into_iter().flatten().next();
    let exists = found.is_some();
    let paused = found.filter(|found| args.replace && found.is_paused());
    let pause = paused.as_ref().and_then(|found| {
        let (by, reason) = (found.paused_by.as_ref(), found.paused_reason.as_ref());
        let count = found
            .count
            .as_ref()
            .and_then(|count| count.to_string().parse().ok());
        Some(pause_and_count_note(
            Some(found.paused_since?),
            by,
            reason,
            count.unwrap_or_default(),
        ))
    });
    if exists && !args.if_absent && !args.replace {
        return Err(Error::conflict(format!(
            "cannot put `{jid}`: a recurring job of this id exists already"
        ))
        .hint("`--if-absent` leaves it as it is, `--replace` replaces it")
        .about_jid(&job.jid));
    }
    let dry = args.dry.dry_run;
    let leave = exists && args.if_absent;
    if !leave {
        let queues = slice::from_ref(&job.queue);
        new_queues::note_or_refuse_new_queues(queues, args.existing, dry, now, session)?;
    }
    if !leave {
        maxima::set_changed_maxima(&args.coordinated.throttles, dry, now, session)?;
    }
    let every_text = format_duration(every.as_secs_f64());
    let queue = &job.queue;
    let stays = paused.as_ref().map_or("", stays_paused_clause_or_empty);
    let what = if fresh {
        format!("put a recurring job in {queue}, every {every_text}")
    } else {
        format!("put {jid} in {queue}, every {every_text}{stays}")
    };
    if leave {
        let note = format!("{jid} exists already");
        session.ui.note_to_people(&note);
    } else if session
        .ask_unless_dry_run(args.dry, AskWhen::IfProtected, &what, |_| String::new())?
        .is_some()
    {
        session.core()?.put_recurring(now, &job, pause.as_deref())?;
        if pause.is_some() {
            session.ui.note(&what);
        } else {
            let note = format!("put {jid} in {queue}, every {every_text}");
            session.ui.note_to_people(&note);
        }
    }
    let mut done = CommandResult::new("recur put", vec![job.jid], dry).printing_targets();
    if !leave && pause.is_none() {
        let next = Moment::from_seconds(now.seconds() + offset).unwrap_or(now);
        let runs = Recurring::next_runs(next, every.as_secs_f64());
        note_next_runs(&runs, dry || at.is_some(), session);
        done = done.with_next_runs(&runs);
    }
    session.ui.show_and_exit_ok(&done)
}

/// The interval and, if one is given or implied, the time of the first run.
fn interval_and_first_run(args: &Args) -> Result<(Duration, Option<MomentArg>), Error> {
    let absent = [
        (args.cron.is_some(), "cron expressions"),
        (args.on.is_some(), "weekdays (`--on`)"),
        (args.tz.is_some(), "time zones (`--tz`)"),
    ];
    if let Some((_, what)) = absent.into_iter().find(|(given, _)| *given) {
        let why = format!("recurring jobs have intervals, not {what}");
        return Err(Error::usage(why).hint(
            "`--at 03:00`, `--at :30`, `--at 'mon 03:00'` and `--every @daily` say when; for other times, let a \
             line of cron put a job: `qless help recipes`, \"On weekdays\"",
        ));
    }
    let at = args.at.clone();
    match &args.every {
        Some(every) if args.offset.is_some() => Ok((every.interval, None)),
        Some(every) => Ok((every.interval, at.or(every.at.clone()))),
        None => match at.as_ref().map(MomentArg::recurring_period) {
            Some(Some(every)) => Ok((every, at)),
            once => Err(Error::usage(match once {
                Some(_) => "`--every` is missing: the time of `--at` does not recur",
                None => "`--every` or `--at` is missing",
            })
            .hint("`--at 03:00` means daily, `--at :30` hourly, `--at 'mon 03:00'` weekly")),
        },
    }
}
