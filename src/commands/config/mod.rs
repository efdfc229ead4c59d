//! `qless config`: the options of the core.

use clap::Subcommand;

use super::{Group, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

mod dump;
mod get;
mod list;
mod load;
mod set;
mod unset;

/// Show and change the options of the core
///
/// The server stores the options; they hold for all clients.
///
/// Examples: `qless config list` · `qless config set images-max-concurrency 5`
///
/// Exit codes: 0, 2 wrong value, 4 unknown option, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Get(get::Args),
    List(list::Args),
    Set(set::Args),
    Unset(unset::Args),
    Dump(dump::Args),
    Load(load::Args),
}

impl Args {
    fn writes(&self) -> bool {
        matches!(
            self.command,
            Command::Set(_) | Command::Unset(_) | Command::Load(_)
        )
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(Group::Operate, Args::writes, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    match args.command {
        Command::Get(args) => get::run(args, session),
        Command::List(args) => list::run(args, session),
        Command::Set(args) => set::run(args, session),
        Command::Unset(args) => unset::run(args, session),
        Command::Dump(args) => dump::run(args, session),
        Command::Load(args) => load::run(args, session),
    }
}
