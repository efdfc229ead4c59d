//! Completion: `qless __complete SHELL WORD…`, which the scripts of `completions/` call.
//!
//! Commands, flags and values come from the command tree. Names come from the server and the config
//! file: see [`names`]. The command is always silent and always exits with 0.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap::{Command, ValueEnum};

use crate::cli::{self, Shell};
use crate::exit::Exit;
use crate::out::Out;

mod cache;
mod cursor;
mod line;
mod names;
mod offer;
mod render;

/// The word that the scripts put behind `qless`. It is not a command, so no help lists it.
pub const WORD: &str = "__complete";

/// The longest time for all of it, if `QLESS_COMPLETE_LIVE` sets no other.
const PATIENCE: Duration = Duration::from_millis(150);

/// A value that can be typed, and what a shell may show beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub value: String,
    pub help: String,
}

impl Candidate {
    pub fn new(value: impl Into<String>, help: impl Into<String>) -> Candidate {
        Candidate {
            value: value.into(),
            help: help.into(),
        }
    }
}

/// Returns the arguments of a request for completion; `None` if the line is no such request.
pub fn requested(args: &[OsString]) -> Option<&[OsString]> {
    match args {
        [_, word, rest @ ..] if word == WORD => Some(rest),
        _ => None,
    }
}

/// Prints what fits. A failure prints nothing: a shell that completes has no place to show it.
pub fn run(args: &[OsString]) -> Exit {
    let deadline = patience().map(|patience| Instant::now() + patience);
    let mut out = Out::plain(cli::Format::Table);
    if let Some(text) = complete(args, deadline) {
        _ = out.write(text.as_bytes());
        _ = out.finish();
    }
    Exit::Ok
}

/// Returns how long all of it may take; `None` if no names are to be looked up.
fn patience() -> Option<Duration> {
    let set = cli::env::var("QLESS_COMPLETE_LIVE");
    match set.as_ref().and_then(|set| set.to_str()) {
        Some("0") => None,
        Some(set) => Some(humantime::parse_duration(set).unwrap_or(PATIENCE)),
        None => Some(PATIENCE),
    }
}

fn complete(args: &[OsString], deadline: Option<Instant>) -> Option<String> {
    let (shell, words) = args.split_first()?;
    let shell = Shell::from_str(shell.to_str()?, false).ok()?;
    let typed = line::read(shell, words)?;
    let whole = cli::command();
    let tree = built(&whole, &typed);
    let cursor = cursor::find(&tree, &typed)?;
    let offer = offer::of(&whole, &cursor, deadline);
    Some(render::lines(shell, &offer, &typed, &cursor))
}

/// Returns the tree with the typed commands only: clap copies every global flag into every command,
/// which takes most of the time.
fn built(whole: &Command, typed: &line::Typed) -> Command {
    let is_typed = |command: &&Command| {
        let name = command.get_name();
        typed.words.iter().any(|word| word.text == name)
    };
    let mut tree = cli::root().subcommands(whole.get_subcommands().filter(is_typed).cloned());
    tree.build();
    tree
}
