//! `qless cancel`

use crate::bulk::Plan;
use crate::bulk::cancel::{CANCEL, judge, run as cancel};
use crate::cli::Format;
use crate::cli::shared::{BulkFlags, Targets};
use crate::core::guard::Dependents;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Bulk;
use crate::model::job::State;

/// Delete jobs
///
/// Prints the jids that were deleted. Complete jobs are left alone: they are deleted in time.
/// Several jobs are deleted only after a question, or with `--yes`.
///
/// Example: `qless cancel 3f2a5510a4d2b8c34e6f8a9b0c1d2e3f`
///
/// Example: `qless jobs --queue tmp -o jid | qless cancel - --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 other jobs wait for it, 6 server,
/// 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do about jobs that wait for one of these
    #[arg(long, value_enum, default_value = "refuse", value_name = "HOW")]
    dependents: Dependents,
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    jobs: Targets,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid, Format::Raw])?;
    cx.out.shows::<Bulk>()?;
    let states: Vec<State> = State::ALL
        .into_iter()
        .filter(|state| *state != State::Complete)
        .collect();
    let plan = Plan::open(cx, &CANCEL, &args.bulk, &args.jobs, &states, judge)?;
    cancel(plan, args.dependents, cx.now(), cx)
}
