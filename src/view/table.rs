//! The one table style; the only user of comfy-table.

use std::cmp::Ordering;

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::Page;
use super::paint::{Ink, Marks};
use crate::error::Error;
use crate::text;

/// What is missing.
pub(crate) const NONE: &str = "–";

/// Between two columns.
const GAP: usize = 2;

/// Before the lines of a row that does not fit into one.
const INDENT: usize = 2;

/// The least that is worth showing of a free text.
const LEAST: usize = 10;

/// A column that a table can have.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    kind: Kind,
    /// Whether it is there without being asked for.
    usual: bool,
    /// Whether its name stands above it.
    headed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Number,
    /// Free text, cut to the width of a terminal where it stands last.
    Free,
}

impl Column {
    pub const fn text(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Text,
            usual: true,
            headed: true,
        }
    }

    pub const fn number(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Number,
            usual: true,
            headed: true,
        }
    }

    pub const fn free(name: &'static str) -> Column {
        Column {
            name,
            kind: Kind::Free,
            usual: true,
            headed: true,
        }
    }

    /// A column that is shown only if `--columns` names it.
    pub const fn on_request(self) -> Column {
        Column {
            usual: false,
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

    /// Returns what stands above it.
    const fn header(&self) -> &'static str {
        if self.headed { self.name } else { "" }
    }

    /// Returns whether this is what was typed: case does not matter, `-` and `_` are blanks.
    fn is(&self, typed: &str) -> bool {
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

/// One value in a table: its text, cleaned on the way in, and what it is sorted by.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    order: Order,
    ink: Option<Ink>,
}

#[derive(Clone, Debug, PartialEq)]
enum Order {
    Number(f64),
    Text(String),
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Cell {
        let text = text::clean(text.as_ref());
        Cell {
            order: Order::Text(text.to_lowercase()),
            text,
            ink: None,
        }
    }

    pub(crate) fn missing() -> Cell {
        Cell {
            text: NONE.to_owned(),
            order: Order::Missing,
            ink: None,
        }
    }

    pub(crate) fn maybe(text: Option<impl AsRef<[u8]>>) -> Cell {
        text.map_or_else(Cell::missing, Cell::text)
    }

    pub(crate) fn count(count: u64, page: &Page) -> Cell {
        Cell {
            text: page.count(count),
            order: Order::Number(count as f64),
            ink: None,
        }
    }

    /// A text that is sorted by a number, such as an age.
    pub(crate) fn by(number: f64, text: impl AsRef<[u8]>) -> Cell {
        Cell {
            order: Order::Number(number),
            ..Cell::text(text)
        }
    }

    pub(crate) fn ink(self, ink: Option<Ink>) -> Cell {
        Cell { ink, ..self }
    }
}

/// What `--columns`, `--sort` and `--reverse` ask for.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub columns: Vec<String>,
    pub sort: Option<String>,
    pub reverse: bool,
    /// Which of the sorted rows are shown: from where, how many.
    pub rows: Option<(u64, Option<u64>)>,
}

impl Choice {
    /// Returns whether nothing was asked for, so that only the usual columns are needed.
    pub fn is_usual(&self) -> bool {
        self.columns.is_empty() && self.sort.is_none()
    }

    /// Refuses what a table with these columns cannot show.
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
                if !known.iter().any(|column| column.is(name)) {
                    let known: Vec<String> = known
                        .iter()
                        .map(|column| column.name.to_lowercase().replace(' ', "-"))
                        .collect();
                    return Err(Error::usage(format!("`{flag}` knows no column `{name}`"))
                        .hint(format!("the columns are {}", known.join(", "))));
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

    /// Returns the text; nothing at all where there are no rows.
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
        marks.colour(text)
    }

    /// Returns the text of a table within another: aligned in a pipe, too, and without headers.
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
        if let Some(at) = by.and_then(|by| self.columns.iter().position(|column| column.is(by))) {
            self.rows
                .sort_by(|one, other| order(&one[at].order, &other[at].order));
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

    /// Returns which columns are shown.
    fn shown(&self, choice: &Choice) -> Vec<usize> {
        if choice.columns.is_empty() {
            return (0..self.columns.len())
                .filter(|&at| self.columns[at].usual)
                .collect();
        }
        let place = |name: &String| self.columns.iter().position(|column| column.is(name));
        choice.columns.iter().filter_map(place).collect()
    }

    /// Cuts the last column, if it is free text, to what the others leave of the width. Where they
    /// leave too little, rows have several lines. Returns how many columns stand in each.
    fn fit(&mut self, shown: &[usize], page: &Page) -> Vec<usize> {
        let header = |at: usize| match page.headers {
            true => text::width(self.columns[at].header()),
            false => 0,
        };
        let wide = |at: usize| {
            let cells = self.rows.iter().map(|row| text::width(&row[at].text)).max();
            cells.unwrap_or(0).max(header(at))
        };
        let mut widths: Vec<usize> = shown.iter().map(|&at| wide(at)).collect();
        let free = shown
            .last()
            .is_some_and(|&last| self.columns[last].kind == Kind::Free);
        let least = match free {
            true => LEAST.max(header(shown[shown.len() - 1])),
            false => usize::MAX,
        };
        let mut lines = Vec::new();
        let mut taken = 0;
        for (place, width) in widths.iter_mut().enumerate() {
            let indent = if lines.is_empty() { 0 } else { INDENT };
            let room = page.width.saturating_sub(indent);
            let wanted = match place + 1 == shown.len() {
                true => (*width).min(least),
                false => *width,
            };
            match lines.last_mut() {
                Some(columns) if taken + GAP + wanted <= page.width => {
                    *columns += 1;
                    taken += GAP;
                }
                _ => {
                    lines.push(1);
                    taken = if lines.len() == 1 { 0 } else { INDENT };
                }
            }
            if place + 1 == shown.len() && free {
                *width = page.width.saturating_sub(taken);
            } else if shown[place] > 0 && *width > room {
                *width = room;
            }
            taken += *width;
        }
        for row in &mut self.rows {
            for (&at, &width) in shown.iter().zip(&widths) {
                // Who copies the subject of a row needs all of it.
                if at > 0 {
                    row[at].text = text::cut(&row[at].text, width);
                }
            }
        }
        lines
    }

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
            for (place, part) in parts.iter().enumerate() {
                let line = part[row].trim_end();
                if place == 0 || !line.is_empty() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn order(one: &Order, other: &Order) -> Ordering {
    match (one, other) {
        (Order::Number(one), Order::Number(other)) => one.total_cmp(other),
        (Order::Text(one), Order::Text(other)) => one.cmp(other),
        (Order::Missing, Order::Missing) => Ordering::Equal,
        (Order::Missing, _) => Ordering::Greater,
        (_, Order::Missing) => Ordering::Less,
        (Order::Number(_), Order::Text(_)) => Ordering::Less,
        (Order::Text(_), Order::Number(_)) => Ordering::Greater,
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
    fn columns_are_chosen_ordered_and_sorted_as_asked() {
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
    fn colour_takes_no_room() {
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
    fn an_unknown_column_is_refused_with_those_that_there_are() {
        let choice = Choice {
            columns: vec!["jid".into()],
            ..Choice::default()
        };
        let error = choice.check(&COLUMNS).unwrap_err();
        assert_eq!(error.message(), "`--columns` knows no column `jid`");
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
    fn no_rows_are_no_text() {
        assert_eq!(Table::new(&COLUMNS).draw(&Page::terminal(80)), "");
    }
}
