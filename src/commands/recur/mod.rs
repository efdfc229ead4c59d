//! `qless recur`: recurring jobs.

use clap::Subcommand;

use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::recur::Recurring;
use crate::view::text::clean;

mod get;
mod list;
mod put;
mod rm;
mod run;
mod set;
mod tag;

/// Show and change recurring jobs
///
/// A recurring job is a template: the core puts a job from it each interval, when someone pops or
/// peeks its queue. If nobody does, it is overdue.
///
/// Examples: `qless recur list` · `qless recur put reports Nightly --every 1d --at 03:00 --jid nightly`
///
/// Exit codes: 0, 4 unknown jid or queue, 5 it exists already, 6 server, 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
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
    pub fn writes(&self) -> bool {
        !matches!(self.command, Command::Get(_) | Command::List(_))
    }
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    match args.command {
        Command::Get(args) => get::run(args, cx),
        Command::List(args) => list::run(args, cx),
        Command::Put(args) => put::run(args, cx),
        Command::Rm(args) => rm::run(args, cx),
        Command::Run(args) => run::run(args, cx),
        Command::Set(args) => set::run(args, cx),
        Command::Tag(args) => tag::run(args, cx),
    }
}

/// Looks at one recurring job.
fn first(cx: &mut Cx, now: Moment, jid: &Name) -> Result<Option<Recurring>, Error> {
    let found = cx.core()?.recurs(now, std::slice::from_ref(jid))?;
    Ok(found.into_iter().flatten().next())
}

fn gone(jid: &Name) -> Error {
    Error::not_found(format!("recurring job `{}` does not exist", clean(jid))).jid(jid)
}
