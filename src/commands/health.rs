//! `qless health`

use super::{Group, Spec};
use crate::args::bound;
use crate::error::Error;
use crate::exit::Exit;
use crate::look;
use crate::look::health;
use crate::model::health::{Bound, Health, HealthLevel, Limits};
use crate::session::Session;
use crate::text::backtick_list;

/// Tell whether all is well, for a cron line, a load balancer or Nagios
///
/// Without a limit, the problems that `qless status` shows count: exit with 10 if there is one. With limits, only
/// they count. A limit stands for each queue or group; with a name or glob before `=` it stands for those in place
/// of the limit for all. `1000,5000` is a warning beyond 1000 and critical beyond 5000; both exit with 10.
///
/// `--nagios` prints one line with values, and exits with 0 (ok), 1 (warning), 2 (critical, also if Redis does
/// not answer) or 3 (the server's reply cannot be judged), as plugins do.
///
/// Examples: `qless health` · `qless health --max-failed 0`
/// · `qless health --max-waiting 1000,5000 --max-waiting bulk=100000`
/// · `qless health --max-head-wait 'mail*=5m' --min-workers 2 --nagios`
///
/// Exit codes: 0, 6 server, 10 a limit is passed or there is a problem; with `--nagios` 0, 1, 2 or 3.
///
/// See also: `qless status`, `qless metrics`, `qless lag --older-than`, `qless failed --older-than`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// At most this many waiting jobs
    #[arg(long, value_name = "[QUEUE=]N[,M]", value_parser = bound::count_bound)]
    max_waiting: Vec<Bound>,
    /// The next job to pop may have waited this long
    #[arg(long, value_name = "[QUEUE=]D[,E]", value_parser = bound::duration_bound)]
    max_head_wait: Vec<Bound>,
    /// At most this many failed jobs
    #[arg(long, value_name = "[GROUP=]N[,M]", value_parser = bound::count_bound)]
    max_failed: Vec<Bound>,
    /// At most this many jobs whose lock has expired
    #[arg(long, value_name = "[QUEUE=]N[,M]", value_parser = bound::count_bound)]
    max_stalled: Vec<Bound>,
    /// A pause may have lasted this long
    #[arg(long, value_name = "[QUEUE=]D[,E]", value_parser = bound::duration_bound)]
    max_paused: Vec<Bound>,
    /// At least this many workers that run jobs or were seen in the last two minutes
    #[arg(long, value_name = "N[,M]", value_parser = bound::plain_count_bound)]
    min_workers: Option<Bound>,
    /// One line and an exit code as plugins for Nagios have them
    #[arg(long)]
    nagios: bool,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Health>()?;
    let nagios = args.nagios;
    let limits = Limits {
        max_waiting: args.max_waiting,
        max_head_wait: args.max_head_wait,
        max_failed: args.max_failed,
        max_stalled: args.max_stalled,
        max_paused: args.max_paused,
        min_workers: args.min_workers.into_iter().collect(),
    };
    let judged = judge(&limits, session);
    if !nagios {
        let health = judged?;
        session.ui.show(&health)?;
        return Ok(health.exit());
    }
    let (line, code) = match judged {
        Ok(health) => {
            let code = match health.level {
                HealthLevel::Ok => 0,
                HealthLevel::Warning => 1,
                HealthLevel::Critical => 2,
            };
            (health.nagios_line(), code)
        }
        Err(error) => {
            let (level, code) = match error.exit() {
                Exit::Server => ("CRITICAL", 2),
                _ => ("UNKNOWN", 3),
            };
            let message = error.message().replace(['|', '\n'], "/");
            (format!("QLESS {level} - {message}\n"), code)
        }
    };
    session.ui.print_text(&line)?;
    // The codes of plugins mean something else than ours.
    Ok(Exit::from_code(code))
}

fn judge(limits: &Limits, session: &mut Session) -> Result<Health, Error> {
    let (groups, queues) = limits.named();
    let (facts, now) = look::look_since(look::RECENT, false, groups, queues, session)?;
    let problems = look::find_problems(&facts, look::RECENT, now);
    let unknown = health::unknown_queues(&facts, limits);
    if !unknown.is_empty() {
        let note = format!("note: no such queue: {}", backtick_list(&unknown));
        session.ui.note(&note);
    }
    let omitted = facts.omitted();
    if omitted.queues + omitted.groups > 0 {
        let note = format!(
            "note: not looked at: {} queues, {} groups; name those that matter",
            omitted.queues, omitted.groups
        );
        session.ui.note(&note);
    }
    Ok(health::judge(&facts, &problems, limits, now))
}
