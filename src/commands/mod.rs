//! One room per subcommand; the path spells the command line.
//!
//! To add `qless x`:
//! 1. `commands/x.rs`: `Args` (its doc comment is the help: first line imperative, no full stop;
//!    then sentences, an example, the exit codes), and `run(args, cx) -> Result<Exit, Error>`:
//!    read args → call core → show. No layout, no keys. See `length.rs`.
//! 2. one line in each of the three lists below.
//! 3. the typed call in `core/<noun>.rs`, the document in `model/<noun>.rs` (serde, cli.md 9),
//!    its columns in `view/<noun>.rs` (`impl View`).
//! 4. `tests/commands/x.rs`, named in `tests/all.rs`.
//! 5. `UPDATE_EXPECT=1 cargo test generated` writes the man pages anew.
//!
//! `run` begins with `cx.out.accepts(&[…])`, the formats besides table, json and ndjson: so a
//! wrong `-o` is refused before anything is changed.

use std::time::Duration;

use clap::Subcommand;

use crate::cli::Globals;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::settings::{self, Settings};
use crate::watch;

pub mod api;
pub mod cancel;
pub mod check;
pub mod complete;
pub mod completions;
pub mod config;
pub mod context;
pub mod depends;
pub mod export;
pub mod fail;
pub mod failed;
pub mod forget;
pub mod get;
pub mod heartbeat;
pub mod help;
pub mod import;
pub mod jobs;
pub mod length;
pub mod local;
pub mod log;
pub mod man;
pub mod r#move;
pub mod pause;
pub mod peek;
pub mod pop;
pub mod priority;
pub mod promote;
pub mod put;
pub mod queues;
pub mod recur;
pub mod retry;
pub mod script;
pub mod stats;
pub mod tag;
pub mod timeout;
pub mod track;
pub mod unfail;
pub mod unpause;
pub mod version;
pub mod workers;

#[derive(Debug, Subcommand)]
pub enum Command {
    Api(api::Args),
    Cancel(cancel::Args),
    Check(check::Args),
    Complete(complete::Args),
    Completions(completions::Args),
    Config(config::Args),
    Context(context::Args),
    Depends(depends::Args),
    Export(export::Args),
    Fail(fail::Args),
    Failed(failed::Args),
    Forget(forget::Args),
    Get(get::Args),
    Heartbeat(heartbeat::Args),
    Help(help::Args),
    Import(import::Args),
    Jobs(jobs::Args),
    Length(length::Args),
    Local(local::Args),
    Log(log::Args),
    Move(r#move::Args),
    Man(man::Args),
    Pause(pause::Args),
    Peek(peek::Args),
    Pop(pop::Args),
    Priority(priority::Args),
    Promote(promote::Args),
    Put(put::Args),
    Queues(queues::Args),
    Recur(recur::Args),
    Retry(retry::Args),
    Script(script::Args),
    Stats(stats::Args),
    Tag(tag::Args),
    Timeout(timeout::Args),
    Track(track::Args),
    Unfail(unfail::Args),
    Unpause(unpause::Args),
    Version(version::Args),
    Workers(workers::Args),
}

impl Command {
    /// Fills in what the config file says. Some read none, so that they help with a broken one;
    /// and for `context` none of its contexts holds.
    pub fn settings(&self, globals: &mut Globals) -> Result<Option<Settings>, Error> {
        match self {
            Command::Completions(_) | Command::Help(_) | Command::Man(_) => Ok(None),
            Command::Context(_) => settings::fill(globals, false).map(Some),
            _ => settings::fill(globals, true).map(Some),
        }
    }

    /// Returns whether it may change something, so that `--read-only` refuses it. Whether an
    /// option of a reading command does is for that command to say.
    fn writes(&self) -> bool {
        match self {
            Command::Api(args) => args.writes(),
            Command::Check(args) => args.writes(),
            Command::Config(args) => args.writes(),
            Command::Depends(args) => args.writes(),
            Command::Failed(args) => args.writes(),
            Command::Local(args) => args.writes(),
            Command::Recur(args) => args.writes(),
            Command::Tag(args) => args.writes(),
            Command::Track(args) => args.writes(),
            Command::Cancel(_)
            | Command::Complete(_)
            | Command::Fail(_)
            | Command::Forget(_)
            | Command::Heartbeat(_)
            | Command::Import(_)
            | Command::Log(_)
            | Command::Move(_)
            | Command::Pause(_)
            | Command::Pop(_)
            | Command::Priority(_)
            | Command::Promote(_)
            | Command::Put(_)
            | Command::Retry(_)
            | Command::Timeout(_)
            | Command::Unfail(_)
            | Command::Unpause(_) => true,
            Command::Completions(_)
            // Its own file is all that it changes.
            | Command::Context(_)
            | Command::Export(_)
            | Command::Get(_)
            | Command::Help(_)
            | Command::Jobs(_)
            | Command::Length(_)
            | Command::Man(_)
            | Command::Peek(_)
            | Command::Queues(_)
            | Command::Script(_)
            | Command::Stats(_)
            | Command::Version(_)
            | Command::Workers(_) => false,
        }
    }

    /// Returns how often it is to be shown anew, if `--watch` was given.
    fn watch(&self) -> Option<Duration> {
        let watch = match self {
            Command::Failed(args) => args.watch,
            Command::Jobs(args) => args.watch,
            Command::Queues(args) => args.watch,
            Command::Stats(args) => args.watch,
            Command::Track(args) => args.watch,
            Command::Workers(args) => args.watch,
            _ => return None,
        };
        watch.every
    }
}

/// Runs a command that has `--watch`, once.
pub fn look(command: &Command, cx: &mut Cx) -> Result<Exit, Error> {
    match command {
        Command::Failed(args) => failed::run(args.clone(), cx),
        Command::Jobs(args) => jobs::run(args.clone(), cx),
        Command::Queues(args) => queues::run(args.clone(), cx),
        Command::Stats(args) => stats::run(args.clone(), cx),
        Command::Track(args) => track::run(args.clone(), cx),
        Command::Workers(args) => workers::run(args.clone(), cx),
        _ => Err(Error::internal("a command that cannot be watched")),
    }
}

/// Runs the command that was typed.
pub fn run(command: Command, cx: &mut Cx) -> Result<Exit, Error> {
    let (writes, watch) = (command.writes(), command.watch());
    cx.changes = writes;
    if writes && watch.is_some() {
        return Err(Error::usage(
            "`--watch` only looks, and this changes something",
        ));
    }
    if writes {
        cx.writes(&format!("`qless {}`", cx.name()))?;
    }
    if let Some(every) = watch {
        return watch::run(&command, every, cx);
    }
    if !writes && !cx.globals.no_pager && !matches!(command, Command::Api(_)) {
        cx.out.page_long();
    }
    match command {
        Command::Api(args) => api::run(args, cx),
        Command::Cancel(args) => cancel::run(args, cx),
        Command::Check(args) => check::run(args, cx),
        Command::Complete(args) => complete::run(args, cx),
        Command::Completions(args) => completions::run(args, cx),
        Command::Config(args) => config::run(args, cx),
        Command::Context(args) => context::run(args, cx),
        Command::Depends(args) => depends::run(args, cx),
        Command::Export(args) => export::run(args, cx),
        Command::Fail(args) => fail::run(args, cx),
        Command::Failed(args) => failed::run(args, cx),
        Command::Forget(args) => forget::run(args, cx),
        Command::Get(args) => get::run(args, cx),
        Command::Heartbeat(args) => heartbeat::run(args, cx),
        Command::Help(args) => help::run(args, cx),
        Command::Import(args) => import::run(args, cx),
        Command::Jobs(args) => jobs::run(args, cx),
        Command::Length(args) => length::run(args, cx),
        Command::Local(args) => local::run(args, cx),
        Command::Log(args) => log::run(args, cx),
        Command::Move(args) => r#move::run(args, cx),
        Command::Man(args) => man::run(args, cx),
        Command::Pause(args) => pause::run(args, cx),
        Command::Peek(args) => peek::run(args, cx),
        Command::Pop(args) => pop::run(args, cx),
        Command::Priority(args) => priority::run(args, cx),
        Command::Promote(args) => promote::run(args, cx),
        Command::Put(args) => put::run(args, cx),
        Command::Queues(args) => queues::run(args, cx),
        Command::Recur(args) => recur::run(args, cx),
        Command::Retry(args) => retry::run(args, cx),
        Command::Script(args) => script::run(args, cx),
        Command::Stats(args) => stats::run(args, cx),
        Command::Tag(args) => tag::run(args, cx),
        Command::Timeout(args) => timeout::run(args, cx),
        Command::Track(args) => track::run(args, cx),
        Command::Unfail(args) => unfail::run(args, cx),
        Command::Unpause(args) => unpause::run(args, cx),
        Command::Version(args) => version::run(args, cx),
        Command::Workers(args) => workers::run(args, cx),
    }
}
