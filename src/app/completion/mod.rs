//! Completion: `qless __complete SHELL WORD…`, which the scripts of `completions/` call.
//!
//! Commands, flags and values come from the command tree. Names come from the server and the config
//! file: see [`names`]. The command is always silent and always exits with 0.
//!
//! The dynamic engine of `clap_complete` does not replace this: in bash it inserts a name without
//! quotes, so that a queue called `x;y` would run `y`. Its candidates do not know the words before
//! them, such as `--redis`, and it offers flags that these words exclude.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use clap::{Command, ValueEnum};

use super::{canonical_command_name, parse};
use crate::args::format::Format;
use crate::exit::Exit;
use crate::ui::Ui;

mod cache;
pub(super) mod cursor;
mod line;
mod names;
mod offer;
mod render;
pub(crate) mod shell;

use shell::Shell;

/// The word that the scripts put behind `qless`. It is not a command, so no help lists it.
const WORD: &str = "__complete";

/// Time limit of one completion, if `QLESS_COMPLETE_LIVE` sets no other.
const TIME_LIMIT: Duration = Duration::from_millis(150);

/// A value that can be typed, and what a shell may show beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub value: String,
    pub help: String,
}

impl Candidate {
    pub(crate) fn new(value: impl Into<String>, help: impl Into<String>) -> Candidate {
        Candidate {
            value: value.into(),
            help: help.into(),
        }
    }
}

/// The arguments of a request for completion. `None` if the line is not such a request.
pub(crate) fn completion_args(args: &[OsString]) -> Option<&[OsString]> {
    match args {
        [_, word, rest @ ..] if word == WORD => Some(rest),
        _ => None,
    }
}

/// Prints the candidates that fit. A failure prints nothing: a shell that completes has no place to show it.
pub(crate) fn run(args: &[OsString]) -> Exit {
    let lookup_deadline = name_lookup_time_limit().map(|patience| Instant::now() + patience);
    let mut ui = Ui::without_globals(Format::Table);
    if let Some(text) = completion_text(args, lookup_deadline) {
        _ = ui.write_bytes(text.as_bytes());
        _ = ui.flush_stdout_and_wait_for_pager();
    }
    Exit::Ok
}

/// The time limit for reading names from the server. `None` if `QLESS_COMPLETE_LIVE` turns that off.
fn name_lookup_time_limit() -> Option<Duration> {
    let set = crate::env::nonempty_var("QLESS_COMPLETE_LIVE");
    match set.as_ref().and_then(|set| set.to_str()) {
        Some("0") => None,
        Some(set) => Some(humantime::parse_duration(set).unwrap_or(TIME_LIMIT)),
        None => Some(TIME_LIMIT),
    }
}

fn completion_text(args: &[OsString], lookup_deadline: Option<Instant>) -> Option<String> {
    let (shell, words) = args.split_first()?;
    let shell = Shell::from_str(shell.to_str()?, false).ok()?;
    let typed = line::read_typed_line(shell, words)?;
    let whole = parse::clap_tree();
    let tree = build_tree_of_typed_commands(&whole, &typed);
    let cursor = cursor::locate_completion_cursor(&tree, &typed)?;
    let offer = offer::offer_at_cursor(&whole, &cursor, lookup_deadline);
    Some(render::shell_lines(shell, &offer, &typed, &cursor))
}

/// The tree with the typed commands only: clap copies every global flag into every command,
/// which takes most of the time.
fn build_tree_of_typed_commands(whole: &Command, typed: &line::TypedLine) -> Command {
    let is_typed = |command: &&Command| {
        let name = command.get_name();
        let mut words = typed.words.iter();
        words.any(|word| canonical_command_name(&word.text) == name)
    };
    let mut built = parse::root_without_commands()
        .subcommands(whole.get_subcommands().filter(is_typed).cloned());
    built.build();
    built
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};

    use super::*;

    /// The values that are offered for the words of a line.
    fn offered(words: &[String]) -> Vec<String> {
        let mut args: Vec<OsString> = vec!["fish".into(), "qless".into()];
        args.extend(words.iter().map(OsString::from));
        let text = completion_text(&args, None).unwrap();
        let values = text
            .lines()
            .skip(1)
            .filter_map(|line| line.split('\t').next());
        values.map(str::to_owned).collect()
    }

    /// Calls `check` with the path of each command, and the command.
    fn walk(command: &Command, path: &mut Vec<String>, check: &impl Fn(&[String], &Command)) {
        check(path, command);
        for below in command.get_subcommands() {
            path.push(below.get_name().to_owned());
            walk(below, path, check);
            path.pop();
        }
    }

    #[test]
    fn every_command_offers_its_flags_until_they_are_given() {
        let mut tree = parse::clap_tree();
        tree.build();
        walk(&tree, &mut Vec::new(), &|path, command| {
            let mut line = path.to_vec();
            line.push("--".to_owned());
            let all = offered(&line);
            let is_shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_long().is_some();
            assert_eq!(
                all.len(),
                command.get_arguments().filter(is_shown).count(),
                "{path:?}"
            );
            let mut repeated = Vec::new();
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                let (action, flag) = (arg.get_action(), format!("--{long}"));
                if matches!(action, ArgAction::Append | ArgAction::Count) {
                    repeated.push(flag.clone());
                }
                let value = if action.takes_values() { "=x" } else { "" };
                line.insert(path.len(), flag + value);
            }
            let left = offered(&line);
            assert!(left.iter().all(|flag| repeated.contains(flag)), "{left:?}");
        });
    }
}
