//! `qless recur`: recurring jobs.

use clap::Subcommand;

use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;

mod get;
mod list;

/// Show and change recurring jobs
///
/// A recurring job is a template: the core puts a job from it each interval, when someone pops or
/// peeks its queue. If nobody does, it is overdue.
///
/// Example: `qless recur list`
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Args),
    List(list::Args),
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    match args.command {
        Command::Get(args) => get::run(args, cx),
        Command::List(args) => list::run(args, cx),
    }
}
