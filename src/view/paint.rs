//! Colours: which there are, what they stand for, and how a table carries them without measuring
//! them. Never the only carrier of a meaning.

use std::borrow::Cow;

use crate::model::job::State;

/// A colour of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Green,
    Blue,
    Cyan,
    Yellow,
    Red,
    Dim,
}

impl Ink {
    const ALL: [Ink; 6] = [
        Ink::Green,
        Ink::Blue,
        Ink::Cyan,
        Ink::Yellow,
        Ink::Red,
        Ink::Dim,
    ];

    /// Returns the colour of a state; waiting is plain.
    pub(crate) const fn of(state: State) -> Option<Ink> {
        match state {
            State::Running => Some(Ink::Green),
            State::Waiting => None,
            State::Scheduled => Some(Ink::Blue),
            State::Depends => Some(Ink::Cyan),
            State::Stalled => Some(Ink::Yellow),
            State::Failed => Some(Ink::Red),
            State::Complete => Some(Ink::Dim),
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Ink::Green => "\x1b[32m",
            Ink::Blue => "\x1b[34m",
            Ink::Cyan => "\x1b[36m",
            Ink::Yellow => "\x1b[33m",
            Ink::Red => "\x1b[31m",
            Ink::Dim => "\x1b[2m",
        }
    }

    /// Where a coloured text begins: a character without width that no cleaned text holds.
    const fn mark(self) -> char {
        match self {
            Ink::Green => '\u{206a}',
            Ink::Blue => '\u{206b}',
            Ink::Cyan => '\u{206c}',
            Ink::Yellow => '\u{206d}',
            Ink::Red => '\u{206e}',
            Ink::Dim => '\u{206f}',
        }
    }
}

/// Where a coloured text ends.
const END: char = '\u{2063}';

/// Marks in laid-out text that become colours once the layout stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    color: bool,
}

impl Marks {
    pub(super) fn new(color: bool) -> Marks {
        Marks { color }
    }

    /// Returns the cleaned text with its marks.
    pub(super) fn put(&self, text: &str, ink: Option<Ink>) -> String {
        match ink.filter(|_| self.color) {
            Some(ink) => format!("{}{text}{END}", ink.mark()),
            None => text.to_owned(),
        }
    }

    /// Turns the marks into colours.
    pub(super) fn colour(&self, text: String) -> String {
        if !self.color {
            return text;
        }
        let colour = |c: char| match Ink::ALL.into_iter().find(|ink| ink.mark() == c) {
            Some(ink) => Cow::from(ink.code()),
            None if c == END => Cow::from("\x1b[0m"),
            None => Cow::from(c.to_string()),
        };
        text.chars().map(colour).collect()
    }
}
