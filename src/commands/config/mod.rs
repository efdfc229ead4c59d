//! `qless config`: the options of the core.

use super::subcommands::{Subcommands, nested_subcommands};
use super::{HelpGroup, Spec};

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
    command: NestedSubcommand,
}

nested_subcommands! {
    reads Get(get::Args) => get::run,
    reads List(list::Args) => list::run,
    writes Set(set::Args) => set::run,
    writes Unset(unset::Args) => unset::run,
    reads Dump(dump::Args) => dump::run,
    writes Load(load::Args) => load::run,
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(
    HelpGroup::Operate,
    |args| args.command.writes(),
    |args, session| args.command.run(session),
);
