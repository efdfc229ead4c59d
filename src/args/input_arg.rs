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
pub(crate) enum ValueFileOrStdinArg {
    Value(OsString),
    Stdin,
    File(PathBuf),
}

impl ValueFileOrStdinArg {
    /// Parses a word of the command line. A word after `--` is always the value itself.
    fn parse_word(word: OsString) -> ValueFileOrStdinArg {
        let (word, is_plain) = plain::word_and_had_plain_mark(word);
        match word.as_bytes() {
            _ if is_plain => ValueFileOrStdinArg::Value(word),
            b"-" => ValueFileOrStdinArg::Stdin,
            [b'@', path @ ..] => ValueFileOrStdinArg::File(OsStr::from_bytes(path).into()),
            _ => ValueFileOrStdinArg::Value(word),
        }
    }

    /// The word as given.
    pub(crate) fn as_typed(&self) -> Name {
        match self {
            ValueFileOrStdinArg::Value(word) => Name::from(word.as_os_str()),
            ValueFileOrStdinArg::Stdin => Name::from("-"),
            ValueFileOrStdinArg::File(path) => {
                Name::from([b"@", path.as_os_str().as_bytes()].concat())
            }
        }
    }

    /// Turns a plain value into the file of that name, as if `@` stood before it.
    pub(crate) fn treat_value_as_file(self) -> ValueFileOrStdinArg {
        match self {
            ValueFileOrStdinArg::Value(path) => ValueFileOrStdinArg::File(path.into()),
            given => given,
        }
    }
}

impl ValueParserFactory for ValueFileOrStdinArg {
    type Parser =
        clap::builder::MapValueParser<OsStringValueParser, fn(OsString) -> ValueFileOrStdinArg>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(ValueFileOrStdinArg::parse_word)
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
