//! Lists: the number of matching items, and the items. Each item is a row of the table and a line of ndjson.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::DocumentKind;
use super::table::{Column, Heading, Table, column_headings};
use super::{NdjsonLines, RenderOptions, View};
use crate::name::Name;

/// Items of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct List<T> {
    /// The number of matching items, if the index knows it
    pub total: Option<u64>,
    /// The number of items that were skipped at the beginning
    pub offset: u64,
    /// One for each, the lines of ndjson
    pub items: Vec<T>,
}

impl<T> List<T> {
    pub(crate) fn of_all(items: Vec<T>) -> List<T> {
        List {
            total: Some(items.len() as u64),
            offset: 0,
            items,
        }
    }

    /// Keeps only the items of one page. `total` still counts all items.
    pub(crate) fn keep_page(&mut self, offset: u64, limit: Option<u64>) {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.items.drain(..size(offset).min(self.items.len()));
        self.items.truncate(limit.map_or(usize::MAX, size));
        self.offset = offset;
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::of_all(Vec::new())
    }
}

impl DocumentKind {
    pub(crate) const fn of_list<T: JsonSchema>(
        kind: &'static str,
        summary: &'static str,
    ) -> DocumentKind {
        DocumentKind::new::<List<T>>(kind, summary)
    }
}

/// A model that lists consist of. Each one is a row of the table and an item of the document.
pub(crate) trait Row: Serialize + Sized + 'static {
    /// The document that lists these models.
    const LIST: DocumentKind;

    /// The columns of the table. Each has a heading, and a function that makes a cell of a row.
    const COLUMNS: &'static [Column<Self>];

    /// The jid of the row, if the row is a job.
    fn jid(&self) -> Option<&Name> {
        None
    }
}

/// These rows as a table.
pub(crate) fn draw_table<'a, T: Row + 'a>(
    rows: impl IntoIterator<Item = &'a T>,
    options: &RenderOptions,
) -> String {
    Table::new(T::COLUMNS, rows, options).into_text(options)
}

impl<T: Row> View for List<T> {
    const DOCUMENT: DocumentKind = T::LIST;

    fn headings() -> Vec<Heading> {
        column_headings(T::COLUMNS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        draw_table(&self.items, options)
    }

    fn table(&self, options: &RenderOptions) -> Option<Table> {
        Some(Table::new(T::COLUMNS, &self.items, options))
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.items)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        self.items.iter().map(Row::jid).collect()
    }
}
