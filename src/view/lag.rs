//! Lags: a row for each queue.

use super::Page;
use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column, Table};
use crate::model::lag::Lag;
use crate::text;

impl Row for Lag {
    const LIST: Document = Document::list::<Lag>("lag", "Lags of queues: lag");

    const COLUMNS: &'static [Column] = &[
        Column::text("QUEUE"),
        Column::text("LAG"),
        Column::text("JOB"),
        Column::text("WHY"),
    ];

    fn row(&self, _: &Page, table: &mut Table) {
        let lag = self.lag_s.0;
        table.row(vec![
            Cell::text(&self.queue),
            Cell::by(lag, text::duration(lag)),
            Cell::maybe(self.jid.as_ref()),
            Cell::maybe(self.why.map(|why| why.sentence(self.held_by.as_ref()))),
        ]);
    }
}
