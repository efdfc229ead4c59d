//! The defaults of a queue: their JSON on one line; those of all queues: a row for each.

use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column};
use super::{Page, View};
use crate::json::Json;
use crate::model::defaults::QueueDefaults;

impl Row for QueueDefaults {
    const LIST: Document = Document::list::<QueueDefaults>(
        "defaults-list",
        "The defaults of all queues: defaults list",
    );

    const COLUMNS: &'static [Column<QueueDefaults>] = &[
        Column::name("QUEUE", |of| &of.queue),
        Column::free("DEFAULTS", |of: &QueueDefaults, _| {
            Cell::maybe(of.defaults.as_ref().map(Json::to_name))
        })
        .rank(1),
    ];
}

impl View for QueueDefaults {
    const DOCUMENT: Document = Document::new::<QueueDefaults>(
        "defaults",
        "The options for puts into a queue that do not give them: defaults",
    );

    fn text(&self, _: &Page) -> String {
        match &self.defaults {
            Some(defaults) => format!("{}\n", defaults.to_name()),
            None => String::new(),
        }
    }
}
