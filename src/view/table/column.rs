//! The columns and cells of a table.

use std::cmp::Ordering;

use super::NONE;
use crate::clock::moment::Moment;
use crate::json::Number;
use crate::name::Name;
use crate::text;
use crate::view::RenderOptions;
use crate::view::paint::Style;

/// The minimum width of a free text.
const MIN_TEXT_WIDTH: usize = 10;

/// A column of a table whose rows are `T`s.
pub(crate) struct Column<T> {
    pub(super) heading: Heading,
    pub(super) content: CellSource<T>,
}

/// The function that makes the column's cell for a row.
pub(super) enum CellSource<T> {
    Name(fn(&T) -> &Name),
    Count(fn(&T) -> u64),
    Cell(fn(&T, &RenderOptions) -> Cell),
}

/// The title of a column, and when and how the column is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    pub name: &'static str,
    pub(super) kind: CellKind,
    /// Whether the column is shown if `--columns` is not given.
    pub(super) shown_by_default: bool,
    /// Whether the table header has the title of the column.
    pub(super) has_header: bool,
    /// The rank by which a narrow terminal drops the column: the highest rank first, 0 never.
    pub(super) drop_rank: u8,
    /// The minimum width of free text. If rows are written as they arrive, of any cell.
    pub(super) min_width: usize,
    /// Whether a terminal shows the column only if at least one row has a value.
    pub(super) only_if_filled: bool,
    /// Whether the column is shown, also in a pipe, only if at least one row has a value other than 0.
    pub(super) only_if_not_zero: bool,
    /// Whether a count of more than 0 is yellow, as a warning.
    pub(super) warn_if_not_zero: bool,
}

impl Heading {
    /// A column of texts that is always shown.
    pub(crate) fn of_text(title: &'static str) -> Heading {
        Column::<()>::of_text(title, |(), _| Cell::missing()).heading
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CellKind {
    Text,
    Number,
    /// Free text, cut to the width that the other columns leave.
    Free,
}

impl<T> Column<T> {
    /// A column of names.
    pub(crate) const fn of_names(title: &'static str, name: fn(&T) -> &Name) -> Column<T> {
        Column::new(title, CellKind::Text, CellSource::Name(name))
    }

    /// A column of counts.
    pub(crate) const fn of_counts(title: &'static str, count: fn(&T) -> u64) -> Column<T> {
        Column::new(title, CellKind::Number, CellSource::Count(count))
    }

    pub(crate) const fn of_text(
        title: &'static str,
        cell: fn(&T, &RenderOptions) -> Cell,
    ) -> Column<T> {
        Column::new(title, CellKind::Text, CellSource::Cell(cell))
    }

    pub(crate) const fn of_numbers(
        title: &'static str,
        cell: fn(&T, &RenderOptions) -> Cell,
    ) -> Column<T> {
        Column::new(title, CellKind::Number, CellSource::Cell(cell))
    }

    pub(crate) const fn of_free_text(
        title: &'static str,
        cell: fn(&T, &RenderOptions) -> Cell,
    ) -> Column<T> {
        Column::new(title, CellKind::Free, CellSource::Cell(cell))
    }

    const fn new(name: &'static str, kind: CellKind, content: CellSource<T>) -> Column<T> {
        let heading = Heading {
            name,
            kind,
            shown_by_default: true,
            has_header: true,
            drop_rank: 0,
            min_width: MIN_TEXT_WIDTH,
            only_if_filled: false,
            only_if_not_zero: false,
            warn_if_not_zero: false,
        };
        Column { heading, content }
    }

    /// Lets a narrow terminal drop the column. The column with the highest rank is dropped first.
    pub(crate) const fn drop_rank(mut self, rank: u8) -> Column<T> {
        self.heading.drop_rank = rank;
        self
    }

    /// Shows the column on a terminal only if at least one row has a value.
    pub(crate) const fn only_if_filled(mut self) -> Column<T> {
        self.heading.only_if_filled = true;
        self
    }

    /// Shows the column, also in a pipe, only if at least one row has a value other than 0.
    pub(crate) const fn only_if_not_zero(mut self) -> Column<T> {
        self.heading.only_if_not_zero = true;
        self
    }

    /// Sets the minimum width, below which free text is not cut. If rows are written as they arrive, each cell is
    /// at least this wide.
    pub(crate) const fn min_width(mut self, width: usize) -> Column<T> {
        self.heading.min_width = width;
        self
    }

    /// Shows the column only if `--columns` names it.
    pub(crate) const fn only_if_requested(mut self) -> Column<T> {
        self.heading.shown_by_default = false;
        self
    }

    /// Leaves the column's title out of the table header, as for symbols.
    pub(crate) const fn without_header(mut self) -> Column<T> {
        self.heading.has_header = false;
        self
    }

    /// Colors each count of more than 0 yellow.
    pub(crate) const fn warn_if_not_zero(mut self) -> Column<T> {
        self.heading.warn_if_not_zero = true;
        self
    }

    pub(super) fn cell(&self, row: &T, options: &RenderOptions) -> Cell {
        match self.content {
            CellSource::Name(name) => Cell::text(name(row)),
            CellSource::Count(count) => {
                let count = count(row);
                let style = (self.heading.warn_if_not_zero && count > 0).then_some(Style::Yellow);
                Cell::count(count, options).with_style(style)
            }
            CellSource::Cell(cell) => cell(row, options),
        }
    }
}

impl Heading {
    pub(super) const fn header(&self) -> &'static str {
        if self.has_header { self.name } else { "" }
    }

    /// Whether `name` is the name of the column. Case does not matter, and `-` and `_` count as blanks.
    pub(super) fn is_named(&self, name: &str) -> bool {
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
            .eq(name.trim().chars().map(plain))
    }
}

/// One value in a table: its sanitized text and its sort key.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    /// The text for programs, if it differs: each backslash is doubled, because programs read a single one as an
    /// escape.
    tsv: Option<String>,
    pub(super) key: SortKey,
    pub(super) style: Option<Style>,
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
        let tsv = tsv.then(|| text::sanitize_to_line_escaping_backslashes(text.as_ref()));
        Cell {
            tsv,
            ..Cell::pre_escaped(text)
        }
    }

    /// A text that contains escapes already, such as JSON or sanitized names. Its backslashes are not doubled.
    pub(crate) fn pre_escaped(text: impl AsRef<[u8]>) -> Cell {
        let text = text::sanitize_to_line(text.as_ref());
        Cell {
            key: SortKey::Text(text.to_lowercase()),
            text,
            tsv: None,
            style: None,
        }
    }

    /// Names separated by commas, with `…` at the end if `has_more`.
    pub(crate) fn name_list(names: &[Name], has_more: bool) -> Cell {
        if names.is_empty() {
            return Cell::missing();
        }
        let has_more = has_more.then_some("…".as_bytes());
        let names = names.iter().map(Name::as_bytes).chain(has_more);
        Cell::text(names.collect::<Vec<&[u8]>>().join(&b", "[..]))
    }

    pub(crate) fn missing() -> Cell {
        Cell {
            text: NONE.to_owned(),
            tsv: None,
            key: SortKey::Missing,
            style: None,
        }
    }

    pub(crate) fn text_or_missing(text: Option<impl AsRef<[u8]>>) -> Cell {
        text.map_or_else(Cell::missing, Cell::text)
    }

    /// A value in its plain form, such as a process id. A missing value is shown as `–`.
    pub(crate) fn value_or_missing(value: Option<impl ToString>) -> Cell {
        Cell::text_or_missing(value.map(|value| value.to_string()))
    }

    /// A duration in seconds.
    pub(crate) fn duration(seconds: Option<f64>) -> Cell {
        match seconds {
            Some(seconds) => Cell::sorted_by(seconds, text::format_duration(seconds)),
            None => Cell::missing(),
        }
    }

    /// A moment as `--time-format` says: by default, how long ago it was or in how long it will be.
    pub(crate) fn moment(moment: Option<Moment>, options: &RenderOptions) -> Cell {
        match moment {
            Some(moment) => Cell::sorted_by(options.now.since(moment), options.when(moment)),
            None => Cell::missing(),
        }
    }

    pub(crate) fn count(count: u64, options: &RenderOptions) -> Cell {
        Cell {
            text: options.count(count),
            tsv: None,
            key: SortKey::Number(count as f64),
            style: None,
        }
    }

    /// A number of a job, as the server has it.
    pub(crate) fn number(number: Option<Number>) -> Cell {
        number.map_or_else(Cell::missing, |number| {
            Cell::sorted_by(number.0, number.to_string())
        })
    }

    /// A text that is sorted by a number, such as an age by its seconds.
    pub(crate) fn sorted_by(sort_key: f64, text: impl AsRef<[u8]>) -> Cell {
        Cell {
            key: SortKey::Number(sort_key),
            ..Cell::text(text)
        }
    }

    pub(crate) fn with_style(self, style: Option<Style>) -> Cell {
        Cell { style, ..self }
    }

    /// The text of the cell in a table that people read, or in a table that programs read.
    pub(super) fn text_for(&self, for_people: bool) -> &str {
        match &self.tsv {
            Some(tsv) if !for_people => tsv,
            _ => &self.text,
        }
    }

    /// Whether the cell has no text, a missing value or `0`.
    pub(super) fn is_empty_or_zero(&self) -> bool {
        matches!(self.text.as_str(), "" | NONE | "0")
    }
}

/// Compares sort keys: numbers, then texts, then missing values.
pub(super) fn compare_keys(one: &SortKey, other: &SortKey) -> Ordering {
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
