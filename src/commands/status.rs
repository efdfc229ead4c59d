//! `qless status`

use std::time::Duration;

use super::{HelpGroup, Spec};
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::command_line::CommandLine;
use crate::core::api::overview::SnapshotRequest;
use crate::error::Error;
use crate::exit::Exit;
use crate::look;
use crate::model::overview::Overview;
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

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Inspect, run).watch_interval(|args| args.watch.every);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Overview>()?;
    let since = args.since.as_secs_f64();
    let (facts, now) = look::read_snapshot(since, SnapshotRequest::default(), &[], session)?;
    let interval = args.watch.every.unwrap_or_default();
    session.history.add_snapshot(&facts, now, interval);
    let mut overview = look::build_overview(facts, since, now);
    overview.last_minute = session.history.last_minute_rates();
    let note = CommandLine::new("doctor")
        .fill_sentence("no queue exists under this prefix: {} looks for others");
    if let Some(note) = note.filter(|_| overview.totals.queues == 0) {
        session.ui.note_to_people(&note);
    }
    session.ui.show_and_exit_ok(&overview)
}
