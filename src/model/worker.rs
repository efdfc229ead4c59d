//! Workers that have popped recently, and the jobs that they hold.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::Job;
use super::worker_name::WorkerProcess;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A worker's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Worker {
    /// The worker
    pub name: Name,
    /// Jobs that it runs
    pub running: u64,
    /// Jobs whose lock it lost
    pub stalled: u64,
    /// Its last pop or heartbeat
    pub last_seen: Option<Moment>,
    #[serde(flatten)]
    pub process: WorkerProcess,
}

/// A worker's jobs: those it runs, and those whose locks it lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WorkerJobs {
    /// The worker
    pub name: Name,
    /// Its last pop or heartbeat
    pub last_seen: Option<Moment>,
    /// Jids of the jobs that it runs
    pub jobs: Vec<Name>,
    /// Jids of the jobs whose lock it lost
    pub stalled: Vec<Name>,
    /// All of them, the stalled ones first, without those that no longer exist.
    #[serde(skip)]
    pub details: Vec<Job>,
}
