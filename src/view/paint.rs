//! Colors and their meanings. While a table is laid out, a mark without width stands for each
//! color. No fact is shown by color alone.

use std::borrow::Cow;

use strum::VariantArray;

/// A color of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub(crate) enum Style {
    Green,
    Blue,
    Cyan,
    Yellow,
    Red,
    Dim,
}

impl Style {
    const fn ansi_code(self) -> &'static str {
        match self {
            Style::Green => "\x1b[32m",
            Style::Blue => "\x1b[34m",
            Style::Cyan => "\x1b[36m",
            Style::Yellow => "\x1b[33m",
            Style::Red => "\x1b[31m",
            Style::Dim => "\x1b[2m",
        }
    }

    /// The mark at the start of a colored text: a character without width, which sanitized text
    /// never contains.
    const fn style_mark(self) -> char {
        match self {
            Style::Green => '\u{206a}',
            Style::Blue => '\u{206b}',
            Style::Cyan => '\u{206c}',
            Style::Yellow => '\u{206d}',
            Style::Red => '\u{206e}',
            Style::Dim => '\u{206f}',
        }
    }
}

/// The mark at the end of a colored text.
const END: char = '\u{2063}';

/// Writes marks into texts, and replaces them by colors after the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StyleMarker {
    color: bool,
}

impl StyleMarker {
    pub(crate) fn new(is_colored: bool) -> StyleMarker {
        StyleMarker { color: is_colored }
    }

    /// The sanitized text between its marks.
    pub(crate) fn mark_text(&self, text: &str, style: Option<Style>) -> String {
        match style.filter(|_| self.color) {
            Some(style) => format!("{}{text}{END}", style.style_mark()),
            None => text.to_owned(),
        }
    }

    pub(crate) fn replace_marks(&self, text: String) -> String {
        if !self.color {
            return text;
        }
        let replace = |c: char| match Style::VARIANTS.iter().find(|style| style.style_mark() == c) {
            Some(style) => Cow::from(style.ansi_code()),
            None if c == END => Cow::from("\x1b[0m"),
            None => Cow::from(c.to_string()),
        };
        text.chars().map(replace).collect()
    }
}
