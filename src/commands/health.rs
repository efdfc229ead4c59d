//! `qless health`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::health_limit;
use crate::core::api::overview::SnapshotRequest;
use crate::error::Error;
use crate::exit::Exit;
use crate::look;
use crate::look::health;
use crate::model::health::{Health, HealthLevel, HealthLimit, LimitKind, Limits};
use crate::session::Session;

/// Say whether all is well, for a cron line, a load balancer or Nagios
///
/// Without limits, each problem that `qless status` shows counts. With limits, only they count. A limit is for
/// every queue or group; `mail=1000` is for the queue mail, `mail*=1000` for all that match, in place of the limit
/// for every queue. In `1000,5000` a value above 1000 is a warning, and one above 5000 is critical. A queue that
/// does not exist, or a pattern that matches none, is a warning. A group exists only while jobs are in it. If the
/// prefix has no queue at all, that is said in place of `all is well`; it is no problem.
///
/// With `-q`, only what is wrong is printed, and nothing if all is well, as cron wants it.
///
/// `--nagios` prints one line, with the values that limits are about, and exits with 0 (ok), 1 (warning), 2
/// (critical, also if Redis does not answer) or 3 (unknown), as plugins do.
///
/// Examples: `qless health` · `qless health -q --max-failed 0`
/// · `qless health --max-waiting 1000,5000 --max-waiting bulk=100000`
/// · `qless health --max-head-wait 'mail*=5m' --min-workers 2 --nagios`
///
/// Exit codes: 0, 6 server, 10 a limit is passed or there is a problem; with `--nagios` 0, 1, 2 or 3.
///
/// See also: `qless status`, `qless metrics`, `qless lag --older-than`, `qless failed --older-than`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// At most this many waiting jobs
    #[arg(long, value_name = "[QUEUE=]N[,M]", value_parser = health_limit::parse_health_count_limit)]
    max_waiting: Vec<HealthLimit>,
    /// The next job to pop may have waited this long
    #[arg(long, value_name = "[QUEUE=]D[,E]", value_parser = health_limit::parse_health_duration_limit)]
    max_head_wait: Vec<HealthLimit>,
    /// At most this many failed jobs
    #[arg(long, value_name = "[GROUP=]N[,M]", value_parser = health_limit::parse_health_count_limit)]
    max_failed: Vec<HealthLimit>,
    /// At most this many jobs whose lock has expired
    #[arg(long, value_name = "[QUEUE=]N[,M]", value_parser = health_limit::parse_health_count_limit)]
    max_stalled: Vec<HealthLimit>,
    /// A pause may have lasted this long
    #[arg(long, value_name = "[QUEUE=]D[,E]", value_parser = health_limit::parse_health_duration_limit)]
    max_paused: Vec<HealthLimit>,
    /// At least this many workers that run jobs or were seen in the last two minutes
    #[arg(long, value_name = "N[,M]", value_parser = health_limit::parse_health_min_workers_limit)]
    min_workers: Option<HealthLimit>,
    /// One line and an exit code as plugins for Nagios have them
    #[arg(long)]
    nagios: bool,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).context_member_dispatch(|args| {
        if args.nagios {
            MemberDispatch::Refused("`--nagios` prints the line of one")
        } else {
            MemberDispatch::Each
        }
    });

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Health>()?;
    let nagios = args.nagios;
    let mut limits = Limits::default();
    for (kind, bounds) in [
        (LimitKind::MaxWaiting, args.max_waiting),
        (LimitKind::MaxHeadWait, args.max_head_wait),
        (LimitKind::MaxFailed, args.max_failed),
        (LimitKind::MaxStalled, args.max_stalled),
        (LimitKind::MaxPaused, args.max_paused),
        (
            LimitKind::MinWorkers,
            args.min_workers.into_iter().collect(),
        ),
    ] {
        limits
            .0
            .extend(bounds.into_iter().map(|bound| (kind, bound)));
    }
    let mut health = judge_health(&limits, session)?;
    if !nagios {
        if session.ui.is_quiet() && session.ui.format() == Format::Table {
            health.drop_ok_items();
            if health.items.is_empty() {
                return Ok(Exit::Ok);
            }
        }
        session.ui.show(&health)?;
        return Ok(health.ok_or_threshold_exit());
    }
    session.ui.print_text(&health.nagios_line())?;
    // Nagios defines the exit codes of plugins, which differ from the exit codes of `qless`.
    Ok(Exit::from_code(match health.level {
        HealthLevel::Ok => 0,
        HealthLevel::Warning => 1,
        HealthLevel::Critical => 2,
    }))
}

/// The output line and the exit code for Nagios, if the command failed before it knew the health.
pub(crate) fn nagios_failure(error: &Error) -> (String, Exit) {
    let (level, code) = match error.exit() {
        Exit::Server => ("CRITICAL", 2),
        _ => ("UNKNOWN", 3),
    };
    let message = error.message().replace(['|', '\n'], "/");
    (
        format!("QLESS {level} - {message}\n"),
        Exit::from_code(code),
    )
}

fn judge_health(limits: &Limits, session: &mut Session) -> Result<Health, Error> {
    let request = SnapshotRequest {
        groups: limits.queue_or_group_names(true),
        queues: limits.queue_or_group_names(false),
        ..SnapshotRequest::default()
    };
    let (facts, now) = look::read_snapshot(look::RECENT, request, &limits.queue_globs(), session)?;
    let problems = look::find_problems(&facts, look::RECENT, now);
    Ok(health::judge_health(&facts, &problems, limits, now))
}
