//! Tags: a row for each.

use super::Page;
use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, Table};
use crate::model::tag::Tag;

impl Row for Tag {
    const LIST: Document = Document::list::<Tag>("tags", "Tags: tag");

    const COLUMNS: &'static [Column] = &[Column::text("TAG"), Column::number("JOBS")];

    fn row(&self, page: &Page, table: &mut Table) {
        table.row(vec![Cell::text(&self.tag), Cell::count(self.jobs, page)]);
    }
}
