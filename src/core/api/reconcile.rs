//! Finds out what the reply to a repeated call means after the first reply was lost. A refusal means that the first
//! call was applied, or that another client changed the job.
//!
//! Both calls carry one `now`, and those of an operator one note. So a job that the first call changed has the note in
//! its history, at the whole second of that `now`; a job that a worker ended has the event of its end there.

use std::collections::HashMap;

use super::guard::{GuardRefusal, GuardReply};
use super::job::JOBS_PER_READ;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::json::Number;
use crate::model::bulk::{LOST, MAX_JOBS_PER_CALL, OutcomeCode};
use crate::model::ending::{EndingAction, EndingOutcome, EndingRequest};
use crate::model::job::Job;
use crate::name::Name;

const LOST_AND_GONE: &str =
    "the reply was lost, and the job no longer exists; the change may or may not have happened";

impl Core {
    /// The jobs whose history shows that a call with this note changed them at `now`.
    pub(crate) fn jobs_changed_with_note(
        &mut self,
        now: Moment,
        note: &[u8],
        jids: &[&Name],
    ) -> Result<HashMap<Name, Job>, Error> {
        let entry = [
            format!("[{},\"cli\",", whole_second(now)).as_bytes(),
            note,
            b"]".as_slice(),
        ]
        .concat();
        let entry = Name::from(entry);
        let mut noted = HashMap::new();
        for jids in jids.chunks(MAX_JOBS_PER_CALL) {
            let fields = "history,shown,queue,tags,remaining";
            for job in self
                .read_jobs_in_one_call(now, fields, jids)?
                .into_iter()
                .flatten()
            {
                if job.stored_history.contains(&entry) {
                    noted.insert(job.jid.clone(), job);
                }
            }
        }
        Ok(noted)
    }

    /// Corrects the outcomes of guarded calls that were repeated. `result_of_job` makes the result of an applied call
    /// from the job as it is now.
    pub(crate) fn reconcile_repeated_calls<D>(
        &mut self,
        now: Moment,
        note: &[u8],
        repeated: Vec<(&Name, &mut GuardReply<D>)>,
        result_of_job: impl Fn(Job) -> D,
    ) {
        let open = repeated
            .iter()
            .filter(|(_, outcome)| outcome.refusal_code() == Some(OutcomeCode::StateChanged));
        let open: Vec<&Name> = open.map(|(jid, _)| *jid).collect();
        let mut noted = if open.is_empty() {
            Ok(HashMap::new())
        } else {
            self.jobs_changed_with_note(now, note, &open)
        };
        for (jid, outcome) in repeated {
            let unknown = match (outcome.refusal_code(), &mut noted) {
                (Some(OutcomeCode::StateChanged), Ok(noted)) => {
                    if let Some(job) = noted.remove(jid) {
                        *outcome = GuardReply::Done(result_of_job(job));
                    }
                    continue;
                }
                (Some(OutcomeCode::StateChanged), Err(_)) => LOST,
                (Some(OutcomeCode::Gone), _) => LOST_AND_GONE,
                _ => continue,
            };
            *outcome = GuardReply::Refused(GuardRefusal {
                code: OutcomeCode::Unknown,
                mark: Vec::new(),
                detail: vec![Some(Name::from(unknown))],
            });
        }
    }

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
                            outcome_if_applied(&present, whole_second(now), worker, &job.action);
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

impl<D: Default> GuardReply<D> {
    /// If a repeated cancel does not find the job, counts the job as cancelled by the first attempt.
    pub(crate) fn treat_gone_as_cancelled(&mut self) {
        if self.refusal_code() == Some(OutcomeCode::Gone) {
            *self = GuardReply::Done(D::default());
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
        let is_then = entry.when.map(whole_second) == Some(second);
        is_holder && is_then && entry.what.as_bytes() == entry_name.as_bytes() && is_writer
    })
}

/// The whole second of a moment: histories have no fractions.
pub(super) fn whole_second(moment: Moment) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_a_repeated_cancel_does_not_find_was_cancelled() {
        for (code, is_done) in [
            (OutcomeCode::Gone, true),
            (OutcomeCode::StateChanged, false),
            (OutcomeCode::HasDependents, false),
        ] {
            let mut cancel = GuardReply::Refused(GuardRefusal {
                code,
                mark: Vec::new(),
                detail: Vec::new(),
            });
            cancel.treat_gone_as_cancelled();
            assert_eq!(cancel == GuardReply::Done(()), is_done);
        }
    }
}
