//! `qless forget`: names that are no longer needed.

use super::subcommands::{Subcommands, nested_subcommands};
use super::{HelpGroup, MemberDispatch, Spec};

mod queue;
mod worker;

/// Remove queues or workers from the lists of known ones
///
/// Jobs are not touched: a queue or worker that has jobs is refused, a queue unless `--force` is given.
///
/// Examples: `qless forget queue old-import` · `qless forget worker build-7-4121`
///
/// Exit codes: 0, 4 unknown queue or worker, 5 it is in use, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: NestedSubcommand,
}

nested_subcommands! {
    writes Queue(queue::Args) => queue::run,
    writes Worker(worker::Args) => worker::run,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Operate, |args: Args, session| {
    args.command.run(session)
})
.context_member_dispatch(|args| {
    MemberDispatch::require_all_names_if_several(match &args.command {
        NestedSubcommand::Queue(queue) => queue.queues.len(),
        NestedSubcommand::Worker(worker) => worker.workers.len(),
    })
});
