//! Failure groups: a row for each.

use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, Table};
use super::{Page, Times};
use crate::model::failure::FailureGroup;
use crate::text;

impl Row for FailureGroup {
    const LIST: Document = Document::list::<FailureGroup>("failed", "Failure groups: failed");

    const COLUMNS: &'static [Column] = &[
        Column::text("GROUP"),
        Column::number("JOBS").rank(1),
        Column::text("LAST").rank(3),
        Column::text("QUEUES").rank(4),
        Column::free("SAMPLE").rank(2),
    ];

    fn row(&self, page: &Page, table: &mut Table) {
        let last = self.last.map(|last| {
            let age = page.now.since(last);
            match page.times {
                Times::Relative if age >= 0.0 => {
                    Cell::by(age, format!("{} ago", text::roughly(age)))
                }
                _ => Cell::by(age, page.when(last)),
            }
        });
        table.row(vec![
            Cell::text(&self.group),
            Cell::count(self.jobs, page),
            last.unwrap_or_else(Cell::missing),
            match (self.queues.is_empty(), self.queues_complete) {
                (true, _) => Cell::missing(),
                (false, true) => Cell::names(&self.queues, false),
                (false, false) => Cell::names(&self.queues, true),
            },
            match &self.sample {
                Some(sample) => Cell::text(text::decisive_line(sample.as_bytes())),
                None => Cell::missing(),
            },
        ]);
    }
}
