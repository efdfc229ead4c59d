//! The colors of text. While a table is laid out, characters without width stand for the colors. No fact is shown
//! by color alone.

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

    /// The character that stands for this color at the start of a text. It has no width, and sanitized text never
    /// contains it.
    const fn zero_width_mark(self) -> char {
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

/// The character at the end of a colored text.
const END: char = '\u{2063}';

/// Puts texts between the characters that stand for colors, and replaces these by color codes after the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyler {
    color: bool,
}

impl TextStyler {
    pub(crate) fn new(is_colored: bool) -> TextStyler {
        TextStyler { color: is_colored }
    }

    /// A sanitized text between the characters for its style. Unchanged without color.
    pub(crate) fn mark_text(&self, text: &str, style: Option<Style>) -> String {
        match style.filter(|_| self.color) {
            Some(style) => format!("{}{text}{END}", style.zero_width_mark()),
            None => text.to_owned(),
        }
    }

    pub(crate) fn marks_to_ansi_codes(&self, text: String) -> String {
        if !self.color {
            return text;
        }
        let replace = |c: char| match Style::VARIANTS
            .iter()
            .find(|style| style.zero_width_mark() == c)
        {
            Some(style) => Cow::from(style.ansi_code()),
            None if c == END => Cow::from("\x1b[0m"),
            None => Cow::from(c.to_string()),
        };
        text.chars().map(replace).collect()
    }
}
