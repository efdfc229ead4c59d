//! Tables, in one style for all commands. Only this module uses comfy-table.
//!
//! comfy-table only aligns the cells. By itself, it would share the width of a terminal among all columns and wrap
//! their cells. Instead, this module drops columns by rank, cuts only free text, and continues a row on the next
//! line rather than cut a name.

mod column;
mod fit;

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::RenderOptions;
use super::paint::TextStyler;
use crate::error::Error;
use crate::text;

pub(crate) use column::{Cell, Column, Heading};
use column::{CellKind, compare_keys};

/// The text of a missing value.
pub(crate) const NONE: &str = "–";

/// Blanks between two columns.
const GAP: usize = 2;

/// Maximum width to which a cell is padded if rows are written as they arrive: the length of a jid.
const MAX_PADDING: usize = 32;

/// Blanks before each further line of a row that does not fit on one line.
const INDENT: usize = 2;

/// Which columns and rows of a table are shown, in which order: `--columns`, `--sort`, `--reverse` and paging.
#[derive(Clone, Debug, Default)]
pub struct TableSelection {
    pub columns: Vec<String>,
    pub sort: Option<String>,
    pub reverse: bool,
    /// The range of the sorted rows that is shown: offset and limit.
    pub rows: Option<(u64, Option<u64>)>,
}

impl TableSelection {
    /// Whether neither `--columns` nor `--sort` is given, so that only the default columns are needed.
    pub fn needs_only_default_columns(&self) -> bool {
        self.columns.is_empty() && self.sort.is_none()
    }

    /// Refuses a name in `--columns` or `--sort` that none of the columns in `known` has.
    pub(crate) fn refuse_unknown_columns(&self, known: &[Heading]) -> Result<(), Error> {
        let flags = [
            ("--columns", &self.columns[..]),
            ("--sort", self.sort.as_slice()),
        ];
        for (flag, names) in flags {
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

pub(crate) fn column_headings<T>(columns: &[Column<T>]) -> Vec<Heading> {
    columns.iter().map(|column| column.heading).collect()
}

/// Rows under columns: aligned and with headers on a terminal, tab-separated in a pipe.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Heading>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with a row for each of these.
    pub(crate) fn new<'t, T: 't>(
        columns: &[Column<T>],
        rows: impl IntoIterator<Item = &'t T>,
        options: &RenderOptions,
    ) -> Table {
        let row = |row: &T| {
            columns
                .iter()
                .map(|column| column.cell(row, options))
                .collect()
        };
        Table {
            columns: column_headings(columns),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// Adds a first column that has `text` in each row.
    pub(crate) fn with_first_column(mut self, title: &'static str, text: &str) -> Table {
        self.columns.insert(0, Heading::of_text(title));
        for row in &mut self.rows {
            row.insert(0, Cell::text(text));
        }
        self
    }

    /// Adds the rows of another table, whose columns must be equal.
    pub(crate) fn append_rows(&mut self, other: Table) {
        self.rows.extend(other.rows);
    }

    /// The text of a range of the sorted rows.
    pub(crate) fn into_text_of_rows(
        self,
        options: &RenderOptions,
        offset_and_limit: Option<(u64, Option<u64>)>,
    ) -> String {
        let mut options = options.clone();
        options.choice.rows = offset_and_limit;
        self.into_text(&options)
    }

    /// The table as text. Without rows, the text is empty and has not even a header.
    pub(crate) fn into_text(mut self, options: &RenderOptions) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        self.sort_and_page_rows(&options.choice);
        let mut shown = self.chosen_or_default_columns(&options.choice);
        if options.choice.columns.is_empty() {
            let has_any = |at: usize| self.rows.iter().any(|row| !row[at].is_empty_or_zero());
            shown.retain(|&at| !self.columns[at].only_if_not_zero || has_any(at));
        }
        let widths = if options.terminal {
            self.measure_columns(options)
        } else {
            Vec::new()
        };
        if options.terminal && options.choice.columns.is_empty() {
            let has_value = |at: usize| self.rows.iter().any(|row| row[at].text != NONE);
            shown.retain(|&at| !self.columns[at].only_if_filled || has_value(at));
            shown = self.drop_columns_to_fit(shown, &widths, options);
        }
        let marks = TextStyler::new(options.color);
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if options.headers {
            rows.push(
                shown
                    .iter()
                    .map(|&at| self.columns[at].header().to_owned())
                    .collect(),
            );
        }
        let columns_per_line = if options.terminal {
            self.cut_cells_and_wrap_rows(&shown, &widths, options)
                .columns_per_line
        } else {
            Vec::new()
        };
        for row in &self.rows {
            rows.push(
                shown
                    .iter()
                    .map(|&at| marks.mark_text(row[at].text_for(options.terminal), row[at].style))
                    .collect(),
            );
        }
        let text = if options.terminal {
            self.align_rows(&shown, rows, &columns_per_line)
        } else {
            rows.iter().map(|row| row.join("\t") + "\n").collect()
        };
        marks.marks_to_ansi_codes(text)
    }

    /// The text of rows that are written as they arrive. On a terminal, each cell is padded to the width of the
    /// cells above it, if the row then fits on a line. `widths` keeps these widths for the next rows.
    pub(crate) fn into_streamed_text(
        mut self,
        options: &RenderOptions,
        widths: &mut Vec<usize>,
    ) -> String {
        if !options.terminal {
            return self.into_text(options);
        }
        widths.resize(self.columns.len(), 0);
        for (at, (column, width)) in self.columns.iter().zip(&mut *widths).enumerate() {
            let least = column.min_width.max(text::width(column.header()));
            let cells = self.rows.iter().map(|row| text::width(&row[at].text));
            let widest = cells.max().unwrap_or(0);
            *width = (*width).max(widest.max(least).min(MAX_PADDING));
        }
        let shown = self.chosen_or_default_columns(&options.choice);
        let Some((last, padded)) = shown.split_last() else {
            return self.into_text(options);
        };
        for row in &mut self.rows {
            let rest = text::width(&row[*last].text).min(self.columns[*last].min_width);
            let cells = padded
                .iter()
                .map(|&at| text::width(&row[at].text).max(widths[at]) + GAP);
            if cells.sum::<usize>() + rest <= options.width {
                for &at in padded {
                    let missing = widths[at].saturating_sub(text::width(&row[at].text));
                    row[at].text.push_str(&" ".repeat(missing));
                }
            }
        }
        self.into_text(options)
    }

    /// The table as text to stand indented below other text: aligned even in a pipe, and without headers.
    pub(crate) fn into_indented_text(self, options: &RenderOptions) -> String {
        let width = if options.terminal {
            options.width.saturating_sub(INDENT)
        } else {
            usize::MAX
        };
        let inner = RenderOptions {
            terminal: true,
            headers: false,
            width,
            choice: TableSelection::default(),
            ..options.clone()
        };
        let lines = self.into_text(&inner);
        lines.lines().map(|line| format!("  {line}\n")).collect()
    }

    fn sort_and_page_rows(&mut self, choice: &TableSelection) {
        let by = choice.sort.as_deref();
        if let Some(at) =
            by.and_then(|by| self.columns.iter().position(|column| column.is_named(by)))
        {
            self.rows
                .sort_by(|one, other| compare_keys(&one[at].key, &other[at].key));
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

    /// The indexes of the columns to show.
    fn chosen_or_default_columns(&self, choice: &TableSelection) -> Vec<usize> {
        if choice.columns.is_empty() {
            return (0..self.columns.len())
                .filter(|&at| self.columns[at].shown_by_default)
                .collect();
        }
        let position = |name: &String| self.columns.iter().position(|column| column.is_named(name));
        choice.columns.iter().filter_map(position).collect()
    }

    /// The text of the rows with aligned columns. Each row takes a line per entry of `columns_per_line`, which is
    /// the number of columns on that line.
    fn align_rows(
        &self,
        shown: &[usize],
        rows: Vec<Vec<String>>,
        columns_per_line: &[usize],
    ) -> String {
        let mut first = 0;
        let mut parts: Vec<Vec<String>> = Vec::new();
        for &columns in columns_per_line {
            let part = first..first + columns;
            let mut table = comfy_table::Table::new();
            table
                .load_style(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Disabled);
            table.add_rows(rows.iter().map(|row| &row[part.clone()]));
            for (column, &at) in table.column_iter_mut().zip(&shown[part]) {
                column.set_padding((0, GAP as u16));
                if self.columns[at].kind == CellKind::Number {
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::view::paint::Style;

    /// A group, its number of jobs, and a sample.
    type Row = (&'static str, u64, &'static [u8]);

    const COLUMNS: &[Column<Row>] = &[
        Column::of_text("GROUP", |row, _| Cell::text(row.0)),
        Column::of_counts("JOBS", |row| row.1),
        Column::of_text("LAST SEEN", |_: &Row, _| Cell::missing()).only_if_requested(),
        Column::of_free_text("SAMPLE", |row, _| {
            Cell::text(row.2).with_style(Some(Style::Red))
        }),
    ];

    fn table(options: &RenderOptions) -> String {
        let rows: [Row; 3] = [
            ("upload error", 1204, b"PermissionError: cannot open\nspool"),
            ("Ünïcode 日本", 31, "\x1b[31mred\x1b[0m \u{202e}".as_bytes()),
            ("bad", 2, b"\tkey \"user\" missing"),
        ];
        Table::new(COLUMNS, &rows, options).into_text(options)
    }

    fn shows(options: &RenderOptions, wanted: Expect) {
        wanted.assert_eq(&table(options));
    }

    #[test]
    fn a_terminal_gets_columns_and_a_pipe_gets_tabs() {
        shows(
            &RenderOptions::terminal_without_color(46),
            expect![[r#"
            GROUP          JOBS  SAMPLE
            upload error  1,204  PermissionError: cannot …
            Ünïcode 日本     31  \x1b[31mred\x1b[0m \u{20…
            bad               2  \tkey "user" missing
        "#]],
        );
        shows(
            &RenderOptions::pipe(),
            expect![[r#"
            upload error	1204	PermissionError: cannot open\nspool
            Ünïcode 日本	31	\x1b[31mred\x1b[0m \u{202e}
            bad	2	\tkey "user" missing
        "#]],
        );
    }

    #[test]
    fn no_two_texts_are_the_same_for_programs() {
        let texts = [
            &b"a\nb"[..],
            b"a\\nb",
            b"a\\\\nb",
            b"a\\\nb",
            b"\xff",
            b"\\xff",
        ];
        let drawn = |options: &RenderOptions, cell: fn(&&[u8], &RenderOptions) -> Cell| {
            Table::new(&[Column::of_text("TEXT", cell)], &texts, options).into_text(options)
        };
        let programs = drawn(&RenderOptions::pipe(), |text, _| Cell::text(text));
        let lines: std::collections::BTreeSet<&str> = programs.lines().collect();
        assert_eq!(lines.len(), texts.len(), "{programs}");
        assert!(
            drawn(&RenderOptions::terminal_without_color(80), |text, _| {
                Cell::text(text)
            })
            .contains("\na\\nb\n")
        );
        // JSON has no backslash but its own.
        assert!(
            drawn(&RenderOptions::pipe(), |text, _| Cell::pre_escaped(text)).contains("\na\\nb\n")
        );
    }

    #[test]
    fn the_choice_selects_columns_order_and_rows() {
        let choice = TableSelection {
            columns: vec!["jobs".into(), "last-seen".into(), "Group".into()],
            sort: Some("jobs".into()),
            reverse: true,
            rows: Some((1, Some(1))),
        };
        shows(
            &RenderOptions {
                choice,
                ..RenderOptions::terminal_without_color(80)
            },
            expect![[r#"
                JOBS  LAST SEEN  GROUP
                  31  –          Ünïcode 日本
            "#]],
        );
    }

    #[test]
    fn colors_do_not_change_the_layout() {
        let options = RenderOptions {
            color: true,
            ..RenderOptions::terminal_without_color(46)
        };
        let plain = table(&RenderOptions::terminal_without_color(46));
        let text = table(&options);
        assert!(text.contains("\x1b[31mPermissionErr"), "{text:?}");
        let bare = text.replace("\x1b[31m", "").replace("\x1b[0m", "");
        assert_eq!(bare, plain);
    }

    #[test]
    fn an_unknown_column_is_refused_with_a_list_of_the_columns() {
        let choice = TableSelection {
            columns: vec!["jid".into()],
            ..TableSelection::default()
        };
        let error = choice
            .refuse_unknown_columns(&column_headings(COLUMNS))
            .unwrap_err();
        assert_eq!(error.message(), "`--columns`: no column is called `jid`");
        assert_eq!(
            error.hint_text(),
            Some("the columns are group, jobs, last-seen, sample")
        );
        assert!(
            TableSelection {
                sort: Some("x".into()),
                ..TableSelection::default()
            }
            .refuse_unknown_columns(&[])
            .is_err()
        );
        assert!(
            TableSelection::default()
                .refuse_unknown_columns(&[])
                .is_ok()
        );
    }

    #[test]
    fn a_narrow_terminal_drops_empty_columns_then_those_alike_then_the_least_needed() {
        const RANKED: &[Column<(&str, u64, u64)>] = &[
            Column::of_text("QUEUE", |row, _| Cell::text(row.0)),
            Column::of_counts("WAITING", |row: &(&str, u64, u64)| row.1).drop_rank(1),
            Column::of_counts("RUNNING", |row: &(&str, u64, u64)| row.2).drop_rank(4),
            Column::of_counts("STALLED", |_: &(&str, u64, u64)| 0).drop_rank(2),
            Column::of_text("STATE", |_: &(&str, u64, u64), _| Cell::text("paused")).drop_rank(3),
        ];
        let shown = |width: usize, choice: TableSelection| {
            let options = RenderOptions {
                choice,
                ..RenderOptions::terminal_without_color(width)
            };
            let rows = [("images", 5, 1), ("mail", 5, 20)];
            let drawn = Table::new(RANKED, &rows, &options).into_text(&options);
            let header = drawn.lines().next().unwrap_or_default();
            header.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let drops = |width: usize| shown(width, TableSelection::default());
        assert_eq!(drops(41), "QUEUE WAITING RUNNING STALLED STATE");
        assert_eq!(drops(40), "QUEUE WAITING RUNNING STATE");
        assert_eq!(drops(31), "QUEUE WAITING RUNNING");
        // A dropped column returns if it fits where a wider one did not.
        assert_eq!(drops(23), "QUEUE RUNNING STATE");
        assert_eq!(drops(14), "QUEUE STATE");
        assert_eq!(drops(9), "QUEUE");
        let sorted = TableSelection {
            sort: Some("stalled".into()),
            ..TableSelection::default()
        };
        assert_eq!(shown(23, sorted), "QUEUE STALLED STATE");
        let columns = ["stalled", "running", "waiting"].map(String::from);
        let selection = TableSelection {
            columns: columns.into(),
            ..TableSelection::default()
        };
        assert_eq!(shown(16, selection), "STALLED RUNNING");
    }

    #[test]
    fn a_table_without_rows_is_empty() {
        let options = RenderOptions::terminal_without_color(80);
        assert_eq!(Table::new(COLUMNS, &[], &options).into_text(&options), "");
    }
}
