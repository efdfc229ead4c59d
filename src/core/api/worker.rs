//! Reads workers, and removes them from the list of known workers.

use super::index::Index;
use super::job::JobFields;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::job::State;
use crate::model::worker::{Worker, WorkerJobs};
use crate::model::worker_name::WorkerProcess;
use crate::name::Name;

impl Core {
    /// The named workers in the given order, or all known workers: first the ones that need attention, then the last
    /// seen first.
    pub fn workers(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Worker>, Error> {
        let call = Call::new(calls::LOOK_WORKERS);
        let found = self.rows_by_name_or_all(now, &call, &Index::Workers, names)?;
        Ok(with_processes_ranked_if_all(found, names.is_empty(), now))
    }

    /// A worker with its jobs, `None` if it does not exist.
    pub fn worker_with_jobs(
        &mut self,
        now: Moment,
        name: &Name,
    ) -> Result<Option<WorkerJobs>, Error> {
        let jids = self.index_members(now, &Index::Worker(name.clone()))?;
        self.worker_with_still_held_jobs(now, name, &jids)
    }

    /// A worker with up to `limit` of its jobs, the ones whose locks expire first.
    pub(crate) fn worker_with_first_jobs(
        &mut self,
        now: Moment,
        name: &Name,
        limit: u64,
    ) -> Result<Option<WorkerJobs>, Error> {
        let slice = self.index_range(now, &Index::Worker(name.clone()), 0, limit)?;
        let omitted_jobs = slice.total.saturating_sub(slice.members.len() as u64);
        let worker = self.worker_with_still_held_jobs(now, name, &slice.members)?;
        Ok(worker.map(|worker| WorkerJobs {
            omitted_jobs,
            ..worker
        }))
    }

    fn worker_with_still_held_jobs(
        &mut self,
        now: Moment,
        name: &Name,
        jids: &[Name],
    ) -> Result<Option<WorkerJobs>, Error> {
        let known = self.workers(now, std::slice::from_ref(name))?;
        let last_seen = known.into_iter().next().and_then(|worker| worker.last_seen);
        if last_seen.is_none() && jids.is_empty() {
            return Ok(None);
        }
        let mut details = Vec::with_capacity(jids.len());
        for job in self
            .jobs(now, JobFields::Brief, jids)?
            .into_iter()
            .flatten()
        {
            // The worker's set may still name jobs that another worker holds now: keep only the jobs whose own
            // field names this worker.
            if job.worker.as_ref() == Some(name) {
                details.push(job);
            }
        }
        details.sort_by_key(|job| job.state != Some(State::Stalled));
        let jids_with_stalled = |stalled: bool| {
            let jobs = details
                .iter()
                .filter(|job| (job.state == Some(State::Stalled)) == stalled);
            jobs.map(|job| job.jid.clone()).collect()
        };
        Ok(Some(WorkerJobs {
            name: name.clone(),
            last_seen,
            jobs: jids_with_stalled(false),
            stalled: jids_with_stalled(true),
            details,
            omitted_jobs: 0,
        }))
    }

    /// Removes workers from the list of known workers.
    pub fn forget_workers(
        &mut self,
        now: Moment,
        workers: &[Name],
        _: Consent,
    ) -> Result<(), Error> {
        self.deregister_workers(now, workers)
    }

    /// Removes a worker process that ends from the list of known workers.
    pub(crate) fn deregister_worker(&mut self, now: Moment, worker: &Name) -> Result<(), Error> {
        self.deregister_workers(now, std::slice::from_ref(worker))
    }

    fn deregister_workers(&mut self, now: Moment, workers: &[Name]) -> Result<(), Error> {
        let call = Call::new(calls::WORKER_DEREGISTER);
        self.call_once_per_slice::<()>(now, &call, workers)
            .map(drop)
    }
}

/// Adds to each worker the facts about its process that its name contains. If `are_all_known`, the list has all known
/// workers: sorts it, and drops workers that were not seen for long.
pub(super) fn with_processes_ranked_if_all(
    mut workers: Vec<Worker>,
    are_all_known: bool,
    now: Moment,
) -> Vec<Worker> {
    for worker in &mut workers {
        worker.process = WorkerProcess::from_name(&worker.name);
    }
    if are_all_known {
        workers.retain(|worker| worker.recent);
        workers.sort_by(|one, other| {
            let urgency = other.urgency_sort_key(now).cmp(&one.urgency_sort_key(now));
            urgency
                .then_with(|| other.last_seen.cmp(&one.last_seen))
                .then_with(|| one.name.cmp(&other.name))
        });
    }
    workers
}
