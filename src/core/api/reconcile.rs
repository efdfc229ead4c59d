//! Finds out what the reply to a worker's repeated call means after the first reply was lost. Both calls carry one `now`,
//! so a job that the first call ended has the event of its end in its history, at the whole second of that `now`.

use super::guard::JOBS_PER_READ;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::json::Number;
use crate::model::ending::{EndingAction, EndingOutcome, EndingRequest};
use crate::model::job::Job;
use crate::name::Name;

impl Core {
    /// Corrects the outcomes of jobs that the worker no longer held at the last attempt: an earlier attempt may have
    /// ended them. The history of each job shows whether it did.
    pub(super) fn reconcile_endings(
        &mut self,
        now: Moment,
        worker: &Name,
        jobs: &[EndingRequest],
        outcomes: &mut [EndingOutcome],
    ) {
        let mut open = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match outcome {
                // A job that is missing may have completed and been deleted since: its outcome is unknown.
                EndingOutcome::Gone => *outcome = EndingOutcome::Unknown,
                EndingOutcome::NotHolder { .. } => open.push((job, outcome)),
                _ => {}
            }
        }
        for open in open.chunks_mut(JOBS_PER_READ) {
            let jids: Vec<&Name> = open.iter().map(|(job, _)| &job.jid).collect();
            let Ok(present) = self.read_jobs_in_one_call(now, "state,remaining,history", &jids)
            else {
                for (_, outcome) in open {
                    **outcome = EndingOutcome::Unknown;
                }
                continue;
            };
            for ((job, outcome), present) in open.iter_mut().zip(present) {
                match present {
                    Some(present) => {
                        let done =
                            outcome_if_applied(&present, now.whole_second(), worker, &job.action);
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

/// The outcome of an ending, if the history of the job shows that the core applied it at this second. Otherwise `None`:
/// the worker had lost the lock before.
fn outcome_if_applied(
    job: &Job,
    second: i64,
    worker: &Name,
    action: &EndingAction,
) -> Option<EndingOutcome> {
    let done = |state: &str, remaining| EndingOutcome::Done {
        state: state.into(),
        remaining,
    };
    let wrote = |what| has_history_entry(job, second, worker, what);
    match action {
        EndingAction::Complete { next: None, .. } => wrote("done").then(|| done("complete", None)),
        // Report the current state: other workers may have changed it since, and the state right after the ending is
        // unknown.
        EndingAction::Complete { next: Some(_), .. } => {
            let state = job.state_stored.clone().unwrap_or_default();
            let remaining = None;
            wrote("done").then_some(EndingOutcome::Done { state, remaining })
        }
        EndingAction::Fail { .. } => wrote("failed").then(|| done("failed", None)),
        EndingAction::Retry { .. } if wrote("failed") => Some(done("failed", Some(-1))),
        EndingAction::Retry { delay, .. } => {
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

/// Whether the history has an entry of this name and this second that was written while the worker held the job.
fn has_history_entry(job: &Job, second: i64, worker: &Name, entry_name: &str) -> bool {
    // The core may have trimmed the entry of the worker's pop: the worker counts as the holder until the entry of
    // another pop.
    let mut is_holder = true;
    job.history.iter().flatten().any(|entry| {
        let entry_worker = entry.note_text("worker");
        if entry.what.as_bytes() == b"popped" {
            is_holder = entry_worker.as_ref() == Some(worker);
        }
        let is_writer = entry_worker.is_none_or(|writer| writer == *worker);
        let is_then = entry.when.map(Moment::whole_second) == Some(second);
        is_holder && is_then && entry.what.as_bytes() == entry_name.as_bytes() && is_writer
    })
}
