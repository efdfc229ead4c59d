//! Parses the command line with clap. The environment is the only other input.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand};

use super::completion::cursor;
use super::help;
use super::{Command, all_subcommands, canonical_command_name, commands_named, suggestion, usage};
use crate::args::globals::{CanonicalAndTypedCommand, Globals};
use crate::args::{plain, shared};
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::name::Name;
use crate::session;

/// A parsed command line.
#[derive(Debug)]
pub(crate) struct ParsedCommandLine {
    pub globals: Globals,
    pub command: Command,
    pub command_text: CanonicalAndTypedCommand,
}

/// Why no command runs.
pub(crate) enum NotRun {
    /// The line asks for help or the version: text for stdout, exit 0.
    Help(String),
    /// The line names no command: the short help for stderr, exit 2.
    NoCommand(String),
    /// The line is wrong: exit 2.
    Invalid(Error),
}

/// Parses the command line and fills in flags from the environment.
pub(crate) fn parse(args: &[OsString]) -> Result<ParsedCommandLine, NotRun> {
    parse_without_correction_hint(args).map_err(|stop| match stop {
        NotRun::Invalid(error) => NotRun::Invalid(session::with_corrected_command_hint(
            error,
            line_unless_secret(args).as_ref(),
        )),
        stop => stop,
    })
}

fn parse_without_correction_hint(args: &[OsString]) -> Result<ParsedCommandLine, NotRun> {
    let mut tree = unbuilt_tree_of_named_commands(args);
    let args = &*move_help_flag_behind_command(&mut tree, args);
    let marked = mark_words_after_dashes(&mut tree, args);
    let matches = tree.try_get_matches_from_mut(&*marked).map_err(|error| {
        let known = unknown_command_error(&error, args);
        match known.or_else(|| usage::error_suggesting_flag_for_argument(&error, args)) {
            Some(error) => NotRun::Invalid(error),
            None => classify_error(error),
        }
    })?;
    let mut globals = Globals::from_arg_matches(&matches).map_err(classify_error)?;
    globals
        .record_given_and_fill_from_env()
        .map_err(NotRun::Invalid)?;
    Ok(ParsedCommandLine {
        globals,
        command: Command::from_arg_matches(&matches).map_err(classify_error)?,
        command_text: CanonicalAndTypedCommand {
            name: matches.subcommand_name().unwrap_or_default().to_string(),
            canonical_command: canonical_command(&tree, &matches),
            line_unless_secret: line_unless_secret(args),
        },
    })
}

/// Moves a leading `--help` behind the command: `qless --help retry` means `qless retry --help`.
fn move_help_flag_behind_command<'a>(
    tree: &mut clap::Command,
    args: &'a [OsString],
) -> Cow<'a, [OsString]> {
    match args {
        [_, flag, rest @ ..] if !rest.is_empty() && (flag == "--help" || flag == "-h") => {
            // Build the tree first: only a built command has the global flags, and some of them take a value.
            tree.build();
            // `--help` after `--` would be a name, and directly after a flag it could be the flag's value.
            let end = cursor::end_of_command(tree, args)
                .or_else(|| cursor::end_of_flags(tree, args))
                .unwrap_or(args.len());
            let (before, after) = args.split_at(end);
            Cow::Owned([&before[..1], &before[2..], &args[1..2], after].concat())
        }
        _ => Cow::Borrowed(args),
    }
}

/// Parses global flags alone, and fills in flags from the environment. `None` if they are invalid.
pub(crate) fn parse_globals(words: &[String]) -> Option<Globals> {
    let flags = Globals::augment_args(clap::Command::new("qless").no_binary_name(true));
    let matches = flags.try_get_matches_from(words).ok()?;
    let mut globals = Globals::from_arg_matches(&matches).ok()?;
    globals.record_given_and_fill_from_env().ok()?;
    Some(globals)
}

/// The command with the arguments that decide what it does, in the order in which the command declares them. Global
/// flags and bulk flags are left out.
fn canonical_command(tree: &clap::Command, matches: &ArgMatches) -> CommandLine {
    let mut own = CommandLine::default();
    let (mut command, mut matches) = (tree, matches);
    while let Some((name, below)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else {
            break;
        };
        (command, matches) = (found, below);
        own = own.with_word(name);
    }
    let is_left_out =
        |arg: &Arg| arg.is_global_set() || arg.get_help_heading() == Some(shared::BULK);
    for arg in command.get_arguments().filter(|arg| !is_left_out(arg)) {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let long = arg.get_long().map(|long| format!("--{long}"));
        let takes_values = arg.get_action().takes_values();
        let given = matches.get_raw(id).into_iter().flatten();
        for value in given.filter(|_| takes_values) {
            let (word, is_plain) = plain::word_and_had_plain_mark(value.to_owned());
            let value = Name::from(word.as_os_str());
            own = match &long {
                Some(long) => own.with_flag(long, value),
                None if is_plain || !plain::means_stdin_file_or_pattern(&word) => {
                    own.with_name_argument(value)
                }
                None => own.with_word(value),
            };
        }
        if let (false, Some(long)) = (takes_values, long) {
            own = own.with_word(long.as_str());
        }
    }
    own
}

/// Marks the words after `--`.
fn mark_words_after_dashes<'a>(
    tree: &mut clap::Command,
    args: &'a [OsString],
) -> Cow<'a, [OsString]> {
    if !args.iter().any(|arg| arg == "--") {
        return Cow::Borrowed(args);
    }
    // Build the tree first: only a built command has the global flags, and some of them take a value.
    tree.build();
    let Some(end) = cursor::end_of_flags(tree, args) else {
        return Cow::Borrowed(args);
    };
    let (before, after) = args.split_at(end + 1);
    let after = after
        .iter()
        .map(|word| plain::mark_as_plain_if_ambiguous(word));
    Cow::Owned(before.iter().cloned().chain(after).collect())
}

/// The command line as it can be typed again. `None` if it holds a secret.
fn line_unless_secret(args: &[OsString]) -> Option<CommandLine> {
    let secret = |arg: &OsString| {
        let text = arg.to_string_lossy();
        let (_, rest) = text.split_once("://")?;
        let (user, _) = rest.rsplit_once('@')?;
        user.contains(':').then_some(())
    };
    let mut words = args.iter().skip(1);
    words.try_fold(CommandLine::default(), |line, arg| match secret(arg) {
        Some(()) => None,
        None => Some(line.with_word(arg.as_os_str())),
    })
}

/// The one clap tree, from which help, completion and man pages are made.
pub fn clap_tree() -> clap::Command {
    Command::augment_subcommands(root_without_commands())
}

/// The tree with only the commands that a command line names; the whole tree if it names none.
fn unbuilt_tree_of_named_commands(args: &[OsString]) -> clap::Command {
    let named = commands_named(|name| {
        let mut args = args.iter().filter_map(|arg| arg.to_str());
        args.any(|arg| canonical_command_name(arg) == name)
    });
    if named.is_empty() {
        help::layout::lay_out_root_help(clap_tree())
    } else {
        root_without_commands()
            .subcommands(named.into_iter().map(help::layout::lay_out_command_help))
    }
}

/// The text of the help and of `qless(1)`.
const ABOUT: &str = "\
Inspect, manage and repair the queues of qless, a job queue on Redis

Delivery is at least once: a job may run although its completion is lost with the machine. Redis itself \
can lose acknowledged writes at a failover, in a partition, or without AOF `always`.

Examples: `qless queues`
· `qless failed`
· `qless retry --group 'upload error' --older-than 1h --rate 20/s --dry-run`";

/// The tree without its commands.
pub(crate) fn root_without_commands() -> clap::Command {
    Globals::augment_args(clap::Command::new("qless"))
        .about("Inspect, manage and repair the queues of qless, a job queue on Redis")
        .long_about(ABOUT)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("COMMAND")
        .subcommand_help_heading("Commands")
        .max_term_width(100)
}

/// The tree with the commands that a command line names, in which each command has its global flags.
pub(super) fn built_tree_of_named_commands(args: &[OsString]) -> clap::Command {
    let mut tree = unbuilt_tree_of_named_commands(args);
    tree.build();
    tree
}

/// The usage error about a command that does not exist. `None` for other errors, and for an unknown subcommand of an
/// existing command without a subcommand of that meaning.
fn unknown_command_error(error: &clap::Error, args: &[OsString]) -> Option<Error> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    let mut before = args.iter().skip(1).take_while(|arg| *arg != word.as_str());
    let is_command = |arg: &OsString| all_subcommands().any(|command| *arg == *command.name);
    if before.any(is_command) {
        let tree = built_tree_of_named_commands(args);
        let names = cursor::named_command(&tree, args).get_subcommands();
        let meant = suggestion::synonymous_name(word, names.map(clap::Command::get_name))?;
        Some(
            usage::unknown_command_error_without_hint(word)
                .hint(format!("did you mean `{meant}`?")),
        )
    } else {
        let hint = suggestion::hint_suggesting_command(word, &[]);
        let hint = hint.unwrap_or_else(|| "`qless --help` lists the commands".to_owned());
        Some(usage::unknown_command_error_without_hint(word).hint(hint))
    }
}

fn classify_error(error: clap::Error) -> NotRun {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => NotRun::Help(error.to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => NotRun::NoCommand(error.to_string()),
        _ => NotRun::Invalid(usage::usage_error(&error)),
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::path::PathBuf;

    use super::*;
    use crate::args::input_arg::{FileOrStreamArg, ValueFileOrStdinArg};
    use crate::model::pattern::NamePattern;

    /// Collects the positional arguments of all commands.
    fn positionals(command: &clap::Command, found: &mut Vec<(String, Arg)>) {
        let name = command.get_name();
        let own = command.get_positionals();
        found.extend(own.map(|arg| (format!("{name} {arg}"), arg.clone())));
        for below in command.get_subcommands() {
            positionals(below, found);
        }
    }

    /// The value that a parser makes of a word after `--`. `None` for a type without special words.
    fn read_after_dashes(arg: &Arg, word: &str) -> Option<OsString> {
        let kind = arg.get_value_parser().type_id();
        let is = |other: TypeId| kind == other;
        if !arg.get_possible_values().is_empty() {
            return None;
        }
        let arg = Arg::new("it").value_parser(arg.get_value_parser().clone());
        let words = [
            OsString::from("x"),
            plain::mark_as_plain_if_ambiguous(word.as_ref()),
        ];
        let mut command = clap::Command::new("x").arg(arg);
        let mut found = command.try_get_matches_from_mut(words).ok()?;
        if is(TypeId::of::<String>()) {
            found.remove_one::<String>("it").map(Into::into)
        } else if is(TypeId::of::<OsString>()) {
            found.remove_one::<OsString>("it")
        } else if is(TypeId::of::<Name>()) {
            let name: Option<Name> = found.remove_one("it");
            name.and_then(|name| Some(name.as_str()?.into()))
        } else if is(TypeId::of::<NamePattern>()) {
            let pattern: Option<NamePattern> = found.remove_one("it");
            pattern.and_then(|pattern| Some(pattern.as_plain_name()?.as_str()?.into()))
        } else if is(TypeId::of::<ValueFileOrStdinArg>()) {
            match found.remove_one("it") {
                Some(ValueFileOrStdinArg::Value(value)) => Some(value),
                other => panic!("{other:?}"),
            }
        } else if is(TypeId::of::<FileOrStreamArg>()) {
            match found.remove_one("it") {
                Some(FileOrStreamArg::Path(path)) => Some(PathBuf::into_os_string(path)),
                other => panic!("{other:?}"),
            }
        } else {
            None
        }
    }

    #[test]
    fn every_argument_is_a_plain_name_after_two_dashes() {
        let mut all = Vec::new();
        positionals(&clap_tree(), &mut all);
        assert!(all.len() > 60);
        let mut others = Vec::new();
        for (shown, arg) in all {
            for word in ["-", "@/etc/hostname", "*", "[", "\\", "-y"] {
                match read_after_dashes(&arg, word) {
                    Some(read) => assert_eq!(read, word, "{shown}"),
                    None => others.push(shown.clone()),
                }
            }
        }
        others.dedup();
        // These commands take queues before `--`, numbers, and words of a list.
        let expected = [
            "morgue <ACTION>",
            "work <QUEUE>...",
            "set <MAX>",
            "completions <SHELL>",
        ];
        assert_eq!(others, expected);
    }

    #[test]
    fn help_before_a_command_is_never_a_name() {
        for line in [
            "qless --help cancel -- a",
            "qless -h cancel a",
            "qless --help cancel",
            "qless --help cancel --yes --reason -- x1",
            "qless --help cancel x1 --yes --reason",
        ] {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert!(matches!(parse(&words), Err(NotRun::Help(_))), "{line}");
        }
    }

    #[test]
    fn only_the_first_two_dashes_that_are_no_value_end_the_flags() {
        let own = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            parse(&words).ok().map(|cli| {
                cli.command_text
                    .canonical_command
                    .shell_line_without_destination()
            })
        };
        for (line, shown) in [
            ("qless cancel - @a", "qless cancel - @a"),
            ("qless cancel -- - @a --all", "qless cancel -- - @a --all"),
            ("qless cancel @a -- @b", "qless cancel @a -- @b"),
            ("qless cancel --reason -- @a", "qless cancel @a"),
            ("qless cancel --tag=-- -- --", "qless cancel --tag=-- -- --"),
        ] {
            assert_eq!(own(line).as_deref(), Some(shown));
        }
    }
}
