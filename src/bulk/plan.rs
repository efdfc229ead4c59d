//! The plan: the jobs to change, the jobs that are excluded, and the question before the action.

use std::time::Duration;

use super::new_queues;
use super::restart::RestartWatch;
use super::running::RunningJobs;
use super::{BulkAction, BulkOptions, JobOutcome, SLICE, SliceOutcome};
use crate::args::shared::{
    BulkFlags, JobTargets, RequireExistingQueueFlag, Selector, SpreadOverTimeFlag,
};
use crate::clock::moment::Moment;
use crate::core::api::guard::JOBS_PER_READ;
use crate::core::call::Core;
use crate::error::Error;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::bulk::text::plan_by_queue_and_state;
use crate::model::bulk::{BulkItem, BulkReport, ItemResult, OutcomeCode};
use crate::model::job::{Job, State};
use crate::model::job_snapshot::{FieldInterner, JobSnapshot};
use crate::name::Name;
use crate::select;
use crate::select::MisplacedFailureEntry;
use crate::session::Session;
use crate::text::{format_count, format_duration};
use crate::view::RenderOptions;

/// Maximum number of misplaced entries of failure lists that notes name one by one.
const NAMED_ENTRIES: usize = 10;

/// The jobs that a command may change, and the outcomes of the others.
#[derive(Debug)]
pub(crate) struct BulkPlan {
    pub(super) options: BulkOptions,
    pub(super) targeting: TargetSource,
    pub(super) excluded: Vec<ExcludedJob>,
    /// The jobs that an earlier run with the same report has done.
    pub(super) already_done: Vec<JobOutcome>,
    pub(super) jobs: Vec<JobSnapshot>,
    /// The dependents that would be cancelled with the jobs. The plan has them only for a dry run or a question.
    pub(super) cascaded_dependents: Vec<JobSnapshot>,
    /// On which workers the jobs run, if the action shows that.
    pub(super) running: RunningJobs,
    /// The time over which the jobs are to run.
    pub(super) spread: Duration,
    /// The lines of the question about a queue that does not exist yet.
    pub(super) queue_lines: String,
}

/// A job that the plan does not change.
#[derive(Debug)]
pub(super) struct ExcludedJob {
    pub outcome: JobOutcome,
    /// The number of jobs before this one, in the order given, that are not excluded.
    pub preceding: usize,
}

/// How the jobs of a plan were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetSource {
    /// One given jid: a refusal is an error.
    OneJid,
    /// Several jids, or a list of them.
    Jids,
    File,
    Selector,
}

impl BulkPlan {
    /// Connects to the server, and plans an action for the jobs that are named or selected.
    pub(crate) fn connect_and_plan(
        session: &mut Session,
        action: &BulkAction,
        flags: &BulkFlags,
        targets: &JobTargets,
    ) -> Result<BulkPlan, Error> {
        targets.require_either_jids_or_selector()?;
        let options = BulkOptions::new(session, action.verb, flags)?;
        let jids = jids::read_jids(&mut session.input(), &targets.jids)?;
        BulkPlan::connect_and_plan_with_jids(session, options, action, targets, &jids)
    }

    /// Plans an action for jids that were read already.
    pub(crate) fn connect_and_plan_with_jids(
        session: &mut Session,
        options: BulkOptions,
        action: &BulkAction,
        targets: &JobTargets,
        jids: &GivenJids,
    ) -> Result<BulkPlan, Error> {
        BulkPlan::from_targets(
            session,
            options,
            (targets, jids),
            action.states,
            &action.refuse,
        )
    }

    /// A plan for the jobs that are named or selected, in which the jobs that `refuse` refuses are excluded. A
    /// selector without a state means jobs in one of `states`.
    pub(crate) fn from_targets(
        session: &mut Session,
        options: BulkOptions,
        (targets, jids): (&JobTargets, &GivenJids),
        states: &[State],
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<BulkPlan, Error> {
        targets.require_either_jids_or_selector()?;
        let selector = targets.selector.with_default_states(states)?;
        let now = session.connect()?;
        if targets.jids.is_empty() {
            BulkPlan::from_selector(session, now, options, &selector, refuse)
        } else {
            BulkPlan::from_jids(session, now, options, jids, refuse)
        }
    }

    /// A plan for the jobs that are named.
    pub(crate) fn from_jids(
        session: &mut Session,
        now: Moment,
        options: BulkOptions,
        given: &GivenJids,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<BulkPlan, Error> {
        session.ui.check_columns::<BulkReport>()?;
        let targeting = match given {
            GivenJids::One(_) => TargetSource::OneJid,
            GivenJids::Many(_) => TargetSource::Jids,
        };
        let mut plan = BulkPlan::new(options, targeting);
        for jids in given.jids().chunks(JOBS_PER_READ) {
            let snapshots = session.core()?.job_snapshots(now, jids)?;
            for (jid, snapshot) in jids.iter().zip(snapshots) {
                match snapshot {
                    _ if plan.skip_if_done(jid) => {}
                    None => plan.exclude(JobOutcome::gone(jid)),
                    Some(job) => match refuse(&job) {
                        None => plan.jobs.push(job),
                        Some(outcome) => plan.exclude(outcome.with_snapshot(&job)),
                    },
                }
            }
        }
        Ok(plan)
    }

    /// A plan for the jobs that a selector selects. Misplaced entries of failure lists are excluded and reported in
    /// notes.
    pub(crate) fn from_selector(
        session: &mut Session,
        now: Moment,
        options: BulkOptions,
        selector: &Selector,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<BulkPlan, Error> {
        session.ui.check_columns::<BulkReport>()?;
        let restarts = RestartWatch::begin_without_support_note(session.core()?)?;
        let (mut jobs, misplaced) = select::read_snapshots(session, now, selector)?;
        restarts.refuse_jobs_listed_before_a_loss(&jobs, session.core()?)?;
        let mut plan = BulkPlan::new(options, TargetSource::Selector);
        // The list is filtered in place: it may hold a million jobs.
        let mut preceding = 0;
        jobs.retain(|job| {
            if plan.skip_if_done(&job.jid) {
                return false;
            }
            let Some(outcome) = refuse(job) else {
                preceding += 1;
                return true;
            };
            let outcome = outcome.with_snapshot(job);
            plan.excluded.push(ExcludedJob { outcome, preceding });
            false
        });
        plan.jobs = jobs;
        for entry in &misplaced {
            plan.exclude(misplaced_outcome(entry));
        }
        note_misplaced(&misplaced, session);
        Ok(plan)
    }

    /// Makes a plan of the jobs of a file. The other jobs of the file are excluded with these outcomes.
    pub(crate) fn from_file(
        options: BulkOptions,
        jobs: Vec<JobSnapshot>,
        excluded: Vec<JobOutcome>,
    ) -> BulkPlan {
        let mut plan = BulkPlan::new(options, TargetSource::File);
        for outcome in excluded {
            plan.exclude(outcome);
        }
        for job in jobs {
            if !plan.skip_if_done(&job.jid) {
                plan.jobs.push(job);
            }
        }
        plan
    }

    /// Excludes the jobs that the calls of a dry run refuse. `dry_change` gives one outcome for each job, in order.
    pub(crate) fn exclude_refused(
        &mut self,
        session: &mut Session,
        mut dry_change: impl FnMut(&mut Core, Moment, &[JobSnapshot]) -> SliceOutcome,
    ) -> Result<(), Error> {
        let jobs = std::mem::take(&mut self.jobs);
        let mut progress = session.ui.start_progress_bar(jobs.len() as u64);
        for slice in jobs.chunks(SLICE) {
            let core = session.core()?;
            let now = core.now();
            let said = dry_change(core, now, slice);
            if let Some(error) = said.stopped_by {
                return Err(error);
            }
            // By position: a job and a recurring job of an archive may share a jid.
            for (job, outcome) in slice.iter().zip(said.outcomes) {
                match outcome.item.result {
                    ItemResult::Done => self.jobs.push(job.clone()),
                    _ => self.exclude(outcome),
                }
            }
            progress.add_done(slice.len() as u64);
        }
        progress.remove_bar();
        Ok(())
    }

    fn new(options: BulkOptions, targeting: TargetSource) -> BulkPlan {
        BulkPlan {
            options,
            targeting,
            excluded: Vec::new(),
            already_done: Vec::new(),
            jobs: Vec::new(),
            cascaded_dependents: Vec::new(),
            running: RunningJobs::default(),
            spread: Duration::ZERO,
            queue_lines: String::new(),
        }
    }

    /// Spreads the starts of the jobs evenly over a time, if the flag was given.
    pub(crate) fn spread_starts(self, flag: &SpreadOverTimeFlag) -> BulkPlan {
        BulkPlan {
            spread: flag.spread.unwrap_or_default(),
            ..self
        }
    }

    /// Whether some of the jobs do not exist.
    pub(crate) fn has_missing_jobs(&self) -> bool {
        let mut outcomes = self.excluded.iter().map(|excluded| &excluded.outcome);
        outcomes.any(|outcome| outcome.item.code == OutcomeCode::Gone)
    }

    /// Puts excluded jobs that do not exist back into the plan if `has_trace` finds something left of them to change.
    pub(crate) fn readmit_missing(&mut self, has_trace: impl Fn(&Name) -> bool) {
        for excluded in std::mem::take(&mut self.excluded) {
            let item = &excluded.outcome.item;
            if item.code == OutcomeCode::Gone && has_trace(&item.jid) {
                self.jobs.push(JobSnapshot {
                    jid: excluded.outcome.item.jid,
                    ..JobSnapshot::default()
                })
            } else {
                self.excluded.push(excluded)
            }
        }
    }

    /// Reduces the plan to jids whose job does not exist, so that leftover entries about them can be removed.
    pub(crate) fn keep_only_nonexistent(&mut self) {
        self.jobs.clear();
        self.readmit_missing(|_| true);
    }

    pub(super) fn exclude(&mut self, outcome: JobOutcome) {
        let preceding = self.jobs.len();
        self.excluded.push(ExcludedJob { outcome, preceding });
    }

    /// Whether an earlier run with this report file has done the job. Such a job is added to `already_done`.
    fn skip_if_done(&mut self, jid: &Name) -> bool {
        let done = self.options.already_done.contains(jid);
        if let (true, Some(ledger)) = (done, &self.options.ledger) {
            let mut item = BulkItem::new(jid, OutcomeCode::Ok);
            item.result = ItemResult::Skipped;
            let why = format!("done already, as `{}` tells", ledger.display_path());
            self.already_done.push(item.with_detail(why).into());
        }
        done
    }

    /// Asks for consent to change selected jobs, and in a protected context several named ones; a dry run prints the
    /// plan instead. A single named job needs no question. `more` is shown below the jobs.
    pub(super) fn ask_consent_or_print_plan(
        &self,
        session: &mut Session,
        more: &str,
    ) -> Result<(), Error> {
        if !self.needs_consent_or_printed_plan(session) {
            return Ok(());
        }
        let verb = self.options.verb.infinitive;
        let jobs = self.describe_count_and_state(self.jobs.len());
        let what = format!("{verb} {jobs} on {}", session.server_label_and_address()?);
        let details =
            |render_options: &RenderOptions| self.question_table_and_effects(render_options, more);
        if self.is_dry_run() {
            session.ui.print_dry_run_plan(&what, details)
        } else {
            _ = session.ui.confirm(&what, details)?
        }
        Ok(())
    }

    fn needs_consent_or_printed_plan(&self, session: &Session) -> bool {
        let asks = match self.targeting {
            TargetSource::OneJid => false,
            TargetSource::Jids | TargetSource::File => {
                self.is_dry_run() || session.ui.is_protected()
            }
            TargetSource::Selector => true,
        };
        asks && !self.jobs.is_empty()
    }

    /// Adds a line about a queue that does not exist yet to the question, or prints it as a note if no question is
    /// asked. With `--existing-queue`, refuses the queue.
    pub(crate) fn note_or_refuse_new_queue(
        mut self,
        queue: Option<&Name>,
        flag: RequireExistingQueueFlag,
        session: &mut Session,
    ) -> Result<BulkPlan, Error> {
        let now = session.now();
        let queues = queue.map_or(&[][..], std::slice::from_ref);
        let questions = session.ui.needs_question() && session.ui.can_ask();
        if !self.needs_consent_or_printed_plan(session) || !(self.is_dry_run() || questions) {
            new_queues::note_or_refuse_new_queues(queues, flag, self.is_dry_run(), now, session)?;
            return Ok(self);
        }
        let lines = new_queues::describe_or_refuse_new_queues(queues, flag, true, now, session)?;
        self.queue_lines = lines.iter().map(|line| format!("  {line}\n")).collect();
        Ok(self)
    }

    /// `1,204 failed jobs`; without the state if the jobs are in several.
    pub(super) fn describe_count_and_state(&self, count: usize) -> String {
        let state = self.jobs.first().map(|job| &job.state);
        let state = state.filter(|state| self.jobs.iter().all(|job| job.state == **state));
        let state = state.and_then(|state| state.as_str()).unwrap_or_default();
        match state {
            // Write "jobs", not "depends jobs", which would not be English.
            "" | "depends" => format_count(count as u64, "job", "jobs"),
            state => {
                let (one, many) = (format!("{state} job"), format!("{state} jobs"));
                format_count(count as u64, &one, &many)
            }
        }
    }

    /// The jobs by queue and state, and the further effects of the plan.
    pub(super) fn question_table_and_effects(
        &self,
        render_options: &RenderOptions,
        more: &str,
    ) -> String {
        let mut details = plan_by_queue_and_state(
            self.jobs.iter().chain(&self.cascaded_dependents),
            render_options,
        );
        details.push_str(&self.running.question_lines(render_options));
        details.push_str(more);
        let mut pace = Vec::new();
        if !self.spread.is_zero() {
            let time = format_duration(self.spread.as_secs_f64());
            pace.push(format!("  they run one after the other, over {time}\n"));
        }
        if let Some(rate) = self.options.rate {
            pace.push(format!("  at most {rate}\n"));
        }
        if more.is_empty() && !pace.is_empty() {
            details.push('\n');
        }
        details.extend(pace);
        details
    }

    pub(super) fn is_for_one_jid(&self) -> bool {
        self.targeting == TargetSource::OneJid
    }

    /// Whether no job is left to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }

    /// The note that each changed job gets in its history.
    pub(crate) fn history_note(&self) -> Vec<u8> {
        self.options.note.clone()
    }

    /// If only one job was named and it is excluded, fails with its refusal.
    pub(crate) fn refuse_single_excluded(&self) -> Result<(), Error> {
        match self.excluded.first() {
            Some(ExcludedJob { outcome, .. }) if self.is_for_one_jid() => {
                Err(outcome.to_error(self.options.verb.infinitive))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a note for each of the first misplaced entries, and how many more there are.
fn note_misplaced(misplaced: &[MisplacedFailureEntry], session: &mut Session) {
    for entry in misplaced.iter().take(NAMED_ENTRIES) {
        let why = misplaced_reason(entry);
        session.ui.note(&format!("note: {why}: `{}`", entry.jid));
    }
    if misplaced.len() > NAMED_ENTRIES {
        let more = misplaced.len() - NAMED_ENTRIES;
        session
            .ui
            .note(&format!("note: and {more} more that do not belong there"));
    }
    if !misplaced.is_empty() {
        session
            .ui
            .hint("`qless check` finds what else is inconsistent");
    }
}

fn misplaced_outcome(entry: &MisplacedFailureEntry) -> JobOutcome {
    let code = match &entry.job {
        None => OutcomeCode::Gone,
        Some(_) => OutcomeCode::StateChanged,
    };
    let outcome = JobOutcome::refused(&entry.jid, code, misplaced_reason(entry));
    match &entry.job {
        Some(job) => outcome.with_snapshot(&JobSnapshot::from_job(
            job.clone(),
            &mut FieldInterner::default(),
        )),
        None => outcome,
    }
}

/// Why an entry does not belong in its failure list.
fn misplaced_reason(entry: &MisplacedFailureEntry) -> String {
    let group = &entry.group;
    match &entry.job {
        None => format!("in the list of `{group}`, but it does not exist"),
        Some(Job {
            state: Some(State::Failed),
            ..
        }) => format!("in the list of `{group}`, but it failed in another group"),
        Some(job) => {
            let state = job
                .state
                .as_ref()
                .map_or("in no known state", State::into_str);
            format!("in the list of `{group}`, but it is {state}")
        }
    }
}
