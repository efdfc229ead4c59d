//! Moves jobs into another queue, with all their retries again. Failed and complete jobs run again there.

use super::{DueTime, RequeueTarget, wrong_state_outcome};
use crate::args::shared::DueTimeFlags;
use crate::bulk::{BulkAction, BulkPlan, JobOutcome};
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::model::bulk::Verb;
use crate::model::bulk::{BulkTableColumns, OutcomeCode};
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

pub(crate) const MOVE: Verb = Verb {
    word: "move",
    infinitive: "move",
    past: "moved",
    of_one: None,
    table_columns: BulkTableColumns::Nothing,
    raw: false,
};

/// How jobs are moved.
#[derive(Clone, Debug)]
pub(crate) struct MoveOptions {
    pub to: Name,
    /// When the jobs run. If no time is given, each job runs at its own scheduled time, or immediately without one.
    pub run_time: DueTimeFlags,
    /// Take running jobs from their workers.
    pub force: bool,
}

impl MoveOptions {
    pub(crate) fn bulk_action(&self) -> BulkAction<'_> {
        let target = RequeueTarget {
            verb: RequeueVerb::Move,
            to: Some(self.to.clone()),
            priority: None,
        };
        let action = BulkAction::new(&MOVE, move |core, slice| {
            let at = self.run_time.given_due_moment(slice.begun);
            let when = |job: &JobSnapshot| match (self.run_time.delay, at, job.due) {
                (Some(delay), ..) => DueTime::After(delay),
                (None, Some(at), _) => DueTime::At(at),
                (None, None, Some(due)) => DueTime::Still(due),
                (None, None, None) => DueTime::Now,
            };
            target.requeue_slice(core, slice, when, |_| false)
        });
        action
            .with_default_states(State::UNFINISHED)
            .refuse_if(|job| self.refuse_held_or_already_there(job))
            .describe_effects(|plan| self.effect_lines(plan))
    }

    /// Refuses a job that a worker holds, unless `--force` is given. Also refuses a job that is in the queue
    /// already, unless the move runs it again or at another time.
    fn refuse_held_or_already_there(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let running = job.state.as_bytes() == b"running";
        if running && !self.force {
            let by_force = CommandLine::new("move --force").with_flag("--to", &self.to);
            let by_force = by_force.with_name_argument(&job.jid);
            return Some(
                wrong_state_outcome(job).hint_if(by_force.fill_sentence("take its lock away: {}")),
            );
        }
        let changes_place = running
            || job.has_stored_state("failed")
            || job.has_stored_state("complete")
            || self.run_time.is_time_given();
        if !changes_place && job.queue.as_ref() == Some(&self.to) {
            let why = format!("it is in `{}` already", self.to);
            let outcome = JobOutcome::refused(&job.jid, OutcomeCode::StateChanged, why);
            return Some(outcome.with_already_as_asked(true));
        }
        None
    }

    /// Where the jobs go, for the question.
    fn effect_lines(&self, plan: &BulkPlan) -> String {
        let ended =
            |job: &&JobSnapshot| job.has_stored_state("failed") || job.has_stored_state("complete");
        let again = match plan.jobs.iter().filter(ended).count() as u64 {
            0 => String::new(),
            1 => "; 1 of them failed or is complete: it runs again".into(),
            many => format!("; {many} of them failed or are complete: they run again"),
        };
        format!("\n  all go to `{}` with fresh retries{again}\n", self.to)
    }
}
