//! `qless move`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::shared::{
    BulkFlags, DueTimeFlags, JobTargets, RequireExistingQueueFlag, SpreadOverTimeFlag,
};
use crate::args::value;
use crate::bulk::BulkPlan;
use crate::bulk::requeue::moving::MoveOptions;
use crate::error::Error;
use crate::exit::Exit;
use crate::name::Name;
use crate::session::Session;

/// Move jobs to another queue
///
/// A moved job has all its retries again; data, tags and priority stay. A scheduled time that is
/// still ahead stays, unless `--delay` or `--at` is given. A job with dependencies keeps them.
/// Failed and complete jobs run again in the new queue; a selector without `--state` leaves
/// complete jobs out. Running jobs are moved only with `--force`.
///
/// Example: `qless move 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a --to mail-slow`
///
/// Example: `qless move --queue mail --tag bulk --to mail-slow --yes`
///
/// Exit codes: 0, 3 some failed, 4 unknown jid, 5 running, or already in that queue, 6 server, 9
/// not confirmed.
///
/// See also: `qless promote`, `qless retry`, `qless help selectors`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// New queue
    #[arg(long, value_name = "QUEUE", value_parser = value::new_name(),
          add = value::CompletionKind::Queues)]
    to: Name,
    #[command(flatten)]
    existing: RequireExistingQueueFlag,
    #[command(flatten)]
    later: DueTimeFlags,
    /// Move running jobs, too; their locks are revoked
    #[arg(long)]
    force: bool,
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
    let options = MoveOptions {
        to: args.to,
        run_time: args.later,
        force: args.force,
    };
    let action = options.bulk_action();
    BulkPlan::connect_and_plan(session, &action, &args.bulk, &args.jobs)?
        .spread_starts(&args.spread)
        .note_or_refuse_new_queue(Some(&options.to), args.existing, session)?
        .ask_and_run(action, session)
}
