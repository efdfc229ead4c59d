//! What a job waits for, and what waits for it.

use super::document::Document;
use super::job::joined;
use super::paint::Ink;
use super::table::{Cell, Column, NONE, Table};
use super::{Page, View};
use crate::model::job::{Dependencies, Neighbour, State};
use crate::name::Name;
use crate::text;

const NEIGHBOURS: [Column; 4] = [
    Column::text("JID"),
    Column::text("KLASS"),
    Column::text("STATE"),
    Column::free("DETAIL"),
];

impl View for Dependencies {
    const DOCUMENT: Document = Document::one(
        "dependencies",
        "A job's dependencies and dependents: depends",
        Dependencies::FIELDS,
    );

    fn text(&self, page: &Page) -> String {
        if !page.terminal {
            return self.piped(page);
        }
        let what = joined([
            self.klass
                .as_ref()
                .map(|klass| text::clean(klass.as_bytes())),
            self.queue
                .as_ref()
                .map(|queue| text::clean(queue.as_bytes())),
        ]);
        let mut told = format!("{} ({what}) waits for", text::short(&self.jid));
        told.push_str(&neighbours(&self.dependencies, page));
        told.push_str("and is needed by");
        told.push_str(&neighbours(&self.dependents, page));
        told
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(
            self.dependencies
                .iter()
                .chain(&self.dependents)
                .map(|other| &other.jid)
                .collect(),
        )
    }
}

impl Dependencies {
    /// Returns one line for each edge: which way, then the job at its other end.
    fn piped(&self, page: &Page) -> String {
        let mut told = String::new();
        for (way, others) in [
            ("waits for", &self.dependencies),
            ("needed by", &self.dependents),
        ] {
            for other in others {
                let [jid, klass, state, _] = other.cells(page);
                let queue = other
                    .queue
                    .as_ref()
                    .map(|queue| text::clean(queue.as_bytes()));
                let queue = queue.unwrap_or_else(|| NONE.to_owned());
                told.push_str(&format!("{way}\t{jid}\t{klass}\t{queue}\t{state}\n"));
            }
        }
        told
    }
}

impl Neighbour {
    fn cells(&self, page: &Page) -> [String; 4] {
        let klass = self
            .klass
            .as_ref()
            .map(|klass| text::clean(klass.as_bytes()));
        let detail = self.job.as_ref().map(|job| match (job.state, job.since) {
            (Some(State::Failed), Some(since)) => {
                let group = job
                    .failure
                    .as_ref()
                    .map(|failure| text::clean(failure.group.as_bytes()));
                joined([group, Some(page.when(since))])
            }
            (Some(State::Running), Some(since)) => {
                let worker = job
                    .worker
                    .as_ref()
                    .map(|worker| text::clean(worker.as_bytes()));
                joined([worker, Some(page.age(since))])
            }
            _ => job.detail(page),
        });
        [
            text::clean(self.jid.as_bytes()),
            klass.unwrap_or_else(|| NONE.to_owned()),
            self.state
                .map_or("missing".to_owned(), |state| state.to_string()),
            detail.unwrap_or_default(),
        ]
    }
}

fn neighbours(others: &[Neighbour], page: &Page) -> String {
    if others.is_empty() {
        return " nothing\n".to_owned();
    }
    let mut table = Table::new(&NEIGHBOURS);
    for other in others {
        let [jid, klass, state, detail] = other.cells(page);
        let ink = other.state.and_then(Ink::of);
        table.row(vec![
            Cell::text(jid),
            Cell::text(klass),
            Cell::text(state).ink(ink),
            Cell::text(detail),
        ]);
    }
    format!("\n{}", table.inset(page))
}
