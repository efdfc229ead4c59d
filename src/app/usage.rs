//! Usage errors of clap as a sentence and a hint.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::completion::cursor;
use super::parse;
use crate::args::format::{Format, OutputFormatArg};
use crate::args::invalid::Invalid;
use crate::args::{plain, value};
use crate::command_line;
use crate::error::{Error, Kind};
use crate::json::Json;
use crate::text;

/// Turns an error of clap into a usage error with a sentence and a hint of `qless`.
pub(crate) fn usage_error(error: &clap::Error) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => plain::strip_plain_marks(text),
        Some(ContextValue::Strings(texts)) => plain::strip_plain_marks(&texts.join("`, `")),
        Some(ContextValue::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let arg = without_value_name(&text(ContextKind::InvalidArg));
    let value = text(ContextKind::InvalidValue);
    let sentence = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand);
            return unknown_command_error_without_hint(&name).hint_if(usage_hint(error));
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => format!("unknown flag `{arg}`"),
        ErrorKind::UnknownArgument => {
            format!("unexpected argument `{}`", text(ContextKind::InvalidArg))
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("`{arg}` expects a value"),
        ErrorKind::InvalidValue => {
            let valid = text(ContextKind::ValidValue);
            format!("`{arg}` expects one of `{valid}`, not `{value}`")
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error);
            match source.and_then(|source| source.downcast_ref::<Invalid>()) {
                Some(invalid) => invalid.refusal_sentence(&arg, &value),
                None => format!("`{arg}` cannot be `{value}`"),
            }
        }
        ErrorKind::MissingRequiredArgument => format!("`{arg}` is missing"),
        ErrorKind::MissingSubcommand => "a command is missing".into(),
        ErrorKind::ArgumentConflict => {
            let prior = without_value_name(&text(ContextKind::PriorArg));
            if prior == arg || prior.is_empty() {
                format!("`{arg}` can be given only once")
            } else {
                format!("`{arg}` cannot be used with `{prior}`")
            }
        }
        ErrorKind::NoEquals => format!("`{arg}` expects its value after `=`"),
        ErrorKind::TooManyValues => format!("`{arg}` takes no further value `{value}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("`{arg}` expects another number of values")
        }
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".into(),
        _ => plain::first_error_line(error),
    };
    let usage = Error::usage(sentence).hint_if(usage_hint(error));
    if arg == "--prefix" {
        value::suggest_working_prefix(usage, &value)
    } else {
        usage
    }
}

/// The usage error about a command that does not exist.
pub(super) fn unknown_command_error_without_hint(name: &str) -> Error {
    Error::usage(format!("unknown command `{name}`"))
}

/// An argument without the name of its value: `--timeout <D>` is `--timeout`. Of several missing ones, the first.
fn without_value_name(arg: &str) -> String {
    let name = match arg.strip_prefix(['<', '[']) {
        Some(positional) => positional.split(['>', ']', '[']).next(),
        None => arg.split([' ', '[', '=', '`']).next(),
    };
    name.unwrap_or(arg).to_string()
}

fn usage_hint(error: &clap::Error) -> Option<String> {
    for kind in [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ] {
        let like = match error.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            Some(ContextValue::Strings(texts)) => match texts.as_slice() {
                [] => continue,
                // The nearest comes last.
                [.., text] => text.clone(),
            },
            _ => continue,
        };
        if kind == ContextKind::SuggestedArg && !is_suggested_flag_similar(error, &like) {
            continue;
        }
        return Some(format!("did you mean `{like}`?"));
    }
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => {
            let usage = usage.to_string();
            let usage = usage.lines().next()?.trim_start_matches("Usage: ").trim();
            if error.kind() == ErrorKind::UnknownArgument
                && error.get(ContextKind::SuggestedArg).is_some()
            {
                // Clap's usage line contains the flag that clap suggests, so leave the flags out.
                let command = usage
                    .split(' ')
                    .take_while(|word| !word.starts_with(['-', '[', '<']));
                let command = command.collect::<Vec<_>>().join(" ");
                return Some(format!("`{command} --help` lists the flags"));
            }
            Some(format!("usage: `{usage}`"))
        }
        _ => None,
    }
}

/// Whether the unknown flag is spelled like the flag that clap suggests: clap also suggests unlike names.
fn is_suggested_flag_similar(error: &clap::Error, suggested: &str) -> bool {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return true;
    };
    let name = |flag: &str| flag.trim_start_matches('-').to_owned();
    text::nearest_spelling(name(given), &[name(suggested)]).is_some()
}

/// The format of `-o` on a command line that could not be parsed.
pub(crate) fn requested_output_format(args: &[OsString]) -> Format {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(word) = words.next() {
        let value = match word {
            "--" => break,
            "-o" | "--output" => words.next(),
            _ => word
                .strip_prefix("--output=")
                .or_else(|| word.strip_prefix("-o")),
        };
        if let Some(output) = value.and_then(OutputFormatArg::from_word) {
            return output.format();
        }
    }
    crate::env::nonempty_utf8_var("QLESS_OUTPUT")
        .ok()
        .flatten()
        .and_then(|word| OutputFormatArg::from_word(&word))
        .unwrap_or_default()
        .format()
}

/// Whether the arguments ask for `health --nagios`. The rest of the line may be invalid.
pub(super) fn asks_for_nagios_line(args: &[OsString]) -> bool {
    args.iter().any(|word| word == "--nagios")
        && cursor::named_command(&parse::built_tree_of_named_commands(args), args).get_name()
            == "health"
}

/// The error, with a hint if the line has `--flag VALUE` where only `--flag=VALUE` works.
pub(super) fn with_detached_value_hint(error: &Error, args: &[OsString]) -> Option<Error> {
    let is_possible = matches!(error.kind(), Kind::Usage | Kind::NotFound);
    let tree = is_possible.then(|| parse::built_tree_of_named_commands(args))?;
    let (flag, value) = cursor::detached_value(&tree, args)?;
    // A value that is JSON may be meant as the data of a job: then there is no hint.
    let is_data = Json::parse(value.as_bytes()).is_some();
    let meant = command_line::flag_with_quoted_value(&flag, value);
    (!is_data).then(|| error.clone().hint(format!("did you mean `{meant}`?")))
}

/// The error about an argument of a command that takes none. The hint names the flag that takes such a value, such as
/// `--queue`.
pub(super) fn error_suggesting_flag_for_argument(
    error: &clap::Error,
    args: &[OsString],
) -> Option<Error> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let tree = parse::built_tree_of_named_commands(args);
    let command = cursor::named_command(&tree, args);
    let flag = match command.get_name() {
        "failed" => "group",
        _ => "queue",
    };
    let mut flags = command.get_arguments().filter_map(clap::Arg::get_long);
    let takes_flag = flags.any(|long| long == flag);
    let takes_none = command.get_positionals().next().is_none();
    if word.starts_with('-') || !takes_flag || !takes_none {
        return None;
    }
    let word = plain::strip_plain_marks(word);
    let meant = command_line::flag_with_quoted_value(&format!("--{flag}"), &word);
    let error = Error::usage(format!("unexpected argument `{word}`"));
    Some(error.hint(format!("did you mean `{meant}`?")))
}

#[cfg(test)]
mod tests {
    use crate::app::parse::{NotRun, parse};
    use crate::model::finding::FINDINGS;

    #[test]
    fn the_commands_of_choices_below_findings_can_be_parsed() {
        let mut wrong = Vec::new();
        let choices = FINDINGS.iter().flat_map(|finding| finding.choices);
        let commands = choices.flat_map(|choice| choice.split('`').skip(1).step_by(2));
        let mut parsed = 0;
        for example in commands.filter(|example| example.starts_with("qless ")) {
            parsed += 1;
            let example = example.replace("DATA", "{}");
            let words: Vec<_> = example.split(' ').map(Into::into).collect();
            if let Err(NotRun::Invalid(error)) = parse(&words) {
                wrong.push(format!("{example}: {}", error.message()));
            }
        }
        assert!(parsed > 30);
        assert_eq!(wrong, [""; 0]);
    }
}
