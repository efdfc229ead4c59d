//! Lists: how many items match, the offset, and the items.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Job;
use super::recur::Recurring;
use crate::name::Name;

/// Items of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct List<T> {
    /// How many match, if the index knows the number
    pub total: Option<u64>,
    /// How many were skipped at the beginning
    pub offset: u64,
    /// One for each, the lines of ndjson
    pub items: Vec<T>,
}

impl<T> List<T> {
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Jobs {
    #[serde(flatten)]
    pub list: List<Job>,
    /// Jids that were asked for and that no job has
    pub missing: Vec<Name>,
}

impl Jobs {}

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
