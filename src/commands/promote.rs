//! `qless promote`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{BulkFlags, JobTargets, SpreadOverTimeFlag};
use crate::args::value;
use crate::bulk::BulkPlan;
use crate::bulk::requeue::promote;
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// Run scheduled jobs now
///
/// They become waiting in their own queue, with their priority and their remaining retries. A
/// selector without `--state` means scheduled jobs.
///
/// Example: `qless promote 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
///
/// Example: `qless promote --queue mail --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 not scheduled, 6 server, 9 not confirmed.
///
/// See also: `qless move`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::Scheduled)]
pub(crate) struct Args {
    #[command(flatten)]
    bulk: BulkFlags,
    #[command(flatten)]
    spread: SpreadOverTimeFlag,
    #[command(flatten)]
    jobs: JobTargets,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Submit, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.jobs.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let promote = promote::promote_action();
    BulkPlan::connect_and_plan(session, &promote, &args.bulk, &args.jobs)?
        .spread_starts(&args.spread)
        .ask_and_run(promote, session)
}
