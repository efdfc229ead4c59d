//! Lags: a row for each queue.

use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column};
use crate::model::lag::Lag;

impl Row for Lag {
    const LIST: Document = Document::list::<Lag>("lag", "Lags of queues: lag");

    const COLUMNS: &'static [Column<Lag>] = &[
        Column::name("QUEUE", |lag| &lag.queue),
        Column::text("LAG", |lag, _| Cell::duration(Some(lag.lag_s.0))),
        Column::text("JOB", |lag, _| Cell::maybe(lag.jid.as_ref())),
        Column::text("WHY", |lag, _| {
            Cell::maybe(lag.why.map(|why| why.sentence(lag.held_by.as_ref())))
        }),
    ];
}
