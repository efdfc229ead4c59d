//! A recurring job: the template from which jobs are put, one each interval.

use serde::Serialize;

use crate::clock::moment::Moment;
use crate::json::{Data, Number};
use crate::name;
use crate::name::Name;

/// A template. Its jobs are made when someone pops or peeks its queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recurring {
    #[serde(flatten, serialize_with = "name::jid")]
    pub jid: Name,
    #[serde(flatten, serialize_with = "name::klass")]
    pub klass: Option<Name>,
    #[serde(flatten, serialize_with = "name::queue")]
    pub queue: Option<Name>,
    pub every_s: Option<Number>,
    pub next: Option<Moment>,
    /// The most missed runs that are made up for; 0 is all.
    pub backlog: Option<Number>,
    /// How many jobs it has put so far.
    pub count: Option<Number>,
    pub priority: Option<Number>,
    pub retries: Option<Number>,
    #[serde(flatten, serialize_with = "name::tags")]
    pub tags: Vec<Name>,
    #[serde(flatten)]
    pub data: Data,
}
