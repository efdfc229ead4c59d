//! Lists: a table with a row for each item, or a line of ndjson for each.

use serde::Serialize;

use super::document::Document;
use super::table::{Column, Heading, Table, headings};
use super::{Lines, Page, View};
use crate::model::job::Job;
use crate::model::list::{JobDetail, JobDetails, Jobs, List};
use crate::name::Name;

/// A model that is a row of a table and an item of a list.
pub(crate) trait Row: Serialize + Sized + 'static {
    /// The document that lists it.
    const LIST: Document;

    /// The columns, with the cell of a row in each.
    const COLUMNS: &'static [Column<Self>];

    /// Returns its jid, if it is a job.
    fn jid(&self) -> Option<&Name> {
        None
    }
}

/// Returns these rows as a table.
pub(super) fn table<'a, T: Row + 'a>(rows: impl IntoIterator<Item = &'a T>, page: &Page) -> String {
    Table::new(T::COLUMNS, rows, page).draw(page)
}

impl<T: Row> View for List<T> {
    const DOCUMENT: Document = T::LIST;

    fn headings() -> Vec<Heading> {
        headings(T::COLUMNS)
    }

    fn text(&self, page: &Page) -> String {
        table(&self.items, page)
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.items(&self.items)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        self.items.iter().map(Row::jid).collect()
    }
}

impl View for Jobs {
    const DOCUMENT: Document = Document::new::<Jobs>(
        "jobs",
        "Jobs: jobs, peek, pop, failed --group, track, get of several",
    );

    fn headings() -> Vec<Heading> {
        List::<Job>::headings()
    }

    fn text(&self, page: &Page) -> String {
        self.list.text(page)
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        self.list.lines(lines)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        self.list.jids()
    }
}

impl View for JobDetails {
    const DOCUMENT: Document = Jobs::DOCUMENT;

    fn text(&self, page: &Page) -> String {
        let texts = self.list.items.iter().map(|detail| match detail {
            JobDetail::Job(job) => job.text(page),
            JobDetail::Recurring(recurring) => recurring.text(page),
        });
        texts.collect::<Vec<String>>().join("\n")
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.items(&self.list.items)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.list.items.iter().map(JobDetail::jid).collect())
    }
}
