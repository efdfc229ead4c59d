//! The words after `--`: plain names, whatever they look like.
//!
//! A parser of a value sees the word, but not what stands before it. [`mark_as_plain_if_ambiguous`] therefore puts a
//! NUL, which no argument of a process holds, before each word after `--` that would mean something else before `--`.
//! The parsers of [`super::value`] remove this NUL with [`word_and_had_plain_mark`].

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::command_line;

const MARK: u8 = 0;

/// Whether a word that is not after `--` means stdin, a file or a pattern instead of itself.
pub(crate) fn means_stdin_file_or_pattern(word: &OsStr) -> bool {
    let word = word.as_bytes();
    command_line::is_ambiguous_argument(word) && (word == b"-" || !word.starts_with(b"-"))
}

/// Marks a word after `--` as plain, if the word would mean something else before `--`.
pub(crate) fn mark_as_plain_if_ambiguous(word: &OsStr) -> OsString {
    if command_line::is_ambiguous_argument(word.as_bytes()) {
        OsString::from_vec([&[MARK], word.as_bytes()].concat())
    } else {
        word.to_owned()
    }
}

/// A word without its mark, and whether it had one.
pub(crate) fn word_and_had_plain_mark(word: OsString) -> (OsString, bool) {
    match word.as_bytes() {
        [MARK, rest @ ..] => (OsStr::from_bytes(rest).to_owned(), true),
        _ => (word, false),
    }
}

/// The first line of the error of a parser, without `error:` and marks.
pub(crate) fn first_error_line(error: &clap::Error) -> String {
    let text = strip_plain_marks(&error.to_string());
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// Removes the marks in a message about words.
pub(crate) fn strip_plain_marks(message: &str) -> String {
    message.replace(char::from(MARK), "")
}
