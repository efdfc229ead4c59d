//! Bulk verbs: what each verb does to the jobs. All verbs share the question, the dry run, slices, pace, progress,
//! the report and the exit code.

use super::{BulkPlan, JobOutcome, SliceOutcome};
use crate::args::shared::{BulkFlags, JobTargets};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Verb;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::session::Session;

/// A bulk verb with its arguments.
pub(crate) struct BulkAction<'a> {
    pub(super) verb: &'static Verb,
    pub(super) states: &'static [State],
    pub(crate) refuse: Refuse<'a>,
    effects: Box<dyn Fn(&BulkPlan) -> String + 'a>,
    after_consent: PlanStep,
    asks: bool,
    change: Change<'a>,
}

type Refuse<'a> = Box<dyn Fn(&JobSnapshot) -> Option<JobOutcome> + 'a>;
type Change<'a> = Box<dyn Fn(&mut Core, &JobSlice) -> SliceOutcome + 'a>;
/// A step between consent and changes: it sorts the jobs of a plan, or explains why some of them are excluded.
type PlanStep = fn(&mut BulkPlan, &mut Session) -> Result<(), Error>;

/// The jobs of one call. Before each call, `now` is read again, and signals are checked.
#[derive(Clone, Copy)]
pub(crate) struct JobSlice<'a> {
    pub now: Moment,
    /// When the action began.
    pub begun: Moment,
    /// The note that each changed job gets in its history.
    pub note: &'a [u8],
    pub jobs: &'a [JobSnapshot],
}

impl<'a> BulkAction<'a> {
    /// An action that refuses no job. `change` makes one call for the jobs of a slice.
    pub(crate) fn new(
        verb: &'static Verb,
        change: impl Fn(&mut Core, &JobSlice) -> SliceOutcome + 'a,
    ) -> BulkAction<'a> {
        BulkAction {
            verb,
            states: &[],
            refuse: Box::new(|_| None),
            effects: Box::new(|_| String::new()),
            after_consent: |_, _| Ok(()),
            asks: true,
            change: Box::new(change),
        }
    }

    /// Sets the states of the jobs that a selector without `--state` selects.
    pub(crate) fn with_default_states(self, states: &'static [State]) -> BulkAction<'a> {
        BulkAction { states, ..self }
    }

    /// Sets which jobs cannot be changed, and why.
    pub(crate) fn refuse_if(
        self,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome> + 'a,
    ) -> BulkAction<'a> {
        BulkAction {
            refuse: Box::new(refuse),
            ..self
        }
    }

    /// Sets the lines of the question below the list of jobs.
    pub(crate) fn describe_effects(
        self,
        effects: impl Fn(&BulkPlan) -> String + 'a,
    ) -> BulkAction<'a> {
        BulkAction {
            effects: Box::new(effects),
            ..self
        }
    }

    /// Sets the step that sorts the plan, or explains its excluded jobs, after consent.
    pub(super) fn with_step_after_consent(self, after_consent: PlanStep) -> BulkAction<'a> {
        BulkAction {
            after_consent,
            ..self
        }
    }

    /// Skips the question: commands that act for a worker ask none.
    pub(crate) fn without_question(self) -> BulkAction<'a> {
        BulkAction {
            asks: false,
            ..self
        }
    }

    /// Runs the whole action on the jobs that are named or selected: the plan, the question, the changes and the
    /// report.
    pub(crate) fn run(
        self,
        flags: &BulkFlags,
        targets: &JobTargets,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        BulkPlan::connect_and_plan(session, &self, flags, targets)?.ask_and_run(self, session)
    }
}

impl BulkPlan {
    /// Asks, then changes the jobs of the plan.
    pub(crate) fn ask_and_run(
        mut self,
        action: BulkAction,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        if action.asks || self.is_dry_run() {
            let effects = (action.effects)(&self) + &self.queue_lines;
            self.ask_consent_or_print_plan(session, &effects)?;
        }
        (action.after_consent)(&mut self, session)?;
        let begun = session.now();
        let note = self.options.note.clone();
        self.run_in_slices(session, |core, now, jobs| {
            let slice = JobSlice {
                now,
                begun,
                note: &note,
                jobs,
            };
            (action.change)(core, &slice)
        })
    }
}
