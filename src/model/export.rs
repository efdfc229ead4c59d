//! What an export holds besides the documents that other commands show: its head, and what of a
//! job these leave out.

use serde::Serialize;

use super::field::Field;
use super::job::Job;
use super::recur::Recurring;
use crate::clock::moment::Moment;
use crate::name;
use crate::name::Name;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Head {
    pub at: Moment,
    /// That of the keys.
    pub prefix: String,
    /// How many jobs there were to be at the beginning, where that was known.
    pub jobs: Option<u64>,
    /// What wrote it.
    pub command: &'static str,
}

impl Head {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::moment("at", "when the export began"),
        Field::text("prefix", "the prefix of the keys"),
        Field::count("jobs", "jobs to export, if the index knows the number").null(),
        Field::text("command", "export, or cancel"),
    ];
}

/// A job with all that it takes to put it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Saved {
    pub job: Job,
    /// Its history as stored, with what an older core kept elsewhere.
    pub entries: Vec<Name>,
    /// When it is due, to the microsecond.
    pub due: Option<Moment>,
}

/// A recurring job likewise.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SavedRecurring {
    pub recurring: Recurring,
    pub due: Option<Moment>,
}

/// By whom and why a job was deleted after it was saved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cancelled {
    pub at: Moment,
    #[serde(flatten, serialize_with = "name::by")]
    pub by: Name,
    #[serde(flatten, serialize_with = "name::reason")]
    pub reason: Option<Name>,
}

impl Cancelled {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::moment("at", "when"),
        Field::name("by", "the user and host that cancelled it"),
        Field::name("reason", "the reason, if one was given").null(),
    ];
}

/// A queue from which nothing is popped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paused {
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Name,
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    #[serde(flatten, serialize_with = "name::reason")]
    pub reason: Option<Name>,
    #[serde(flatten, serialize_with = "name::by")]
    pub by: Option<Name>,
}

impl Paused {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("queue", "the queue"),
        Field::moment("since", "when it was paused, if known").null(),
        Field::moment("until", "when the pause ends, if an end was given").null(),
        Field::name("reason", "the reason, if one was given").null(),
        Field::name("by", "the user and host that paused it, if known").null(),
    ];
}
