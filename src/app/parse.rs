//! Reads the command line: clap only, no I/O but the environment.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand};

use super::help;
use super::tree::Command;
use super::usage;
use crate::args::globals::{Globals, Typed};
use crate::args::shared;
use crate::error::Error;
use crate::text::quoted;

/// What was typed.
#[derive(Debug)]
pub(crate) struct Cli {
    pub globals: Globals,
    pub command: Command,
    pub typed: Typed,
}

/// Why no command is run.
pub(crate) enum Stop {
    /// Help or version was asked for: text for stdout, exit 0.
    Answer(String),
    /// Nothing was asked for: the short help for stderr, exit 2.
    Nothing(String),
    /// It was asked for wrongly: exit 2.
    Wrong(Error),
}

/// Reads the command line and fills in what the environment says.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, Stop> {
    let args = &*asks_for_help(args);
    let mut tree = tree(args);
    let matches = tree.try_get_matches_from_mut(args).map_err(stop)?;
    let mut globals = Globals::from_arg_matches(&matches).map_err(stop)?;
    globals.fill_from_env().map_err(Stop::Wrong)?;
    Ok(Cli {
        globals,
        command: Command::from_arg_matches(&matches).map_err(stop)?,
        typed: Typed {
            name: matches.subcommand_name().unwrap_or_default().to_string(),
            own: own(&tree, &matches),
            whole: whole(args),
        },
    })
}

/// Returns `qless retry --help` for `qless --help retry`, which means the same.
fn asks_for_help(args: &[OsString]) -> Cow<'_, [OsString]> {
    match args {
        [name, flag, rest @ ..] if !rest.is_empty() && (flag == "--help" || flag == "-h") => {
            let mut turned = vec![name.clone()];
            turned.extend_from_slice(rest);
            turned.push(flag.clone());
            Cow::Owned(turned)
        }
        _ => Cow::Borrowed(args),
    }
}

/// Returns global flags alone, and what the environment says; `None` if they are wrong.
pub(crate) fn globals(words: &[String]) -> Option<Globals> {
    let flags = Globals::augment_args(clap::Command::new("qless").no_binary_name(true));
    let matches = flags.try_get_matches_from(words).ok()?;
    let mut globals = Globals::from_arg_matches(&matches).ok()?;
    globals.fill_from_env().ok()?;
    Some(globals)
}

/// Returns the command with those of its arguments that say what is done, in one order however
/// they were typed: none of the global flags, none of those that say how.
fn own(tree: &clap::Command, matches: &ArgMatches) -> String {
    let mut words: Vec<String> = Vec::new();
    let (mut command, mut matches) = (tree, matches);
    while let Some((name, below)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            break;
        };
        (command, matches) = (found, below);
        words.push(name.to_string());
    }
    let how = |arg: &Arg| arg.is_global_set() || arg.get_help_heading() == Some(shared::BULK);
    for arg in command.get_arguments().filter(|arg| !how(arg)) {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let long = arg.get_long().map(|long| format!("--{long}"));
        if !arg.get_action().takes_values() {
            words.extend(long);
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            words.extend(long.clone());
            words.push(quoted(value.as_encoded_bytes()));
        }
    }
    words.join(" ")
}

/// Returns the command line as it can be typed again, if it holds no secret.
fn whole(args: &[OsString]) -> Option<String> {
    let secret = |arg: &OsString| {
        let text = arg.to_string_lossy();
        let (_, rest) = text.split_once("://")?;
        let (user, _) = rest.rsplit_once('@')?;
        user.contains(':').then_some(())
    };
    let words = args.iter().skip(1).map(|arg| match secret(arg) {
        Some(()) => None,
        None => Some(quoted(arg.as_encoded_bytes())),
    });
    let words: Vec<String> = words.collect::<Option<_>>()?;
    Some(format!("qless {}", words.join(" ")))
}

/// Returns the one clap tree, from which help, completion and man pages are made.
pub fn command() -> clap::Command {
    Command::augment_subcommands(root())
}

/// Returns the tree with only the commands that are named in a command line, if any is: clap
/// hands every global flag down to every command, which took longer than all else in `version`.
fn tree(args: &[OsString]) -> clap::Command {
    let whole = command();
    let named = |command: &&clap::Command| args.iter().any(|arg| arg == command.get_name());
    let named: Vec<_> = whole.get_subcommands().filter(named).cloned().collect();
    match named.is_empty() {
        true => help::layout::of_all(whole),
        false => root().subcommands(named.into_iter().map(help::layout::laid_out)),
    }
}

/// What the first manual page says, after what it is.
const PROMISE: &str = "\
Look at, steer and repair the queues of qless, a job queue on Redis

Delivery is at least once: a command may run and its completion be lost with the machine. What Redis \
acknowledged can still be lost by Redis itself at failover, in a partition, or without AOF `always`.

Examples: `qless queues`
· `qless failed`
· `qless retry --group 'upload error' --older-than 1h --rate 20/s --dry-run`";

/// Returns the tree without its commands.
pub(crate) fn root() -> clap::Command {
    Globals::augment_args(clap::Command::new("qless"))
        .about("Look at, steer and repair the queues of qless, a job queue on Redis")
        .long_about(PROMISE)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("COMMAND")
        .subcommand_help_heading("Commands")
        .max_term_width(100)
}

fn stop(error: clap::Error) -> Stop {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Stop::Answer(error.to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Stop::Nothing(error.to_string()),
        _ => Stop::Wrong(usage::told(&error)),
    }
}
