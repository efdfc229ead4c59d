//! Live names for completion: `qless __names SHELL WORD…`, which the scripts of `completions/` call.
//!
//! Always silent and always exit 0, within 150 ms in all: it looks at the server, and keeps what it
//! saw for 10 s, and a server that did not answer for a minute.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap_complete::Shell;

use crate::app;
use crate::exit::Exit;
use crate::ui::Ui;

mod ask;
mod cache;
pub(crate) mod kind;
mod line;
mod place;
mod shell;

/// What the scripts call; no command, so that it is neither listed nor parsed.
pub(crate) const WORD: &str = "__names";

/// As long as all of it may take, where nothing else is said.
const PATIENCE: Duration = Duration::from_millis(150);

/// The most names that are offered.
const MOST: usize = 200;

/// A name, and what a shell may tell beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub name: String,
    pub says: String,
}

/// Returns the arguments, if it is names that are asked for.
pub(crate) fn asked(args: &[OsString]) -> Option<&[OsString]> {
    match args {
        [_, word, rest @ ..] if word == WORD => Some(rest),
        _ => None,
    }
}

/// Prints the names that fit, if there are any.
pub(crate) fn run(args: &[OsString]) -> Exit {
    let begun = Instant::now();
    let mut out = Ui::plain(crate::args::format::Format::Table);
    // Whatever goes wrong, a shell that completes has no place to say so.
    let Some(patience) = patience() else {
        return Exit::Ok;
    };
    if let Some(text) = names(args, begun + patience) {
        _ = out.write(text.as_bytes());
        _ = out.finish();
    }
    Exit::Ok
}

/// Returns how long all of it may take; `None` where it is turned off.
fn patience() -> Option<Duration> {
    let set = crate::env::var("QLESS_COMPLETE_LIVE");
    match set.as_ref().and_then(|set| set.to_str()) {
        Some("0") => None,
        Some(set) => Some(humantime::parse_duration(set).unwrap_or(PATIENCE)),
        None => Some(PATIENCE),
    }
}

fn names(args: &[OsString], deadline: Instant) -> Option<String> {
    let (shell, words) = args.split_first()?;
    let shell: Shell = shell.to_str()?.parse().ok()?;
    let typed = line::read(shell, words)?;
    let mut tree = app::parse::command();
    tree.build();
    let place = place::find(&tree, &typed)?;
    let named = ask::names(&place, deadline)?;
    let fits = |named: &&Named| {
        let offered = place.wanted.written(&named.name);
        offered.is_some_and(|offered| offered.starts_with(&place.begun))
    };
    let fitting = named.iter().filter(fits).take(MOST);
    let written = fitting.map(|named| Named {
        name: place.wanted.written(&named.name).unwrap_or_default(),
        says: named.says.clone(),
    });
    Some(shell::lines(shell, written, &typed, &place))
}
