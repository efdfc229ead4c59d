//! The columns and cells of a table.

use std::cmp::Ordering;

use super::NONE;
use crate::name::Name;
use crate::text;
use crate::view::Page;
use crate::view::paint::Ink;

/// The minimum width of a free text.
const LEAST: usize = 10;

/// A column that a table can have.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub(super) kind: Kind,
    /// Whether it is shown if `--columns` is not given.
    pub(super) default: bool,
    /// Whether its header is shown.
    pub(super) headed: bool,
    /// How soon a narrow terminal drops it: the highest rank first, 0 never.
    pub(super) rank: u8,
    /// The minimum width of free text.
    pub(super) least: usize,
    /// Whether a terminal shows it only if a row has a value.
    pub(super) sparse: bool,
    /// Whether it is shown only if a row has something to count, also in a pipe.
    pub(super) if_any: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    Number,
    /// Free text, cut to the width that the other columns leave.
    Free,
}

impl Column {
    pub const fn text(name: &'static str) -> Column {
        Column::new(name, Kind::Text)
    }

    pub const fn number(name: &'static str) -> Column {
        Column::new(name, Kind::Number)
    }

    pub const fn free(name: &'static str) -> Column {
        Column::new(name, Kind::Free)
    }

    const fn new(name: &'static str, kind: Kind) -> Column {
        Column {
            name,
            kind,
            default: true,
            headed: true,
            rank: 0,
            least: LEAST,
            sparse: false,
            if_any: false,
        }
    }

    /// A column that a narrow terminal drops: the highest rank first.
    pub const fn rank(self, rank: u8) -> Column {
        Column { rank, ..self }
    }

    /// A column that a terminal shows only if a row has a value.
    pub const fn sparse(self) -> Column {
        Column {
            sparse: true,
            ..self
        }
    }

    /// A column that is shown only if a row has more than nothing or 0, also in a pipe.
    pub const fn if_any(self) -> Column {
        Column {
            if_any: true,
            ..self
        }
    }

    /// A free text that is not cut to fewer columns than this.
    pub const fn least(self, least: usize) -> Column {
        Column { least, ..self }
    }

    /// A column that is shown only if `--columns` names it.
    pub const fn on_request(self) -> Column {
        Column {
            default: false,
            ..self
        }
    }

    /// A column of marks, without a header.
    pub const fn headless(self) -> Column {
        Column {
            headed: false,
            ..self
        }
    }

    /// Returns its header.
    pub(super) const fn header(&self) -> &'static str {
        if self.headed { self.name } else { "" }
    }

    /// Returns whether `typed` is its name: case does not matter, `-` and `_` are blanks.
    pub(super) fn is_named(&self, typed: &str) -> bool {
        let plain = |c: char| {
            if matches!(c, '-' | '_') {
                ' '
            } else {
                c.to_ascii_lowercase()
            }
        };
        self.name
            .chars()
            .map(plain)
            .eq(typed.trim().chars().map(plain))
    }
}

/// One value in a table: its harmless text and its sort key.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    /// The text for programs if it differs: a backslash of the text itself is written twice, so that it is no
    /// escape.
    tsv: Option<String>,
    pub(super) key: SortKey,
    pub(super) ink: Option<Ink>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SortKey {
    Number(f64),
    Text(String),
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Cell {
        let tsv = text.as_ref().contains(&b'\\');
        let tsv = tsv.then(|| text::clean_unambiguous(text.as_ref()));
        Cell {
            tsv,
            ..Cell::escaped(text)
        }
    }

    /// A text with escapes of its own: JSON, or names that are harmless already.
    pub(crate) fn escaped(text: impl AsRef<[u8]>) -> Cell {
        let text = text::clean(text.as_ref());
        Cell {
            key: SortKey::Text(text.to_lowercase()),
            text,
            tsv: None,
            ink: None,
        }
    }

    /// Names, separated by commas; with `…` at the end if there are more.
    pub(crate) fn names(names: &[Name], more: bool) -> Cell {
        let more = more.then_some("…".as_bytes());
        let names = names.iter().map(Name::as_bytes).chain(more);
        Cell::text(names.collect::<Vec<&[u8]>>().join(&b", "[..]))
    }

    pub(crate) fn missing() -> Cell {
        Cell {
            text: NONE.to_owned(),
            tsv: None,
            key: SortKey::Missing,
            ink: None,
        }
    }

    pub(crate) fn maybe(text: Option<impl AsRef<[u8]>>) -> Cell {
        text.map_or_else(Cell::missing, Cell::text)
    }

    pub(crate) fn count(count: u64, page: &Page) -> Cell {
        Cell {
            text: page.count(count),
            tsv: None,
            key: SortKey::Number(count as f64),
            ink: None,
        }
    }

    /// A text with a number as its sort key, such as an age.
    pub(crate) fn by(number: f64, text: impl AsRef<[u8]>) -> Cell {
        Cell {
            key: SortKey::Number(number),
            ..Cell::text(text)
        }
    }

    pub(crate) fn ink(self, ink: Option<Ink>) -> Cell {
        Cell { ink, ..self }
    }

    /// The text in a table for people, or in one for programs.
    pub(super) fn shown(&self, for_people: bool) -> &str {
        match &self.tsv {
            Some(tsv) if !for_people => tsv,
            _ => &self.text,
        }
    }

    /// Returns whether it says nothing: no text, a missing value or no jobs.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.text.as_str(), "" | NONE | "0")
    }
}

/// Compares sort keys: numbers, then texts, then missing values.
pub(super) fn compare(one: &SortKey, other: &SortKey) -> Ordering {
    match (one, other) {
        (SortKey::Number(one), SortKey::Number(other)) => one.total_cmp(other),
        (SortKey::Text(one), SortKey::Text(other)) => one.cmp(other),
        (SortKey::Missing, SortKey::Missing) => Ordering::Equal,
        (SortKey::Missing, _) => Ordering::Greater,
        (_, SortKey::Missing) => Ordering::Less,
        (SortKey::Number(_), SortKey::Text(_)) => Ordering::Less,
        (SortKey::Text(_), SortKey::Number(_)) => Ordering::Greater,
    }
}
