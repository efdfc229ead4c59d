//! `qless promote`

use crate::bulk::Plan;
use crate::bulk::requeue::promote::{PROMOTE, judge, run as promote};
use crate::cli::Format;
use crate::cli::shared::{BulkFlags, Spread, Targets};
use crate::cli::value;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Bulk;
use crate::model::job::State;

/// Run scheduled jobs now
///
/// They wait in their own queue from now on, with their priority and the retries they have left.
/// A selector without `--state` means scheduled jobs.
///
/// Example: `qless promote 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
///
/// Example: `qless promote --queue mail --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not scheduled, 6 server, 9 not confirmed.
///
/// See also: `qless move`, `qless help selectors`
#[derive(Debug, clap::Args)]
#[command(add = value::Jobs::Scheduled)]
pub struct Args {
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: Spread,
    #[command(flatten)]
    jobs: Targets,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid])?;
    cx.out.shows::<Bulk>()?;
    let states = [State::Scheduled];
    let plan =
        Plan::open(cx, &PROMOTE, &args.bulk, &args.jobs, &states, judge)?.spread(&args.spread);
    plan.consent(cx, "")?;
    promote(plan, cx)
}
