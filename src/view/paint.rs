//! Colors and their meanings. While a table is laid out, a mark without width stands for each
//! color. No fact is shown by color alone.

use std::borrow::Cow;

use strum::VariantArray;

/// A color of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub(crate) enum Ink {
    Green,
    Blue,
    Cyan,
    Yellow,
    Red,
    Dim,
}

impl Ink {
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

    /// The mark at the start of a colored text: a character without width, which harmless text
    /// never contains.
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

/// The mark at the end of a colored text.
const END: char = '\u{2063}';

/// Writes marks into texts, and replaces them by colors after the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    color: bool,
}

impl Marks {
    pub(crate) fn new(color: bool) -> Marks {
        Marks { color }
    }

    /// The harmless text between its marks.
    pub(crate) fn put(&self, text: &str, ink: Option<Ink>) -> String {
        match ink.filter(|_| self.color) {
            Some(ink) => format!("{}{text}{END}", ink.mark()),
            None => text.to_owned(),
        }
    }

    /// Replaces the marks by colors.
    pub(crate) fn colorize(&self, text: String) -> String {
        if !self.color {
            return text;
        }
        let replace = |c: char| match Ink::VARIANTS.iter().find(|ink| ink.mark() == c) {
            Some(ink) => Cow::from(ink.code()),
            None if c == END => Cow::from("\x1b[0m"),
            None => Cow::from(c.to_string()),
        };
        text.chars().map(replace).collect()
    }
}
