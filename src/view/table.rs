//! Tables: one style for all, and the only user of comfy-table.

use std::cmp::Ordering;

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::Page;
use super::paint::{Ink, Marks};
use crate::error::Error;
use crate::text;

/// The text of a missing value.
pub(crate) const NONE: &str = "–";

/// Blanks between two columns.
const GAP: usize = 2;

/// Blanks before the further lines of a row that does not fit on one.
const INDENT: usize = 2;

/// The minimum width of a free text, if the table is wrapped.
const LEAST: usize = 10;

/// A column that a table can have.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    kind: Kind,
    /// Whether it is shown if `--columns` is not given.
    default: bool,
    /// Whether its header is shown.
    headed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Number,
    /// Free text, cut to the width of a terminal if it is the last column.
    Free,
}

impl Column {
    pub const fn text(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Text,
            default: true,
            headed: true,
        }
    }

    pub const fn number(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Number,
            default: true,
            headed: true,
        }
    }

    pub const fn free(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Free,
            default: true,
            headed: true,
        }
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
    const fn header(&self) -> &'static str {
        if self.headed { self.name } else { "" }
    }

    /// Returns whether `typed` is its name: case does not matter, `-` and `_` are blanks.
    fn is_named(&self, typed: &str) -> bool {
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
    text: String,
    key: SortKey,
    ink: Option<Ink>,
}

#[derive(Clone, Debug, PartialEq)]
enum SortKey {
    Number(f64),
    Text(String),
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Cell {
        let text = text::clean(text.as_ref());
        Cell {
            key: SortKey::Text(text.to_lowercase()),
            text,
            ink: None,
        }
    }

    pub(crate) fn missing() -> Cell {
        Cell {
            text: NONE.to_owned(),
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
}

/// The columns and rows of a table that are shown: `--columns`, `--sort`, `--reverse` and paging.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub columns: Vec<String>,
    pub sort: Option<String>,
    pub reverse: bool,
    /// The range of the sorted rows that is shown: offset and limit.
    pub rows: Option<(u64, Option<u64>)>,
}

impl Choice {
    /// Returns whether neither columns nor an order are given, so that only the default columns
    /// are needed.
    pub fn is_default(&self) -> bool {
        self.columns.is_empty() && self.sort.is_none()
    }

    /// Refuses names that none of these columns has.
    pub fn check(&self, known: &[Column]) -> Result<(), Error> {
        let typed = [
            ("--columns", &self.columns[..]),
            ("--sort", self.sort.as_slice()),
        ];
        for (flag, names) in typed {
            for name in names {
                if known.is_empty() {
                    return Err(Error::usage(format!("`{flag}` is for lists")));
                }
                if !known.iter().any(|column| column.is_named(name)) {
                    let known: Vec<String> = known
                        .iter()
                        .map(|column| column.name.to_lowercase().replace(' ', "-"))
                        .collect();
                    return Err(
                        Error::usage(format!("`{flag}`: no column is called `{name}`"))
                            .hint(format!("the columns are {}", known.join(", "))),
                    );
                }
            }
        }
        Ok(())
    }
}

/// Rows under columns: aligned and with headers on a terminal, tab-separated in a pipe.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &'static [Column]) -> Table {
        Table {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row: one cell for each column, in their order.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Returns the text; without rows it is empty, without even a header.
    pub(crate) fn draw(mut self, page: &Page) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        self.sort(&page.choice);
        let shown = self.shown(&page.choice);
        let marks = Marks::new(page.color);
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if page.headers {
            rows.push(
                shown
                    .iter()
                    .map(|&at| self.columns[at].header().to_owned())
                    .collect(),
            );
        }
        let lines = match page.terminal {
            true => self.fit(&shown, page),
            false => Vec::new(),
        };
        for row in &self.rows {
            rows.push(
                shown
                    .iter()
                    .map(|&at| marks.put(&row[at].text, row[at].ink))
                    .collect(),
            );
        }
        let text = match page.terminal {
            true => self.aligned(&shown, rows, &lines),
            false => rows.iter().map(|row| row.join("\t") + "\n").collect(),
        };
        marks.colorize(text)
    }

    /// Returns the text indented below something else: aligned even in a pipe, without headers.
    pub(crate) fn inset(self, page: &Page) -> String {
        let width = match page.terminal {
            true => page.width.saturating_sub(INDENT),
            false => usize::MAX,
        };
        let inner = Page {
            terminal: true,
            headers: false,
            width,
            choice: Choice::default(),
            ..page.clone()
        };
        let lines = self.draw(&inner);
        lines.lines().map(|line| format!("  {line}\n")).collect()
    }

    fn sort(&mut self, choice: &Choice) {
        let by = choice.sort.as_deref();
        if let Some(at) =
            by.and_then(|by| self.columns.iter().position(|column| column.is_named(by)))
        {
            self.rows
                .sort_by(|one, other| compare(&one[at].key, &other[at].key));
        }
        if choice.reverse {
            self.rows.reverse();
        }
        if let Some((offset, limit)) = choice.rows {
            let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            self.rows.drain(..size(offset).min(self.rows.len()));
            self.rows.truncate(limit.map_or(usize::MAX, size));
        }
    }

    /// Returns the positions of the columns that are shown.
    fn shown(&self, choice: &Choice) -> Vec<usize> {
        if choice.columns.is_empty() {
            return (0..self.columns.len())
                .filter(|&at| self.columns[at].default)
                .collect();
        }
        let position = |name: &String| self.columns.iter().position(|column| column.is_named(name));
        choice.columns.iter().filter_map(position).collect()
    }

    /// Cuts the last column, if it is free text, to the width that the others leave. If they leave
    /// too little, rows are wrapped. Returns how many columns each line of a row has.
    fn fit(&mut self, shown: &[usize], page: &Page) -> Vec<usize> {
        let header = |at: usize| match page.headers {
            true => text::width(self.columns[at].header()),
            false => 0,
        };
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| text::width(&row[at].text)).max();
            cells.unwrap_or(0).max(header(at))
        };
        let mut widths: Vec<usize> = shown.iter().map(|&at| widest(at)).collect();
        let free = shown
            .last()
            .is_some_and(|&last| self.columns[last].kind == Kind::Free);
        let least = match free {
            true => LEAST.max(header(shown[shown.len() - 1])),
            false => usize::MAX,
        };
        let mut lines = Vec::new();
        let mut taken = 0;
        for (position, width) in widths.iter_mut().enumerate() {
            let indent = if lines.is_empty() { 0 } else { INDENT };
            let room = page.width.saturating_sub(indent);
            let needed = match position + 1 == shown.len() {
                true => (*width).min(least),
                false => *width,
            };
            match lines.last_mut() {
                Some(columns) if taken + GAP + needed <= page.width => {
                    *columns += 1;
                    taken += GAP;
                }
                _ => {
                    lines.push(1);
                    taken = if lines.len() == 1 { 0 } else { INDENT };
                }
            }
            if position + 1 == shown.len() && free {
                *width = page.width.saturating_sub(taken);
            } else if shown[position] > 0 && *width > room {
                *width = room;
            }
            taken += *width;
        }
        for row in &mut self.rows {
            for (&at, &width) in shown.iter().zip(&widths) {
                // The first column names the row and is copied from there: it is never cut.
                if at > 0 {
                    row[at].text = text::cut(&row[at].text, width);
                }
            }
        }
        lines
    }

    /// Returns the rows with aligned columns, `lines` of them on each line of a row.
    fn aligned(&self, shown: &[usize], rows: Vec<Vec<String>>, lines: &[usize]) -> String {
        let mut first = 0;
        let mut parts: Vec<Vec<String>> = Vec::new();
        for &columns in lines {
            let part = first..first + columns;
            let mut table = comfy_table::Table::new();
            table
                .load_style(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Disabled);
            table.add_rows(rows.iter().map(|row| &row[part.clone()]));
            for (column, &at) in table.column_iter_mut().zip(&shown[part]) {
                column.set_padding((0, GAP as u16));
                if self.columns[at].kind == Kind::Number {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
            let indent = " ".repeat(if first == 0 { 0 } else { INDENT });
            let drawn = table
                .lines()
                .map(|line| format!("{indent}{}", line.trim_end()));
            parts.push(drawn.collect());
            first += columns;
        }
        let mut text = String::new();
        for row in 0..rows.len() {
            for (position, part) in parts.iter().enumerate() {
                let line = part[row].trim_end();
                if position == 0 || !line.is_empty() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// Compares sort keys: numbers, then texts, then missing values.
fn compare(one: &SortKey, other: &SortKey) -> Ordering {
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::text("GROUP"),
        Column::number("JOBS"),
        Column::text("HEAD WAIT").on_request(),
        Column::free("SAMPLE"),
    ];

    fn table(page: &Page) -> String {
        let mut table = Table::new(&COLUMNS);
        for (group, jobs, sample) in [
            ("upload error", 1204, "PermissionError: cannot open\nspool"),
            ("Ünïcode 日本", 31, "\x1b[31mred\x1b[0m \u{202e}"),
            ("bad", 2, "\tkey \"user\" missing"),
        ] {
            table.row(vec![
                Cell::text(group),
                Cell::count(jobs, page),
                Cell::missing(),
                Cell::text(sample).ink(Some(Ink::Red)),
            ]);
        }
        table.draw(page)
    }

    fn shows(page: &Page, wanted: Expect) {
        wanted.assert_eq(&table(page));
    }

    #[test]
    fn a_terminal_gets_columns_and_a_pipe_gets_tabs() {
        shows(
            &Page::terminal(46),
            expect![[r#"
            GROUP          JOBS  SAMPLE
            upload error  1,204  PermissionError: cannot …
            Ünïcode 日本     31  \x1b[31mred\x1b[0m \u{20…
            bad               2  \tkey "user" missing
        "#]],
        );
        shows(
            &Page::pipe(),
            expect![[r#"
            upload error	1204	PermissionError: cannot open\nspool
            Ünïcode 日本	31	\x1b[31mred\x1b[0m \u{202e}
            bad	2	\tkey "user" missing
        "#]],
        );
    }

    #[test]
    fn the_choice_selects_columns_order_and_rows() {
        let choice = Choice {
            columns: vec!["jobs".into(), "head-wait".into(), "Group".into()],
            sort: Some("jobs".into()),
            reverse: true,
            rows: Some((1, Some(1))),
        };
        shows(
            &Page {
                choice,
                ..Page::terminal(80)
            },
            expect![[r#"
                JOBS  HEAD WAIT  GROUP
                  31  –          Ünïcode 日本
            "#]],
        );
    }

    #[test]
    fn colors_do_not_change_the_layout() {
        let page = Page {
            color: true,
            ..Page::terminal(46)
        };
        let plain = table(&Page::terminal(46));
        let text = table(&page);
        assert!(text.contains("\x1b[31mPermissionErr"), "{text:?}");
        let bare = text.replace("\x1b[31m", "").replace("\x1b[0m", "");
        assert_eq!(bare, plain);
    }

    #[test]
    fn an_unknown_column_is_refused_with_a_list_of_the_columns() {
        let choice = Choice {
            columns: vec!["jid".into()],
            ..Choice::default()
        };
        let error = choice.check(&COLUMNS).unwrap_err();
        assert_eq!(error.message(), "`--columns`: no column is called `jid`");
        assert_eq!(
            error.hint_text(),
            Some("the columns are group, jobs, head-wait, sample")
        );
        assert!(
            Choice {
                sort: Some("x".into()),
                ..Choice::default()
            }
            .check(&[])
            .is_err()
        );
        assert!(Choice::default().check(&[]).is_ok());
    }

    #[test]
    fn a_table_without_rows_is_empty() {
        assert_eq!(Table::new(&COLUMNS).draw(&Page::terminal(80)), "");
    }
}
