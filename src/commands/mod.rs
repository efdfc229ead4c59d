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

pub mod length;
pub mod version;

#[derive(Debug, Subcommand)]
pub enum Command {
    Length(length::Args),
    Version(version::Args),
}

/// Runs the command that was typed.
pub fn run(command: Command, cx: &mut Cx) -> Result<Exit, Error> {
    match command {
        Command::Length(args) => length::run(args, cx),
        Command::Version(args) => version::run(args, cx),
    }
}
