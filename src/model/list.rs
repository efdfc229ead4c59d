//! Lists: how many items match, the offset, and the items.

use serde::Serialize;

use super::field::Field;
use super::job::Job;
use super::recur::Recurring;
use crate::name::Name;

const TOTAL: Field = Field::count("total", "how many match, if the index knows the number").null();
const OFFSET: Field = Field::count("offset", "how many were skipped at the beginning");

/// Items of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct List<T> {
    /// How many match, if the index knows the number.
    pub total: Option<u64>,
    pub offset: u64,
    pub items: Vec<T>,
}

impl<T> List<T> {
    /// The fields of its document, without `items`.
    pub(crate) const FIELDS: &'static [Field] = &[TOTAL, OFFSET];

    /// A list of all items.
    pub(crate) fn whole(items: Vec<T>) -> List<T> {
        List {
            total: Some(items.len() as u64),
            offset: 0,
            items,
        }
    }
}

impl<T> List<T> {
    /// Keeps the items of one page. `total` still counts all.
    pub(crate) fn page(&mut self, offset: u64, limit: Option<u64>) {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        self.items.drain(..size(offset).min(self.items.len()));
        self.items.truncate(limit.map_or(usize::MAX, size));
        self.offset = offset;
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::whole(Vec::new())
    }
}

/// Jobs, and the jids that were asked for and that no job has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Jobs {
    #[serde(flatten)]
    pub list: List<Job>,
    pub missing: Vec<Name>,
}

impl Jobs {
    /// The fields of its document, without `items`.
    pub(crate) const FIELDS: &'static [Field] = &[
        TOTAL,
        OFFSET,
        Field::name("missing", "jids that were asked for and that no job has").list(),
    ];
}

/// Jobs and recurring jobs in full.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct JobDetails {
    #[serde(flatten)]
    pub list: List<JobDetail>,
    pub missing: Vec<Name>,
}

/// The thing that has a jid.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum JobDetail {
    Job(Box<Job>),
    Recurring(Box<Recurring>),
}

impl JobDetail {
    pub(crate) fn jid(&self) -> &Name {
        match self {
            JobDetail::Job(job) => &job.jid,
            JobDetail::Recurring(recurring) => &recurring.jid,
        }
    }
}
