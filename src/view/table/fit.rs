//! Which columns of a table fit on a line of the terminal, and how wide they are.

use super::column::CellKind;
use super::{GAP, INDENT, Table};
use crate::text;
use crate::view::RenderOptions;

/// The widths that a column can have.
pub(super) struct WidthRange {
    /// The width with free text cut.
    least: usize,
    /// With nothing cut.
    whole: usize,
}

/// How the columns of a row are divided into lines, and how wide they are.
pub(super) struct RowLayout {
    /// The number of columns on each line of a row.
    pub(super) columns_per_line: Vec<usize>,
    widths: Vec<usize>,
}

/// The minimum width of a line that has the columns `shown`.
fn min_line_width(shown: &[usize], widths: &[WidthRange]) -> usize {
    let columns = shown.iter().map(|&at| widths[at].least);
    columns.sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// The widths of the columns on one line. The space beyond their minimum widths goes to free texts, the leftmost
/// first.
fn widths_on_one_line(
    shown: &[usize],
    widths: &[WidthRange],
    mut columns_left: usize,
) -> Vec<usize> {
    let columns = shown.iter().map(|&at| {
        let WidthRange { least, whole } = widths[at];
        let more = columns_left.min(whole - least);
        columns_left -= more;
        least + more
    });
    columns.collect()
}

impl Table {
    /// Drops columns until a row fits on one line: first empty columns, then columns with one value in all rows,
    /// then the others by rank. The column of `--sort` comes last. Columns of rank 0 stay.
    pub(super) fn drop_columns_to_fit(
        &self,
        mut shown: Vec<usize>,
        widths: &[WidthRange],
        options: &RenderOptions,
    ) -> Vec<usize> {
        let sorted = options.choice.sort.as_deref();
        let use_of = |at: usize| {
            let column = &self.columns[at];
            let mut cells = self.rows.iter().map(|row| &row[at].text);
            let mut alike = || cells.all(|text| *text == self.rows[0][at].text);
            let uselessness = if sorted.is_some_and(|sorted| column.is_named(sorted)) {
                0
            } else if self.is_column_empty_or_zero(at) {
                3
            } else if self.rows.len() > 1 && alike() {
                2
            } else {
                1
            };
            (uselessness, column.drop_rank)
        };
        let fits = |shown: &[usize]| min_line_width(shown, widths) <= options.width;
        if fits(&shown) {
            return shown;
        }
        let ranked = shown.iter().filter(|&&at| self.columns[at].drop_rank > 0);
        let mut droppable: Vec<usize> = ranked.copied().collect();
        droppable.sort_by_cached_key(|&at| use_of(at));
        let mut dropped = Vec::new();
        while !fits(&shown)
            && let Some(least_used) = droppable.pop()
        {
            shown.retain(|&at| at != least_used);
            dropped.push(least_used);
        }
        // Put dropped columns back that fit after all: a narrow column may fit where a more important, wider one
        // did not.
        dropped.retain(|&at| !self.is_column_empty_or_zero(at));
        for at in dropped.into_iter().rev() {
            let place = shown.partition_point(|&other| other < at);
            shown.insert(place, at);
            if !fits(&shown) {
                shown.remove(place);
            }
        }
        shown
    }

    /// Whether each cell of a column has no text, a missing value or `0`.
    fn is_column_empty_or_zero(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_empty_or_zero())
    }

    /// The widths that each column can have.
    pub(super) fn measure_columns(&self, options: &RenderOptions) -> Vec<WidthRange> {
        let columns = self.columns.iter().enumerate().map(|(at, column)| {
            let header = if options.headers {
                text::width(column.header())
            } else {
                0
            };
            let cells = self.rows.iter().map(|row| text::width(&row[at].text));
            let whole = cells.max().unwrap_or(0).max(header);
            let least = match column.kind {
                CellKind::Free => whole.min(column.min_width.max(header)),
                CellKind::Text | CellKind::Number => whole,
            };
            WidthRange { least, whole }
        });
        columns.collect()
    }

    /// Cuts free text to the width that the other columns leave. If they leave too little, each row continues on
    /// further lines.
    pub(super) fn cut_cells_and_wrap_rows(
        &mut self,
        shown: &[usize],
        widths: &[WidthRange],
        options: &RenderOptions,
    ) -> RowLayout {
        let layout = match options.width.checked_sub(min_line_width(shown, widths)) {
            Some(left) => RowLayout {
                columns_per_line: vec![shown.len()],
                widths: widths_on_one_line(shown, widths, left),
            },
            None => self.distribute_columns_over_lines(shown, widths, options),
        };
        for row in &mut self.rows {
            for (&at, &width) in shown.iter().zip(&layout.widths) {
                // Never cut the first column: it names the row, and users copy it.
                if at > 0 {
                    row[at].text = text::cut_with_ellipsis(&row[at].text, width);
                }
            }
        }
        layout
    }

    fn distribute_columns_over_lines(
        &self,
        shown: &[usize],
        ranges: &[WidthRange],
        options: &RenderOptions,
    ) -> RowLayout {
        let mut widths: Vec<usize> = shown.iter().map(|&at| ranges[at].whole).collect();
        let free = shown
            .last()
            .is_some_and(|&last| self.columns[last].kind == CellKind::Free);
        let least = if free {
            ranges[shown[shown.len() - 1]].least
        } else {
            usize::MAX
        };
        let mut lines = Vec::new();
        let mut taken = 0;
        for (position, width) in widths.iter_mut().enumerate() {
            let indent = if lines.is_empty() { 0 } else { INDENT };
            let available = options.width.saturating_sub(indent);
            let needed = if position + 1 == shown.len() {
                (*width).min(least)
            } else {
                *width
            };
            match lines.last_mut() {
                Some(columns) if taken + GAP + needed <= options.width => {
                    *columns += 1;
                    taken += GAP;
                }
                _ => {
                    lines.push(1);
                    taken = if lines.len() == 1 { 0 } else { INDENT };
                }
            }
            if position + 1 == shown.len() && free {
                *width = options.width.saturating_sub(taken);
            } else if shown[position] > 0 && *width > available {
                *width = available;
            }
            taken += *width;
        }
        RowLayout {
            columns_per_line: lines,
            widths,
        }
    }
}
