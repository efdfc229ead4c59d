//! `qless throttle`: named limits of the jobs that run at the same time.

use clap::Subcommand;

use super::{Group, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

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

#[derive(Clone, Debug, Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Set(set::Args),
    Rm(rm::Args),
    Locks(jobs::LocksArgs),
    Pending(jobs::PendingArgs),
    Release(release::Args),
}

impl Args {
    fn writes(&self) -> bool {
        matches!(
            self.command,
            Command::Set(_) | Command::Rm(_) | Command::Release(_)
        )
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(Group::Operate, Args::writes, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    match args.command {
        Command::List(args) => list::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Set(args) => set::run(args, session),
        Command::Rm(args) => rm::run(args, session),
        Command::Locks(args) => jobs::locks(args, session),
        Command::Pending(args) => jobs::pending(args, session),
        Command::Release(args) => release::run(args, session),
    }
}
