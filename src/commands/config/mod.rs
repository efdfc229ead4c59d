//! `qless config`: the options of the core.

use clap::Subcommand;

use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;

mod dump;
mod get;
mod list;
mod load;
mod set;
mod unset;

/// Show and change the options of the core
///
/// Options are kept on the server and are the same for all clients.
///
/// Examples: `qless config list` · `qless config set images-max-concurrency 5`
///
/// Exit codes: 0, 2 wrong value, 4 unknown option, 6 server, 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Get(get::Args),
    List(list::Args),
    Set(set::Args),
    Unset(unset::Args),
    Dump(dump::Args),
    Load(load::Args),
}

impl Args {
    pub fn writes(&self) -> bool {
        matches!(
            self.command,
            Command::Set(_) | Command::Unset(_) | Command::Load(_)
        )
    }
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    match args.command {
        Command::Get(args) => get::run(args, cx),
        Command::List(args) => list::run(args, cx),
        Command::Set(args) => set::run(args, cx),
        Command::Unset(args) => unset::run(args, cx),
        Command::Dump(args) => dump::run(args, cx),
        Command::Load(args) => load::run(args, cx),
    }
}
