//! Workers: a row for each. The jobs of one worker are rows as in `jobs`.

use super::document::Document;
use super::list;
use super::list::Row;
use super::table::{Cell, Column, Heading, headings};
use super::{Page, View};
use crate::model::job::Job;
use crate::model::worker::{Worker, WorkerJobs};
use crate::name::Name;

impl Row for Worker {
    const LIST: Document = Document::list::<Worker>("workers", "Workers: workers");

    const COLUMNS: &'static [Column<Worker>] = &[
        Column::name("WORKER", |worker| &worker.name),
        Column::count("RUNNING", |worker: &Worker| worker.running).rank(1),
        Column::count("STALLED", |worker: &Worker| worker.stalled)
            .rank(2)
            .warn(),
        Column::text("LAST SEEN", |worker: &Worker, page| {
            Cell::when(worker.last_seen, page)
        })
        .rank(3),
        Column::text("HOST", |worker: &Worker, _| {
            Cell::maybe(worker.process.host.as_ref())
        })
        .rank(5)
        .sparse(),
        Column::number("PID", |worker: &Worker, _| Cell::plain(worker.process.pid))
            .rank(6)
            .sparse(),
        Column::number("SLOTS", |worker: &Worker, _| {
            Cell::plain(worker.process.slots)
        })
        .rank(4)
        .sparse(),
        Column::text("VERSION", |worker: &Worker, _| {
            Cell::maybe(worker.process.version.as_ref())
        })
        .rank(7)
        .sparse(),
    ];
}

impl View for WorkerJobs {
    const DOCUMENT: Document =
        Document::new::<WorkerJobs>("worker", "A worker's jobs: workers NAME");

    fn headings() -> Vec<Heading> {
        headings(Job::COLUMNS)
    }

    fn text(&self, page: &Page) -> String {
        list::table(&self.details, page)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.stalled.iter().chain(&self.jobs).collect())
    }
}
