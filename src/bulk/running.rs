//! Jobs that run while they are cancelled: on which worker, and for how long.

use std::collections::HashMap;

use super::JobOutcome;
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::model::bulk::text::{NAMED, count_and_first_names};
use crate::model::job::Job;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_duration;
use crate::view::RenderOptions;

/// Number of histories in one reply.
const HISTORIES: usize = 100;

/// The running jobs of a plan, in its order.
#[derive(Debug, Default)]
pub(super) struct RunningJobs {
    jids: Vec<Name>,
    /// On which worker each job runs, and for how long: ``on `mx-1` for 41s``.
    places: HashMap<Name, String>,
}

impl RunningJobs {
    /// Reads on which worker each running job of a plan runs, and for how long. Makes no call if none runs.
    pub(super) fn read_workers_and_times(
        jobs: &[JobSnapshot],
        now: Moment,
        session: &mut Session,
    ) -> Result<RunningJobs, Error> {
        let running = jobs.iter().filter(|job| job.has_stored_state("running"));
        let jids: Vec<Name> = running.map(|job| job.jid.clone()).collect();
        let mut places = HashMap::with_capacity(jids.len());
        for slice in jids.chunks(HISTORIES) {
            let found = session
                .core()?
                .jobs_with_fields(now, "jid,shown,worker,history", slice)?;
            let found = found.into_iter().flatten();
            places.extend(found.map(|job| (job.jid.clone(), describe_worker_and_time(&job, now))));
        }
        Ok(RunningJobs { jids, places })
    }

    /// Adds the worker and the run time of a running job to its outcome.
    pub(super) fn add_run_details(&self, mut outcome: JobOutcome) -> JobOutcome {
        if let Some(place) = self.places.get(&outcome.jid) {
            outcome.detail = Some(format!("running {place}").into());
            outcome.running_on = Some(place.clone());
        }
        outcome
    }

    /// The first running jobs, for a plan.
    pub(super) fn question_lines(&self, options: &RenderOptions) -> String {
        let first = self.jids.iter().take(NAMED);
        let place = |jid: &Name| Some(format!("{jid} {}", self.places.get(jid)?));
        let first: Vec<String> = first.filter_map(place).collect();
        if first.is_empty() {
            String::new()
        } else {
            "\n".to_owned() + &count_and_first_names("running", self.jids.len(), &first, options)
        }
    }
}

/// The worker of a running job and how long it runs, counted from the newest `popped` of its history.
fn describe_worker_and_time(job: &Job, now: Moment) -> String {
    let worker = job.worker.as_ref().map(|worker| format!("on `{worker}`"));
    let mut entries = job.history.iter().flatten().rev();
    let popped = entries.find(|entry| entry.what.as_bytes() == b"popped");
    let since = popped.and_then(|entry| entry.when);
    let time = since.map(|since| format!("for {}", format_duration(now.since(since).max(0.0))));
    let place: Vec<String> = worker.into_iter().chain(time).collect();
    place.join(" ")
}
