//! The outcome of a slice: one outcome per job, and the error that stops the action.

use std::collections::HashSet;

use super::JobOutcome;
use crate::core::api::job_calls::{DoneOrRefused, PerJob};
use crate::core::api::reconcile::LOST;
use crate::error::{Error, Kind};
use crate::model::bulk::OutcomeCode;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

#[derive(Debug, Default)]
pub(crate) struct SliceOutcome {
    pub outcomes: Vec<JobOutcome>,
    /// The error that stops the action. A job of the slice without an outcome gets an outcome with this error.
    pub stopped_by: Option<Error>,
}

impl From<Result<Vec<JobOutcome>, Error>> for SliceOutcome {
    fn from(changed: Result<Vec<JobOutcome>, Error>) -> SliceOutcome {
        match changed {
            Ok(outcomes) => SliceOutcome {
                outcomes,
                stopped_by: None,
            },
            Err(error) => SliceOutcome::stopped_after(Vec::new(), error),
        }
    }
}

impl SliceOutcome {
    /// The outcomes of some jobs, and the error that stopped the action after them.
    pub(crate) fn stopped_after(outcomes: Vec<JobOutcome>, error: Error) -> SliceOutcome {
        let stopped_by = Some(error);
        SliceOutcome {
            outcomes,
            stopped_by,
        }
    }

    /// Turns the replies to one call per job into outcomes. `done` makes the outcome of a job that was changed.
    pub(crate) fn from_replies<T>(
        jobs: &[JobSnapshot],
        replies: PerJob<T>,
        done: impl Fn(&JobSnapshot, T) -> JobOutcome,
    ) -> SliceOutcome {
        let mut slice = SliceOutcome::default();
        for (job, reply) in jobs.iter().zip(replies) {
            let outcome = match reply {
                Ok(DoneOrRefused::Done(reply)) => done(job, reply).with_snapshot(job),
                Ok(DoneOrRefused::Refused(reply)) => JobOutcome::from_refusing_reply(job, &reply),
                Err(error) => match JobOutcome::from_refusal(&job.jid, &error) {
                    Some(outcome) => outcome.with_snapshot(job),
                    None => {
                        let outcome = failed_call_outcome(job, &error);
                        slice.stopped_by.get_or_insert(error);
                        outcome
                    }
                },
            };
            slice.outcomes.push(outcome);
        }
        slice
    }

    /// Adds an outcome for each job that has none, from the error that stopped the slice.
    pub(super) fn add_missing_outcomes(&mut self, jobs: &[JobSnapshot], error: &Error) {
        let outcomes = self.outcomes.iter();
        let known: HashSet<Name> = outcomes.map(|outcome| outcome.item.jid.clone()).collect();
        let missing = jobs.iter().filter(|job| !known.contains(&job.jid));
        self.outcomes
            .extend(missing.map(|job| failed_call_outcome(job, error)));
    }
}

/// The outcome of a job whose call ended in an error.
pub(crate) fn failed_call_outcome(job: &JobSnapshot, error: &Error) -> JobOutcome {
    let (code, why) = match error.kind() {
        Kind::OutcomeUnknown => (OutcomeCode::Unknown, LOST.into()),
        _ => (OutcomeCode::Server, error.message()),
    };
    JobOutcome::refused(&job.jid, code, &*why).with_snapshot(job)
}
