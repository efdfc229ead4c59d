//! Failure groups: a row for each.

use super::document::Document;
use super::list::Row;
use super::table::{Cell, Column};
use super::{Page, Times};
use crate::clock::moment::Moment;
use crate::model::failure::FailureGroup;
use crate::text;

impl Row for FailureGroup {
    const LIST: Document = Document::list::<FailureGroup>("failed", "Failure groups: failed");

    const COLUMNS: &'static [Column<FailureGroup>] = &[
        Column::name("GROUP", |group| &group.group),
        Column::count("JOBS", |group: &FailureGroup| group.jobs).rank(1),
        Column::text("LAST", |group: &FailureGroup, page| last(group.last, page)).rank(3),
        Column::text("QUEUES", |group: &FailureGroup, _| {
            Cell::names(&group.queues, !group.queues_complete)
        })
        .rank(4),
        Column::free("SAMPLE", |group: &FailureGroup, _| {
            let sample = group.sample.as_ref();
            Cell::maybe(sample.map(|sample| text::decisive_line(sample.as_bytes())))
        })
        .rank(2),
    ];
}

/// Returns about how long ago a failure was.
fn last(last: Option<Moment>, page: &Page) -> Cell {
    let age = last.map(|last| page.now.since(last));
    match age {
        Some(age) if age >= 0.0 && page.times == Times::Relative => {
            Cell::by(age, format!("{} ago", text::roughly(age)))
        }
        _ => Cell::when(last, page),
    }
}
