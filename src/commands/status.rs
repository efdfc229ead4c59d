//! `qless status`

use std::time::{Duration, Instant};

use super::{Group, Spec};
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::core::api::overview::LookRequest;
use crate::error::Error;
use crate::exit::Exit;
use crate::look;
use crate::model::overview::{Overview, WatchSample, WatchedRates};
use crate::model::queue::RoundedSeconds;
use crate::session::Session;

/// Show the whole system on one screen
///
/// The server, what needs attention with the command that helps, the number of jobs in each state, what
/// was popped and completed today (UTC) and in the last five minutes, the oldest waits with what holds
/// the jobs, and workers. `--watch` also shows how many jobs are put and completed per second. All figures
/// are of one moment. Of more than 500 queues, the oldest and the newest are read; of more than 500
/// groups of failures or workers, 500; the others are only counted. More than 16 recent failures of a group
/// are counted to a sixteenth.
///
/// Examples: `qless status` · `qless status --since 10m` · `qless status -o json | jq .totals`
///
/// Exit codes: 0, 6 server.
///
/// See also: `qless queues`, `qless failed`, `qless workers`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Count the failures of this time
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "1h")]
    since: Duration,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run).watch(|args| args.watch.every);

/// The time over which rates are counted.
const WINDOW: Duration = Duration::from_secs(60);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Overview>()?;
    let since = args.since.as_secs_f64();
    let (facts, now) = look::look_at(since, LookRequest::default(), &[], session)?;
    let mut overview = look::build_overview(facts, since, now);
    overview.last_minute = rates_of_last_minute(&overview, session);
    session.ui.show(&overview)?;
    Ok(Exit::Ok)
}

/// The rates since the oldest count of the last minute, and notes the present one.
fn rates_of_last_minute(overview: &Overview, session: &mut Session) -> Option<WatchedRates> {
    let totals = &overview.totals;
    let at = Instant::now();
    let sample = WatchSample {
        at,
        open: totals.queued.total() + totals.failed,
        completed: overview.today.completed,
    };
    let samples = &mut session.samples;
    samples.retain(|sample| at.duration_since(sample.at) <= WINDOW);
    let first = samples.first().copied();
    samples.push(sample);
    let first = first?;
    let seconds = at.duration_since(first.at).as_secs_f64();
    // At midnight the counter of completions begins again.
    let completed = sample.completed.checked_sub(first.completed)? as f64;
    let put = (sample.open as f64 - first.open as f64 + completed).max(0.0);
    (seconds > 0.0).then(|| WatchedRates {
        seconds: RoundedSeconds(seconds),
        put_per_s: RoundedSeconds(put / seconds),
        completed_per_s: RoundedSeconds(completed / seconds),
    })
}
