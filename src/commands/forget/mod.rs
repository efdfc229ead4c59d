//! `qless forget`: names that are no longer needed.

use clap::Subcommand;

use super::{Group, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

mod queue;
mod worker;

/// Remove queues or workers from the lists of known ones
///
/// Jobs are not touched: a queue or worker that has jobs is refused.
///
/// Examples: `qless forget queue old-import` · `qless forget worker build-7-4121`
///
/// Exit codes: 0, 4 unknown queue or worker, 5 it is in use, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Queue(queue::Args),
    Worker(worker::Args),
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(Group::Operate, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    match args.command {
        Command::Queue(args) => queue::run(args, session),
        Command::Worker(args) => worker::run(args, session),
    }
}
