//! Options: a row each, with what they mean.

use super::list::Row;
use super::table::{Cell, Column, NONE, Table};
use super::{Page, text};
use crate::model::config::{Item, known};

impl Row for Item {
    const KIND: &'static str = "config";

    const COLUMNS: &'static [Column] = &[
        Column::text("KEY"),
        Column::text("VALUE"),
        Column::text("DEFAULT"),
        Column::free("MEANING"),
    ];

    fn row(&self, _: &Page, table: &mut Table) {
        table.row(vec![
            Cell::text(&self.key),
            Cell::text(&self.value),
            Cell::text(self.default.unwrap_or(NONE)),
            Cell::text(self.meaning()),
        ]);
    }
}

impl Item {
    fn meaning(&self) -> String {
        let Some(known) = known(&self.key) else {
            return "unknown to the core".to_owned();
        };
        let meaning = known.setting.meaning;
        let seconds = self
            .value
            .as_str()
            .and_then(|text| text.parse::<f64>().ok());
        match (known.queue, seconds) {
            (Some(queue), _) => format!("{meaning} {}", text::clean(queue.as_bytes())),
            (None, Some(seconds)) if known.setting.key == "jobs-history" && seconds >= 60.0 => {
                format!("{meaning} ({})", text::duration(seconds))
            }
            (None, _) => meaning.to_owned(),
        }
    }
}
