//! Workers that have popped recently, and the jobs that they hold.

use serde::{Deserialize, Serialize};

use super::field::Field;
use super::job::Job;
use super::worker_name::WorkerProcess;
use crate::clock::moment::Moment;
use crate::lenient;
use crate::name::Name;

/// A worker's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Worker {
    pub name: Name,
    pub running: u64,
    pub stalled: u64,
    #[serde(rename(deserialize = "seen"), deserialize_with = "lenient::read")]
    pub last_seen: Option<Moment>,
    #[serde(flatten, skip_deserializing)]
    pub process: WorkerProcess,
    /// Whether it was seen lately. The index also has workers that were not.
    #[serde(skip_serializing)]
    pub recent: bool,
}

impl Worker {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("name", "the worker"),
        Field::count("running", "jobs that it runs"),
        Field::count("stalled", "jobs whose lock it lost"),
        Field::moment("last_seen", "its last pop or heartbeat").null(),
        WorkerProcess::FIELDS[0],
        WorkerProcess::FIELDS[1],
        WorkerProcess::FIELDS[2],
        WorkerProcess::FIELDS[3],
    ];
}

/// A worker's jobs: those it runs, and those whose locks it lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerJobs {
    pub name: Name,
    pub last_seen: Option<Moment>,
    pub jobs: Vec<Name>,
    pub stalled: Vec<Name>,
    /// All of them, the stalled ones first, without those that no longer exist.
    #[serde(skip)]
    pub details: Vec<Job>,
}

impl WorkerJobs {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("name", "the worker"),
        Field::moment("last_seen", "its last pop or heartbeat").null(),
        Field::name("jobs", "jids of the jobs that it runs").list(),
        Field::name("stalled", "jids of the jobs whose lock it lost").list(),
    ];
}
