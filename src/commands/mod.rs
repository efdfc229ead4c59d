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
//! 5. `UPDATE_EXPECT=1 cargo test generated` writes completions and man pages anew.
//!
//! `run` begins with `cx.out.accepts(&[…])`, the formats besides table, json and ndjson: so a
//! wrong `-o` is refused before anything is changed.

use clap::Subcommand;

use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;

pub mod api;
pub mod config;
pub mod depends;
pub mod failed;
pub mod get;
pub mod jobs;
pub mod length;
pub mod local;
pub mod peek;
pub mod queues;
pub mod recur;
pub mod script;
pub mod stats;
pub mod tag;
pub mod track;
pub mod version;
pub mod workers;

#[derive(Debug, Subcommand)]
pub enum Command {
    Api(api::Args),
    Config(config::Args),
    Depends(depends::Args),
    Failed(failed::Args),
    Get(get::Args),
    Jobs(jobs::Args),
    Length(length::Args),
    Local(local::Args),
    Peek(peek::Args),
    Queues(queues::Args),
    Recur(recur::Args),
    Script(script::Args),
    Stats(stats::Args),
    Tag(tag::Args),
    Track(track::Args),
    Version(version::Args),
    Workers(workers::Args),
}

/// Runs the command that was typed.
pub fn run(command: Command, cx: &mut Cx) -> Result<Exit, Error> {
    match command {
        Command::Api(args) => api::run(args, cx),
        Command::Config(args) => config::run(args, cx),
        Command::Depends(args) => depends::run(args, cx),
        Command::Failed(args) => failed::run(args, cx),
        Command::Get(args) => get::run(args, cx),
        Command::Jobs(args) => jobs::run(args, cx),
        Command::Length(args) => length::run(args, cx),
        Command::Local(args) => local::run(args, cx),
        Command::Peek(args) => peek::run(args, cx),
        Command::Queues(args) => queues::run(args, cx),
        Command::Recur(args) => recur::run(args, cx),
        Command::Script(args) => script::run(args, cx),
        Command::Stats(args) => stats::run(args, cx),
        Command::Tag(args) => tag::run(args, cx),
        Command::Track(args) => track::run(args, cx),
        Command::Version(args) => version::run(args, cx),
        Command::Workers(args) => workers::run(args, cx),
    }
}
