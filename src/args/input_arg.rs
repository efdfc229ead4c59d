//! A value that may be read from elsewhere: the argument itself, `@FILE`, or `-` for stdin.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser, ValueParserFactory};

use super::invalid::Invalid;
use super::plain;
use crate::name::Name;

/// Where a value comes from: the argument itself, stdin (`-`) or a file (`@PATH`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputArg {
    Value(OsString),
    Stdin,
    File(PathBuf),
}

impl InputArg {
    /// Parses a word of the command line. A word after `--` is always the value itself.
    fn parse_word(word: OsString) -> InputArg {
        let (word, is_plain) = plain::word_and_had_plain_mark(word);
        match word.as_bytes() {
            _ if is_plain => InputArg::Value(word),
            b"-" => InputArg::Stdin,
            [b'@', path @ ..] => InputArg::File(OsStr::from_bytes(path).into()),
            _ => InputArg::Value(word),
        }
    }

    /// The word as given.
    pub(crate) fn as_typed(&self) -> Name {
        match self {
            InputArg::Value(word) => Name::from(word.as_os_str()),
            InputArg::Stdin => Name::from("-"),
            InputArg::File(path) => Name::from([b"@", path.as_os_str().as_bytes()].concat()),
        }
    }

    /// Turns a plain value into the file of that name, as if `@` stood before it.
    pub(crate) fn treat_value_as_file(self) -> InputArg {
        match self {
            InputArg::Value(path) => InputArg::File(path.into()),
            given => given,
        }
    }
}

impl ValueParserFactory for InputArg {
    type Parser = clap::builder::MapValueParser<OsStringValueParser, fn(OsString) -> InputArg>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(InputArg::parse_word)
    }
}

/// A file that a command reads or writes, or `-` for stdin or stdout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileOrStreamArg {
    Stream,
    Path(PathBuf),
}

impl FileOrStreamArg {
    fn parse_dash_or_path(word: OsString) -> Result<FileOrStreamArg, Invalid> {
        let (word, is_plain) = plain::word_and_had_plain_mark(word);
        match word.as_bytes() {
            b"" => Err(Invalid::because("is empty")),
            b"-" if !is_plain => Ok(FileOrStreamArg::Stream),
            _ => Ok(FileOrStreamArg::Path(word.into())),
        }
    }
}

impl ValueParserFactory for FileOrStreamArg {
    type Parser = clap::builder::TryMapValueParser<
        OsStringValueParser,
        fn(OsString) -> Result<FileOrStreamArg, Invalid>,
    >;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().try_map(FileOrStreamArg::parse_dash_or_path)
    }
}
