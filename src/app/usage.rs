//! Turns clap's usage errors into our sentence and hint.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::format::Format;
use crate::args::invalid::Invalid;
use crate::error::Error;

/// Returns the error in our words.
pub(crate) fn told(error: &clap::Error) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join("`, `"),
        Some(ContextValue::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let arg = named(&text(ContextKind::InvalidArg));
    let value = text(ContextKind::InvalidValue);
    let sentence = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            format!("unknown command `{}`", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => format!("unknown flag `{arg}`"),
        ErrorKind::UnknownArgument => format!("unexpected argument `{arg}`"),
        ErrorKind::InvalidValue if value.is_empty() => format!("`{arg}` expects a value"),
        ErrorKind::InvalidValue => {
            let valid = text(ContextKind::ValidValue);
            format!("`{arg}` cannot be `{value}`, it is one of `{valid}`")
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(error);
            match source.and_then(|source| source.downcast_ref::<Invalid>()) {
                Some(invalid) => invalid.sentence(&arg, &value),
                None => format!("`{arg}` cannot be `{value}`"),
            }
        }
        ErrorKind::MissingRequiredArgument => format!("`{arg}` is missing"),
        ErrorKind::MissingSubcommand => "a command is missing".into(),
        ErrorKind::ArgumentConflict => {
            let prior = named(&text(ContextKind::PriorArg));
            match prior == arg || prior.is_empty() {
                true => format!("`{arg}` can be given only once"),
                false => format!("`{arg}` cannot be used with `{prior}`"),
            }
        }
        ErrorKind::NoEquals => format!("`{arg}` expects its value after `=`"),
        ErrorKind::TooManyValues => format!("`{arg}` has no place for `{value}`"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("`{arg}` expects another number of values")
        }
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".into(),
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.trim_start_matches("error: ").to_string()
        }
    };
    let error_out = Error::usage(sentence);
    match hint(error) {
        Some(hint) => error_out.hint(hint),
        None => error_out,
    }
}

/// Returns an argument without the name of its value: `--timeout <D>` is `--timeout`.
fn named(arg: &str) -> String {
    let name = match arg.strip_prefix(['<', '[']) {
        Some(positional) => positional.split(['>', ']']).next(),
        None => arg.split([' ', '[', '=']).next(),
    };
    name.unwrap_or(arg).to_string()
}

fn hint(error: &clap::Error) -> Option<String> {
    for kind in [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ] {
        let like = match error.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            Some(ContextValue::Strings(texts)) => match texts.as_slice() {
                [] => continue,
                // The likest comes last.
                [.., text] => text.clone(),
            },
            _ => continue,
        };
        return Some(format!("did you mean `{like}`?"));
    }
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => {
            let usage = usage.to_string();
            let usage = usage.lines().next()?.trim_start_matches("Usage: ").trim();
            Some(format!("usage: `{usage}`"))
        }
        _ => None,
    }
}

/// Returns the format that was asked for on a command line that could not be read.
pub(crate) fn format_of(args: &[OsString]) -> Format {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(word) = words.next() {
        let value = match word {
            "--" => break,
            "-o" | "--output" => words.next(),
            _ => word
                .strip_prefix("--output=")
                .or_else(|| word.strip_prefix("-o")),
        };
        if let Some(format) = value.and_then(Format::of) {
            return format;
        }
    }
    crate::env::text("QLESS_OUTPUT")
        .ok()
        .flatten()
        .and_then(|word| Format::of(&word))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::app::parse::{Stop, parse};
    use crate::model::finding::FINDINGS;

    #[test]
    fn commands_of_the_choices_can_be_typed() {
        let mut wrong = Vec::new();
        let choices = FINDINGS.iter().flat_map(|finding| finding.choices);
        let commands = choices.flat_map(|choice| choice.split('`').skip(1).step_by(2));
        let mut some = 0;
        for typed in commands.filter(|typed| typed.starts_with("qless ")) {
            some += 1;
            let typed = typed.replace("DATA", "{}");
            let words: Vec<_> = typed.split(' ').map(Into::into).collect();
            if let Err(Stop::Wrong(error)) = parse(&words) {
                wrong.push(format!("{typed}: {}", error.message()));
            }
        }
        assert!(some > 30);
        assert_eq!(wrong, [""; 0]);
    }
}
