//! Finds out what the reply to a repeated call means after the first reply was lost. A refusal means that the first
//! call was applied, or that another client changed the job.
//!
//! Both calls carry one `now` and one note. So a job that the first call changed has the note in its history, at the
//! whole second of that `now`.

use std::collections::HashMap;

use super::guard::{GuardRefusal, GuardReply};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::bulk::{LOST, MAX_JOBS_PER_CALL, OutcomeCode};
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
}

impl<D: Default> GuardReply<D> {
    /// If a repeated cancel does not find the job, counts the job as cancelled by the first attempt.
    pub(crate) fn treat_gone_as_cancelled(&mut self) {
        if self.refusal_code() == Some(OutcomeCode::Gone) {
            *self = GuardReply::Done(D::default());
        }
    }
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
