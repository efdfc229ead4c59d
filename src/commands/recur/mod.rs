//! `qless recur`: recurring jobs.

use clap::Subcommand;

use super::{Group, Spec};
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::recur::Recurring;
use crate::name::Name;
use crate::session::Session;

mod get;
mod list;
mod put;
mod rm;
mod run;
mod set;
mod tag;

/// Show and change recurring jobs
///
/// A recurring job is a template. When a worker pops its queue or a client peeks it, the core puts
/// one job per interval that has passed. Without pops and peeks the recurring job is overdue.
///
/// Examples: `qless recur list` · `qless recur put reports Nightly --every 1d --at 03:00 --jid nightly`
///
/// Exit codes: 0, 4 unknown jid or queue, 5 the jid exists, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Get(get::Args),
    List(list::Args),
    Put(put::Args),
    Rm(rm::Args),
    Run(run::Args),
    Set(set::Args),
    Tag(tag::Args),
}

impl Args {
    fn writes(&self) -> bool {
        !matches!(self.command, Command::Get(_) | Command::List(_))
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes_if(Group::Submit, Args::writes, run);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    match args.command {
        Command::Get(args) => get::run(args, session),
        Command::List(args) => list::run(args, session),
        Command::Put(args) => put::run(args, session),
        Command::Rm(args) => rm::run(args, session),
        Command::Run(args) => run::run(args, session),
        Command::Set(args) => set::run(args, session),
        Command::Tag(args) => tag::run(args, session),
    }
}

/// Reads one recurring job.
fn first(session: &mut Session, now: Moment, jid: &Name) -> Result<Option<Recurring>, Error> {
    let found = session.core()?.recurs(now, std::slice::from_ref(jid))?;
    Ok(found.into_iter().flatten().next())
}

fn missing(jid: &Name) -> Error {
    Error::not_found(format!("recurring job `{jid}` does not exist")).jid(jid)
}
