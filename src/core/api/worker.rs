//! Reading workers.

use super::index::Index;
use super::job::Detail;
use crate::clock::moment::Moment;
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;
use crate::model::job::State;
use crate::model::worker::{Worker, WorkerJobs};
use crate::model::worker_name::WorkerProcess;
use crate::name::Name;

impl Core {
    /// Returns the named workers in their order, or all known ones, last seen first.
    pub fn workers(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Worker>, Error> {
        let call = Call::read("look.workers");
        let rows = self.rows(now, &call, &Index::Workers, names)?;
        workers(rows, names.is_empty())
    }

    /// Reads all known workers from a reply of `look.workers`.
    pub(super) fn all_workers(
        &mut self,
        now: Moment,
        rows: Vec<Value>,
    ) -> Result<Vec<Worker>, Error> {
        let call = Call::read("look.workers");
        workers(self.all_rows(now, &call, &Index::Workers, rows)?, true)
    }

    /// Returns a worker with its jobs, `None` if it does not exist.
    pub fn holder(&mut self, now: Moment, name: &Name) -> Result<Option<WorkerJobs>, Error> {
        let known = self.workers(now, std::slice::from_ref(name))?;
        let last_seen = known.into_iter().next().and_then(|worker| worker.last_seen);
        let jids = self.members(now, &Index::Worker(name.clone()))?;
        if last_seen.is_none() && jids.is_empty() {
            return Ok(None);
        }
        let mut details = Vec::with_capacity(jids.len());
        for job in self.jobs(now, Detail::Brief, &jids)?.into_iter().flatten() {
            // The set may still name jobs that another worker holds now. The job decides.
            if job.worker.as_ref() == Some(name) {
                details.push(job);
            }
        }
        details.sort_by_key(|job| job.state != Some(State::Stalled));
        let of = |stalled: bool| {
            let jobs = details
                .iter()
                .filter(|job| (job.state == Some(State::Stalled)) == stalled);
            jobs.map(|job| job.jid.clone()).collect()
        };
        Ok(Some(WorkerJobs {
            name: name.clone(),
            last_seen,
            jobs: of(false),
            stalled: of(true),
            details,
        }))
    }
}

/// Reads workers; all known ones are ordered, and those that were not seen for long are left out.
fn workers(rows: Vec<Value>, all: bool) -> Result<Vec<Worker>, Error> {
    let mut workers = Vec::with_capacity(rows.len());
    for fields in rows {
        let (mut worker, mut recent) = (Worker::default(), true);
        for (field, value) in reply::pairs(fields)? {
            let Some(text) = reply::optional(value)? else {
                continue;
            };
            match field.as_slice() {
                b"name" => {
                    worker.name = Name::from(text);
                    worker.process = WorkerProcess::of(&worker.name);
                }
                b"seen" => worker.last_seen = Moment::read(&text),
                b"recent" => recent = text == b"1",
                b"running" => worker.running = reply::count(&text),
                b"stalled" => worker.stalled = reply::count(&text),
                _ => {}
            }
        }
        // The index also lists workers that were not seen for long.
        if recent || !all {
            workers.push(worker);
        }
    }
    if all {
        workers.sort_by(|one, other| {
            other
                .last_seen
                .cmp(&one.last_seen)
                .then_with(|| one.name.cmp(&other.name))
        });
    }
    Ok(workers)
}
