//! `qless throttle`: named limits of the jobs that run at the same time.

use super::subcommands::{Subcommands, nested_subcommands};
use super::{Group, MemberUse, Spec};

mod jobs;
mod list;
mod release;
mod rm;
mod set;
mod show;

/// Show and change throttles: limits of the jobs that run at the same time
///
/// A job that was put with `--throttle ID` runs only while it holds a slot of that throttle. It takes
/// one slot of each of its throttles when it is popped, and gives them back when it ends, is retried or
/// times out. If a throttle has no free slot, its state is `throttled`: it waits outside the queue and
/// blocks no other job. A throttle without a maximum limits nothing; one whose id begins with `lock:`
/// (`--lock`) has one slot. All queues share it.
///
/// Examples: `qless throttle set api 10` · `qless throttle list` · `qless throttle show api`
///
/// Exit codes: 0, 2 usage, 3 a throttle cannot be read, because a key of it has the wrong type,
/// 4 unknown throttle, or a jid that has nothing to release, 6 server, 9 not confirmed.
///
/// See also: `qless put --throttle`, `qless jobs --state throttled`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

nested_subcommands! {
    reads List(list::Args) => list::run,
    reads Show(show::Args) => show::run,
    writes Set(set::Args) => set::run,
    writes Rm(rm::Args) => rm::run,
    reads Locks(jobs::LocksArgs) => jobs::list_locks,
    reads Pending(jobs::PendingArgs) => jobs::list_pending,
    writes Release(release::Args) => release::run,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(
    Group::Operate,
    |args: &Args| args.command.writes(),
    |args, session| args.command.run(session),
)
.members(|args| match &args.command {
    Command::Release(release) => MemberUse::Jobs(&release.jids),
    _ => MemberUse::Each,
});
