//! Retries failed jobs: each goes back into its own queue, unless another queue is given.

use std::time::Duration;

use super::{DueTime, RequeueTarget, is_running_or_stalled, wrong_state_outcome};
use crate::bulk::order;
use crate::bulk::{BulkAction, BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::model::bulk::BulkTableColumns;
use crate::model::bulk::Verb;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

pub(crate) const RETRY: Verb = Verb {
    word: "retry",
    infinitive: "retry",
    past: "retried",
    of_one: None,
    table_columns: BulkTableColumns::Nothing,
    raw: false,
};

/// How jobs are retried.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryOptions {
    pub to: Option<Name>,
    pub delay: Option<Duration>,
    pub priority: Option<i64>,
    /// Run completed jobs again.
    pub completed: bool,
    /// Take running jobs from their workers.
    pub force: bool,
}

impl RetryOptions {
    /// Retries the jobs of a lane in the order of their puts. Running and stalled jobs keep their remaining
    /// retries; failed and complete jobs get all their retries again.
    pub(crate) fn bulk_action(&self) -> BulkAction<'_> {
        let target = RequeueTarget {
            verb: RequeueVerb::Retry,
            to: self.to.clone(),
            priority: self.priority,
        };
        let when = self.delay.map_or(DueTime::Now, DueTime::After);
        let action = BulkAction::new(&RETRY, move |core, slice| {
            target.requeue_slice(core, slice, |_| when, is_running_or_stalled)
        });
        action
            .with_default_states(&[State::Failed])
            .refuse_if(|job| self.refuse_not_retriable(job))
            .describe_effects(|plan| self.effect_lines(plan))
            .with_step_after_consent(|plan, session| {
                order::sort_lanes_by_put(plan, session.now(), session)
            })
    }

    fn refuse_not_retriable(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let hint = |words: &str, sentence: &str| {
            let command = CommandLine::new(words).with_name_argument(&job.jid);
            command.fill_sentence(sentence)
        };
        let hint = match job.stored.as_bytes() {
            b"failed" => return None,
            b"complete" if self.completed => return None,
            b"running" | b"stalled" if self.force => return None,
            b"complete" => hint("retry --completed", "run it again: {}"),
            b"running" | b"stalled" if job.state.as_bytes() == b"stalled" => hint(
                "retry --force",
                "the next pop of its queue gets it; all its retries again: {}",
            ),
            b"running" | b"stalled" => hint("retry --force", "take its lock away: {}"),
            b"scheduled" => hint("promote", "run it now: {}"),
            b"depends" => hint("depends", "see which: {}"),
            _ => {
                return Some(
                    wrong_state_outcome(job).with_already_as_asked(self.is_already_as_asked(job)),
                );
            }
        };
        Some(wrong_state_outcome(job).hint_if(hint))
    }

    /// Where the jobs go, for the question.
    fn effect_lines(&self, plan: &BulkPlan) -> String {
        let to = match &self.to {
            Some(to) => format!("all go to `{to}`"),
            None => "each goes back to its own queue".into(),
        };
        let fresh: Vec<&JobSnapshot> = plan
            .jobs
            .iter()
            .filter(|job| !is_running_or_stalled(job))
            .collect();
        let retries = fresh.first().and_then(|job| job.retries.as_ref());
        let retries =
            retries.filter(|one| fresh.iter().all(|job| job.retries.as_ref() == Some(one)));
        let retries = match retries {
            Some(one) if one.as_bytes() == b"1" => "1 fresh retry".into(),
            Some(many) => format!("{many} fresh retries"),
            None => "fresh retries".into(),
        };
        match (fresh.len(), fresh.len() == plan.jobs.len()) {
            (0, _) => format!("\n  {to} with its remaining retries\n"),
            (_, true) => format!("\n  {to} with {retries}\n"),
            _ => format!("\n  {to} with {retries}; running jobs keep their remaining retries\n"),
        }
    }

    /// Whether the job already waits in the queue and with the priority that a retry with these options gives it.
    fn is_already_as_asked(&self, job: &JobSnapshot) -> bool {
        let priority = self.priority.map(|priority| priority.to_string().into());
        job.has_stored_state("waiting")
            && self.delay.is_none()
            && (self.to.is_none() || self.to == job.queue)
            && (priority.is_none() || priority == job.priority)
    }
}
