//! `qless forget`: names that are no longer needed.

use clap::Subcommand;

use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;

mod queue;
mod worker;

/// Take queues or workers off the lists of known ones
///
/// Jobs are not touched: what holds some is refused.
///
/// Examples: `qless forget queue old-import` · `qless forget worker build-7-4121`
///
/// Exit codes: 0, 4 unknown queue or worker, 5 it is in use, 6 server, 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Queue(queue::Args),
    Worker(worker::Args),
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    match args.command {
        Command::Queue(args) => queue::run(args, cx),
        Command::Worker(args) => worker::run(args, cx),
    }
}
