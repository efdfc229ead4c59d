//! Workers: a row for each. The jobs of one worker are rows as in `jobs`.

use super::document::Document;
use super::list;
use super::list::Row;
use super::paint::Ink;
use super::table::{Cell, Column, Table};
use super::{Page, View};
use crate::model::job::Job;
use crate::model::worker::{Worker, WorkerJobs};
use crate::name::Name;

impl Row for Worker {
    const LIST: Document = Document::list::<Worker>("workers", "Workers: workers");

    const COLUMNS: &'static [Column] = &[
        Column::text("WORKER"),
        Column::number("RUNNING").rank(1),
        Column::number("STALLED").rank(2),
        Column::text("LAST SEEN").rank(3),
        Column::text("HOST").rank(5).sparse(),
        Column::number("PID").rank(6).sparse(),
        Column::number("SLOTS").rank(4).sparse(),
        Column::text("VERSION").rank(7).sparse(),
    ];

    fn row(&self, page: &Page, table: &mut Table) {
        table.row(vec![
            Cell::text(&self.name),
            Cell::count(self.running, page),
            Cell::count(self.stalled, page).ink((self.stalled > 0).then_some(Ink::Yellow)),
            match self.last_seen {
                Some(seen) => Cell::by(page.now.since(seen), page.when(seen)),
                None => Cell::missing(),
            },
            Cell::maybe(self.process.host.as_ref()),
            Cell::maybe(self.process.pid.map(|pid| pid.to_string())),
            Cell::maybe(self.process.slots.map(|slots| slots.to_string())),
            Cell::maybe(self.process.version.as_ref()),
        ]);
    }
}

impl View for WorkerJobs {
    const DOCUMENT: Document =
        Document::new::<WorkerJobs>("worker", "A worker's jobs: workers NAME");
    const COLUMNS: &'static [Column] = <Job as Row>::COLUMNS;

    fn text(&self, page: &Page) -> String {
        list::table(&self.details, page)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.stalled.iter().chain(&self.jobs).collect())
    }
}
