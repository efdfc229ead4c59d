//! `qless throttle set`

use std::time::Duration;

use super::note_lane_or_unused_throttle;
use crate::args::coordination::new_throttle_id;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::clock::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::model::throttle::describe_maximum;
use crate::name::Name;
use crate::session::consent::AskWhen;
use crate::session::{Session, actor};
use crate::text::format_count;

/// Set how many jobs of a throttle may run at the same time
///
/// 0 removes the limit. A negative number lets no job run. If the maximum rises, all jobs that wait and
/// have a slot now return to their queues, in slices; if it falls, no running job is stopped. With
/// `--ttl` the maximum is forgotten after that time. On a terminal, a note says how many jobs return, if the id
/// belongs to a lane, which always runs one job at a time, and if no job uses it.
///
/// Examples: `qless throttle set api 10` · `qless throttle set api -1 --ttl 10m`
///
/// Exit codes: 0, 2 usage, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Throttle
    #[arg(value_name = "ID", value_parser = new_throttle_id(), add = value::CompletionKind::Throttles)]
    id: Name,
    /// Maximum number of jobs; 0 removes the limit, a negative number lets no job run
    #[arg(value_name = "MAX", value_parser = value::integer, allow_negative_numbers = true)]
    maximum: i64,
    /// Forget the maximum after this time
    #[arg(long, value_name = "D", value_parser = value::positive_duration)]
    ttl: Option<Duration>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let Args { id, maximum, .. } = &args;
    let dry = args.dry.dry_run;
    // The server counts whole seconds.
    let ttl = args
        .ttl
        .map(|ttl| Duration::from_secs(ttl.as_secs_f64().ceil() as u64));
    let ttl = ttl.map(duration::decimal_seconds_text);
    let now = session.connect()?;
    let what = format!(
        "set the maximum of throttle {id} to {}",
        describe_maximum(*maximum)
    );
    note_lane_or_unused_throttle(id, dry, now, session)?;
    let consent =
        session.ask_unless_dry_run(args.dry, AskWhen::IfProtected, &what, |_| String::new())?;
    if consent.is_some() {
        let core = session.core()?;
        let returned = core.set_maximum_and_wake_held_jobs(
            now,
            id,
            *maximum,
            ttl.as_deref(),
            &actor::user_at_host(),
        )?;
        session.ui.note_to_people(&match returned {
            0 => what,
            jobs => format!(
                "{what}; {} returned to the queue",
                format_count(jobs, "job", "jobs")
            ),
        });
    }
    session
        .ui
        .show_and_exit_ok(&CommandResult::new("throttle set", vec![args.id], dry))
}
