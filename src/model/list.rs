//! Lists of jobs, with or without recurring jobs among them.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Job;
use super::recur::Recurring;
use crate::name::Name;
use crate::view::document::DocumentKind;
pub(crate) use crate::view::list::List;
use crate::view::table::{Heading, Table};
use crate::view::{NdjsonLines, RenderOptions, View};

/// Jobs, and the jids that were asked for and that no job has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct JobsAndMissingJids {
    #[serde(flatten)]
    pub list: List<Job>,
    /// Jids that were asked for and that no job has
    pub missing: Vec<Name>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// Jobs and recurring jobs in full.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct JobsInFull {
    #[serde(flatten)]
    pub list: List<JobOrRecurring>,
    pub missing: Vec<Name>,
}

/// A job or a recurring job, whichever has the jid.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum JobOrRecurring {
    Job(Box<Job>),
    Recurring(Box<Recurring>),
}

impl JobOrRecurring {
    pub(crate) fn jid(&self) -> &Name {
        match self {
            JobOrRecurring::Job(job) => &job.jid,
            JobOrRecurring::Recurring(recurring) => &recurring.jid,
        }
    }
}

impl View for JobsAndMissingJids {
    const DOCUMENT: DocumentKind = DocumentKind::new::<JobsAndMissingJids>(
        "jobs",
        "Jobs: jobs, peek, pop, failed --group, track, get of several; a recurring job has the fields of `recurring`",
    )
    .with_items_also_of("recurring");

    fn headings() -> Vec<Heading> {
        List::<Job>::headings()
    }

    fn text(&self, options: &RenderOptions) -> String {
        self.list.text(options)
    }

    fn table(&self, options: &RenderOptions) -> Option<Table> {
        self.list.table(options)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        self.list.lines(lines)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        self.list.output_jids()
    }
}

impl View for JobsInFull {
    const DOCUMENT: DocumentKind = JobsAndMissingJids::DOCUMENT;

    fn text(&self, options: &RenderOptions) -> String {
        let texts = self.list.items.iter().map(|detail| match detail {
            JobOrRecurring::Job(job) => job.text(options),
            JobOrRecurring::Recurring(recurring) => recurring.text(options),
        });
        texts.collect::<Vec<String>>().join("\n")
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.list.items)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(self.list.items.iter().map(JobOrRecurring::jid).collect())
    }
}
