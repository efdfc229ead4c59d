//! What the outcomes of endings mean if an earlier attempt of the same call may have ended the
//! jobs: the job's history shows it.

use super::guard::JOBS_PER_READ;
use super::reconcile::second;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::json::Number;
use crate::model::ending::{EndingOutcome, EndingRequest, EndingWay};
use crate::model::job::Job;
use crate::name::Name;

impl Core {
    /// Corrects the outcomes of jobs that the worker did not hold at the last attempt.
    pub(super) fn settle_endings(
        &mut self,
        now: Moment,
        worker: &Name,
        jobs: &[EndingRequest],
        outcomes: &mut [EndingOutcome],
    ) {
        let mut open = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match outcome {
                // A completed job may have been deleted since.
                EndingOutcome::Gone => *outcome = EndingOutcome::Unknown,
                EndingOutcome::NotHolder { .. } => open.push((job, outcome)),
                _ => {}
            }
        }
        for open in open.chunks_mut(JOBS_PER_READ) {
            let jids: Vec<&Name> = open.iter().map(|(job, _)| &job.jid).collect();
            let Ok(present) = self.job_rows(now, "state,remaining,history", &jids) else {
                for (_, outcome) in open {
                    **outcome = EndingOutcome::Unknown;
                }
                continue;
            };
            for ((job, outcome), present) in open.iter_mut().zip(present) {
                match present {
                    Some(present) => {
                        let done = applied(&present.job, second(now), worker, &job.way);
                        if let Some(done) = done {
                            **outcome = done;
                        }
                    }
                    None => **outcome = EndingOutcome::Unknown,
                }
            }
        }
    }
}

/// What the ending did to a job if it was applied at this second, `None` if the lock was lost before.
fn applied(job: &Job, second: i64, worker: &Name, way: &EndingWay) -> Option<EndingOutcome> {
    let done = |state: &str, remaining| EndingOutcome::Done {
        state: state.into(),
        remaining,
    };
    let wrote = |what| wrote(job, second, worker, what);
    match way {
        EndingWay::Complete { next: None, .. } => wrote("done").then(|| done("complete", None)),
        // Where the job went then, other workers may have changed since.
        EndingWay::Complete { next: Some(_), .. } => {
            let state = job.state_stored.clone().unwrap_or_default();
            let remaining = None;
            wrote("done").then_some(EndingOutcome::Done { state, remaining })
        }
        EndingWay::Fail { .. } => wrote("failed").then(|| done("failed", None)),
        EndingWay::Retry { .. } if wrote("failed") => Some(done("failed", Some(-1))),
        EndingWay::Retry { delay, .. } => {
            let state = if delay.is_zero() {
                "waiting"
            } else {
                "scheduled"
            };
            let remaining = job.remaining.map_or(0, Number::floor);
            wrote("retried").then(|| done(state, Some(remaining)))
        }
    }
}

/// Whether the history has this entry of this second, written while the worker held the job.
fn wrote(job: &Job, at: i64, worker: &Name, what: &str) -> bool {
    // The pop may have left a history that is at its limit.
    let mut is_holder = true;
    job.history.iter().flatten().any(|entry| {
        let entry_worker = entry.text("worker");
        if entry.what.as_bytes() == b"popped" {
            is_holder = entry_worker.as_ref() == Some(worker);
        }
        let is_writer = entry_worker.is_none_or(|writer| writer == *worker);
        let is_then = entry.when.map(second) == Some(at);
        is_holder && is_then && entry.what.as_bytes() == what.as_bytes() && is_writer
    })
}
