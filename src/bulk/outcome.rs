//! How the outcome of a job follows from its snapshot and from the core's reply.

use std::collections::HashSet;

use crate::core::api::guard::{GuardRefusal, GuardReply};
use crate::core::api::job_calls::PerJob;
use crate::core::api::reconcile::LOST;
use crate::error::{Error, JobChangeRefusal, Kind};
use crate::model::bulk::{ItemResult, JobOutcome, OutcomeCode, OutcomeDetail};
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

impl JobOutcome {
    /// The outcome of a job that was changed.
    pub(crate) fn done(jid: &Name) -> JobOutcome {
        JobOutcome::new(jid, OutcomeCode::Ok)
    }

    /// The outcome of a job that a dry run would change.
    pub(crate) fn planned(job: &JobSnapshot) -> JobOutcome {
        JobOutcome {
            result: ItemResult::Planned,
            ..JobOutcome::done(&job.jid).with_snapshot(job)
        }
    }

    /// The outcome of a job that does not exist.
    pub(crate) fn gone(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, OutcomeCode::Gone, "it does not exist")
    }

    /// The outcome of a complete job, which cannot be changed.
    pub(crate) fn already_complete(jid: &Name) -> JobOutcome {
        JobOutcome::refused(
            jid,
            OutcomeCode::Complete,
            OutcomeDetail::Is("complete".into()),
        )
    }

    /// The outcome of a job that another client changed since its snapshot.
    pub(crate) fn changed_meanwhile(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, OutcomeCode::StateChanged, "it changed meanwhile")
    }

    /// The outcome of a job whose state forbids the change; `required` is the state that
    /// the change requires, if there is exactly one.
    pub(crate) fn wrong_state(
        jid: &Name,
        is: impl Into<Name>,
        required: Option<&'static str>,
    ) -> JobOutcome {
        let is = is.into();
        JobOutcome::refused(
            jid,
            OutcomeCode::StateChanged,
            OutcomeDetail::State { is, required },
        )
    }

    /// The outcome of a job that another worker holds.
    pub(crate) fn held_by_other(jid: &Name, worker: &Name) -> JobOutcome {
        let why = OutcomeDetail::Is(format!("held by `{worker}`"));
        JobOutcome::refused(jid, OutcomeCode::NotHolder, why)
            .hint("`--as-holder` acts as the worker that holds the job")
    }

    /// The outcome of a job that a guarded call did not change.
    pub(crate) fn from_guard_refusal(job: &JobSnapshot, refusal: &GuardRefusal) -> JobOutcome {
        let jid = &job.jid;
        // A mark begins with the state. If the state is unchanged, another part of the job has changed.
        let state = [job.stored.as_bytes(), b":"].concat();
        let outcome = match refusal.code {
            OutcomeCode::Gone => JobOutcome::gone(jid),
            OutcomeCode::StateChanged if refusal.mark.starts_with(&state) => {
                JobOutcome::changed_meanwhile(jid)
            }
            OutcomeCode::StateChanged => {
                let why = OutcomeDetail::Is(format!("no longer {}", job.stored));
                JobOutcome::refused(jid, OutcomeCode::StateChanged, why)
            }
            OutcomeCode::Complete => JobOutcome::already_complete(jid),
            code => JobOutcome::refused(jid, code, refusal.core_refusal_text()),
        };
        outcome.with_snapshot(job)
    }

    /// The outcome of a job for an error by which the core refused its call; `None` for any other error.
    pub(crate) fn from_refusal(jid: &Name, error: &Error) -> Option<JobOutcome> {
        Some(match error.refusal_of(jid)? {
            JobChangeRefusal::Gone => JobOutcome::gone(jid),
            JobChangeRefusal::State(None) => {
                let why = OutcomeDetail::Is("not running".into());
                JobOutcome::refused(jid, OutcomeCode::StateChanged, why)
            }
            JobChangeRefusal::State(Some(state)) => {
                JobOutcome::wrong_state(jid, state.clone(), None)
            }
            JobChangeRefusal::Queue(queue) => {
                let why = format!("it runs in `{}`", queue);
                JobOutcome::refused(jid, OutcomeCode::StateChanged, why)
            }
            JobChangeRefusal::Holder(worker) => JobOutcome::held_by_other(jid, worker),
        })
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> JobOutcome {
        self.hint_if(Some(hint.into()))
    }

    /// Adds a hint, if there is one.
    pub(crate) fn hint_if(mut self, hint: Option<String>) -> JobOutcome {
        self.hint = hint.or(self.hint);
        self
    }

    pub(crate) fn with_state_after(mut self, state: &str) -> JobOutcome {
        self.state_after = Some(state.into());
        self
    }

    pub(crate) fn with_cells(mut self, cells: impl IntoIterator<Item = Name>) -> JobOutcome {
        self.cells = cells.into_iter().collect();
        self
    }

    pub(crate) fn with_raw_reply(mut self, raw: impl Into<Vec<u8>>) -> JobOutcome {
        self.raw = raw.into();
        self
    }

    /// Sets whether the job already was as the command would leave it.
    pub(crate) fn with_already_as_asked(mut self, as_asked: bool) -> JobOutcome {
        self.as_asked = as_asked;
        self
    }

    /// If an error is the core's refusal to change this job, turns it into an error with the words of bulk commands.
    pub(crate) fn refusal_or_error(jid: &Name, verb: &str, error: Error) -> Error {
        match JobOutcome::from_refusal(jid, &error) {
            Some(outcome) => outcome.to_error(verb),
            None => error,
        }
    }

    /// The reply to the call of a command that named only this job. A refusal is an error with the words of bulk
    /// commands.
    pub(crate) fn single_reply<T>(
        job: &JobSnapshot,
        verb: &str,
        mut replies: PerJob<T>,
    ) -> Result<T, Error> {
        match replies.pop() {
            Some(Ok(GuardReply::Done(reply))) => Ok(reply),
            Some(Ok(GuardReply::Refused(refusal))) => {
                Err(JobOutcome::from_guard_refusal(job, &refusal).to_error(verb))
            }
            Some(Err(error)) => Err(JobOutcome::refusal_or_error(&job.jid, verb, error)),
            None => Err(Error::internal("the changed job has no outcome")),
        }
    }

    /// The refusal of a job as the error of a command that named only this job.
    pub(crate) fn to_error(&self, verb: &str) -> Error {
        let jid = &self.jid;
        let message = match (self.code, &self.detail) {
            (OutcomeCode::Gone, _) => format!("job `{jid}` does not exist"),
            (_, Some(why)) => format!("cannot {verb} `{jid}`: {why}"),
            (code, None) => format!("cannot {verb} `{jid}`: {}", code.into_str()),
        };
        let error = Error::new(self.code.error_kind(), message).about_jid(jid);
        match &self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Adds the outcomes of one call per job. `done` makes the outcome of a job that was changed. The result is the first
/// error that is not about its job alone.
pub(crate) fn add_outcomes_of_replies<T>(
    outcomes: &mut Vec<JobOutcome>,
    jobs: &[JobSnapshot],
    replies: PerJob<T>,
    done: impl Fn(&JobSnapshot, T) -> JobOutcome,
) -> Result<(), Error> {
    let mut stopped_by = Ok(());
    for (job, reply) in jobs.iter().zip(replies) {
        outcomes.push(match reply {
            Ok(GuardReply::Done(reply)) => done(job, reply).with_snapshot(job),
            Ok(GuardReply::Refused(refusal)) => JobOutcome::from_guard_refusal(job, &refusal),
            Err(error) => match JobOutcome::from_refusal(&job.jid, &error) {
                Some(outcome) => outcome.with_snapshot(job),
                None => {
                    let outcome = failed_call_outcome(job, &error);
                    stopped_by = stopped_by.and(Err(error));
                    outcome
                }
            },
        });
    }
    stopped_by
}

/// Adds an outcome for each job that has none, from the error that stopped the slice.
pub(super) fn add_missing_outcomes(
    outcomes: &mut Vec<JobOutcome>,
    jobs: &[JobSnapshot],
    error: &Error,
) {
    let known: HashSet<Name> = outcomes.iter().map(|outcome| outcome.jid.clone()).collect();
    let missing = jobs.iter().filter(|job| !known.contains(&job.jid));
    outcomes.extend(missing.map(|job| failed_call_outcome(job, error)));
}

/// The outcome of a job whose call ended in an error.
pub(crate) fn failed_call_outcome(job: &JobSnapshot, error: &Error) -> JobOutcome {
    let (code, why) = match error.kind() {
        Kind::OutcomeUnknown => (OutcomeCode::Unknown, LOST.into()),
        _ => (OutcomeCode::Server, error.message()),
    };
    JobOutcome::refused(&job.jid, code, &*why).with_snapshot(job)
}
