//! The plan: the jobs to change, the jobs that are excluded, and the question before the action.

use std::collections::HashSet;
use std::time::Duration;

use super::cancel::RunningJobsWithWorkers;
use super::ledger::{Ledger, LedgerHead};
use super::new_queues;
use super::restart::RestartWatch;
use super::{JobOutcome, SLICE};
use crate::args::format::Format;
use crate::args::shared::{BulkFlags, JobTargets, RequireExistingQueueFlag, Selector};
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::api::job::JOBS_PER_READ;
use crate::core::call::Core;
use crate::error::Error;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::bulk::report::plan_by_queue_and_state;
use crate::model::bulk::{BulkReport, ItemResult, JobSnapshot, OutcomeCode, OutcomeDetail, Verb};
use crate::model::jid_list;
use crate::model::job::State;
use crate::name::Name;
use crate::select;
use crate::session::{Session, actor};
use crate::text::{format_count, format_duration};
use crate::view::RenderOptions;

/// Maximum length of a note in the core, in bytes.
const LONGEST_NOTE: usize = 4096;

/// Maximum number of misplaced entries of failure lists that notes name one by one.
const NAMED_ENTRIES: usize = 10;

/// A verb, the jobs that it may change, and the outcomes of the others.
#[derive(Debug)]
pub(crate) struct BulkPlan {
    pub(super) verb: &'static Verb,
    pub(crate) flags: BulkFlags,
    /// The note that each changed job gets in its history.
    pub(crate) note: Vec<u8>,
    /// The file of `--report`.
    pub(super) ledger: Option<Ledger>,
    /// The jobs that an earlier run with the same report has done.
    done_by_earlier_runs: HashSet<Name>,
    pub(super) targeting: TargetSource,
    pub(super) excluded: Vec<JobOutcome>,
    /// The number of jobs of the plan before the first excluded job that counts as failed, in the order given.
    pub(super) jobs_before_first_failure: Option<usize>,
    /// The outcomes of given jobs that an earlier run has done.
    pub(super) already_done: Vec<JobOutcome>,
    pub(crate) jobs: Vec<JobSnapshot>,
    /// The dependents that would be cancelled with the jobs. The plan has them only for a dry run or a question.
    pub(super) cascaded_dependents: Vec<JobSnapshot>,
    /// On which workers the jobs run, if the action shows that.
    pub(super) running: RunningJobsWithWorkers,
    /// The time over which the jobs are to run.
    pub(crate) spread: Duration,
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
    /// A plan without jobs. Validates the flags, and reads the report of an earlier run. Needs no connection.
    pub(crate) fn without_jobs(
        session: &Session,
        verb: &'static Verb,
        flags: &BulkFlags,
    ) -> Result<BulkPlan, Error> {
        session.ui.require_format(if verb.raw {
            &[Format::Jid, Format::Raw]
        } else {
            &[Format::Jid]
        })?;
        let reason = flags.reason.as_ref();
        let note = actor::history_note(verb.word, reason);
        if note.len() > LONGEST_NOTE {
            let reason_length = reason.map_or(0, |reason| reason.as_bytes().len());
            let max_bytes = LONGEST_NOTE - (note.len() - reason_length);
            return Err(Error::usage(format!(
                "`--reason` is too long; the maximum is {max_bytes} bytes"
            )));
        }
        let mut done_by_earlier_runs = HashSet::new();
        let ledger = match &flags.report {
            Some(path) => {
                let head = LedgerHead::new("report", session)?;
                let take =
                    |line: &[u8]| jid_if_done(line).map(|jid| done_by_earlier_runs.extend(jid));
                Some(Ledger::open(
                    &session.member_file_path(path),
                    head,
                    flags.dry_run,
                    take,
                )?)
            }
            None => None,
        };
        Ok(BulkPlan {
            verb,
            flags: flags.clone(),
            note,
            ledger,
            done_by_earlier_runs,
            targeting: TargetSource::Jids,
            excluded: Vec::new(),
            jobs_before_first_failure: None,
            already_done: Vec::new(),
            jobs: Vec::new(),
            cascaded_dependents: Vec::new(),
            running: RunningJobsWithWorkers::default(),
            spread: Duration::ZERO,
        })
    }

    /// Connects to the server, and plans an action for the jobs that are named or selected. A job that `refuse` refuses
    /// is excluded. A selector without a state means jobs in one of `default_states`.
    pub(crate) fn of_targets(
        session: &mut Session,
        verb: &'static Verb,
        flags: &BulkFlags,
        targets: &JobTargets,
        default_states: &[State],
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<BulkPlan, Error> {
        targets.require_either_jids_or_selector()?;
        let mut plan = BulkPlan::without_jobs(session, verb, flags)?;
        let given = jids::read_jids(&mut session.input(), &targets.jids)?;
        plan.add_targets(session, targets, &given, default_states, refuse)?;
        Ok(plan)
    }

    /// Adds the jobs that are named or selected to this plan, as [`BulkPlan::of_targets`] does. The jids were read
    /// already, and the caller has checked that jids or a selector are given.
    pub(crate) fn add_targets(
        &mut self,
        session: &mut Session,
        targets: &JobTargets,
        given: &GivenJids,
        default_states: &[State],
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<(), Error> {
        let selector = targets.selector.with_default_states(default_states)?;
        let now = session.connect()?;
        if targets.jids.is_empty() {
            self.add_selected_jobs(session, now, &selector, refuse)
        } else {
            self.add_named_jobs(session, now, given, refuse)
        }
    }

    pub(crate) fn add_named_jobs(
        &mut self,
        session: &mut Session,
        now: Moment,
        given: &GivenJids,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<(), Error> {
        session.ui.check_columns::<BulkReport>()?;
        self.targeting = match given {
            GivenJids::One(_) => TargetSource::OneJid,
            GivenJids::Many(_) => TargetSource::Jids,
        };
        for jids in given.jids().chunks(JOBS_PER_READ) {
            let snapshots = session.core()?.job_snapshots(now, jids)?;
            for (jid, snapshot) in jids.iter().zip(snapshots) {
                match snapshot {
                    _ if self.skip_if_done(jid) => {}
                    None => self.record_excluded(JobOutcome::gone(jid)),
                    Some(job) => match refuse(&job) {
                        None => self.jobs.push(job),
                        Some(outcome) => self.record_excluded(outcome.with_snapshot(&job)),
                    },
                }
            }
        }
        Ok(())
    }

    /// Adds the jobs that a selector selects to a plan without jobs. Misplaced entries of failure lists are excluded and
    /// reported in notes.
    pub(crate) fn add_selected_jobs(
        &mut self,
        session: &mut Session,
        now: Moment,
        selector: &Selector,
        refuse: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<(), Error> {
        session.ui.check_columns::<BulkReport>()?;
        self.targeting = TargetSource::Selector;
        let restarts = RestartWatch::begin_without_support_note(session.core()?)?;
        let (mut jobs, misplaced) = select::read_snapshots(session, now, selector)?;
        restarts.refuse_data_loss_since_listing(&jobs, session.core()?)?;
        // The list is filtered in place: it may hold a million jobs.
        let mut preceding = 0;
        jobs.retain(|job| {
            if self.skip_if_done(&job.jid) {
                return false;
            }
            let Some(outcome) = refuse(job) else {
                preceding += 1;
                return true;
            };
            self.record_excluded_after(preceding, outcome.with_snapshot(job));
            false
        });
        self.jobs = jobs;
        note_misplaced(&misplaced, session);
        for entry in misplaced {
            self.record_excluded(entry);
        }
        Ok(())
    }

    /// Adds the jobs of a file. The other jobs of the file are excluded with these outcomes.
    pub(crate) fn add_jobs_of_file(&mut self, jobs: Vec<JobSnapshot>, excluded: Vec<JobOutcome>) {
        self.targeting = TargetSource::File;
        for outcome in excluded {
            self.record_excluded(outcome);
        }
        for job in jobs {
            if !self.skip_if_done(&job.jid) {
                self.jobs.push(job);
            }
        }
    }

    /// Excludes the jobs that the calls of a dry run refuse. `dry_change` adds one outcome for each job, in order.
    pub(crate) fn exclude_refused(
        &mut self,
        session: &mut Session,
        mut dry_change: impl FnMut(
            &mut Core,
            Moment,
            &[JobSnapshot],
            &mut Vec<JobOutcome>,
        ) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let jobs = std::mem::take(&mut self.jobs);
        let mut progress = session.ui.start_progress_bar(jobs.len() as u64);
        for slice in jobs.chunks(SLICE) {
            let core = session.core()?;
            let now = core.now();
            let mut outcomes = Vec::with_capacity(slice.len());
            dry_change(core, now, slice, &mut outcomes)?;
            // By position: a job and a recurring job of an archive may share a jid.
            for (job, outcome) in slice.iter().zip(outcomes) {
                match outcome.result {
                    ItemResult::Done => self.jobs.push(job.clone()),
                    _ => self.record_excluded(outcome),
                }
            }
            progress.add_done(slice.len() as u64);
        }
        progress.remove_bar();
        Ok(())
    }

    /// Whether an earlier run of the same command began the report.
    pub(crate) fn continues_earlier_report(&self) -> bool {
        self.ledger
            .as_ref()
            .is_some_and(Ledger::continues_earlier_run)
    }

    /// Whether some of the jobs do not exist.
    pub(crate) fn has_missing_jobs(&self) -> bool {
        let mut excluded = self.excluded.iter();
        excluded.any(|outcome| outcome.code == OutcomeCode::Gone)
    }

    /// Puts excluded jobs that do not exist back into the plan if `has_trace` finds something left of them to change.
    pub(crate) fn readmit_missing(&mut self, has_trace: impl Fn(&Name) -> bool) {
        for outcome in std::mem::take(&mut self.excluded) {
            if outcome.code == OutcomeCode::Gone && has_trace(&outcome.jid) {
                self.jobs.push(JobSnapshot {
                    jid: outcome.jid,
                    ..JobSnapshot::default()
                })
            } else {
                self.excluded.push(outcome)
            }
        }
    }

    /// Reduces the plan to jids whose job does not exist, so that leftover entries about them can be removed.
    pub(crate) fn keep_only_nonexistent(&mut self) {
        self.jobs.clear();
        self.readmit_missing(|_| true);
    }

    /// Records the outcome of a job that the plan does not change. The caller leaves the job out of `jobs`.
    pub(super) fn record_excluded(&mut self, outcome: JobOutcome) {
        self.record_excluded_after(self.jobs.len(), outcome);
    }

    /// Records the outcome of such a job, which comes after `preceding` jobs of the plan in the order given.
    fn record_excluded_after(&mut self, preceding: usize, outcome: JobOutcome) {
        if outcome.result == ItemResult::Failed {
            self.jobs_before_first_failure.get_or_insert(preceding);
        }
        self.excluded.push(outcome);
    }

    /// Whether an earlier run with this report file has done the job. Such a job is added to `already_done`.
    fn skip_if_done(&mut self, jid: &Name) -> bool {
        let done = self.done_by_earlier_runs.contains(jid);
        if let (true, Some(ledger)) = (done, &self.ledger) {
            let why = format!("done already, as `{}` tells", ledger.display_path());
            self.already_done.push(JobOutcome {
                result: ItemResult::Skipped,
                ..JobOutcome::refused(jid, OutcomeCode::Ok, why)
            });
        }
        done
    }

    /// Asks for consent to change selected jobs, and in a protected context several named ones; a dry run prints the
    /// plan instead, and the result is `None`. A single named job needs no question. `more` is shown below the jobs.
    pub(crate) fn ask_consent_or_print_plan(
        &self,
        session: &mut Session,
        more: &str,
    ) -> Result<Option<Consent>, Error> {
        if !self.needs_question_or_printed_plan(session) {
            let consent = session.ui.consent_without_question();
            return Ok(Some(consent).filter(|_| !self.is_dry_run()));
        }
        let verb = self.verb.infinitive;
        let jobs = self.describe_count_and_state(self.jobs.len());
        let what = format!("{verb} {jobs} on {}", session.server_label_and_address()?);
        let details =
            |render_options: &RenderOptions| self.question_table_and_effects(render_options, more);
        if self.is_dry_run() {
            session.ui.note_dry_run_plan(&what, details);
            Ok(None)
        } else {
            session.ui.confirm(&what, details).map(Some)
        }
    }

    fn needs_question_or_printed_plan(&self, session: &Session) -> bool {
        let asks = match self.targeting {
            TargetSource::OneJid => false,
            TargetSource::Jids | TargetSource::File => {
                self.is_dry_run() || session.ui.is_protected()
            }
            TargetSource::Selector => true,
        };
        asks && !self.jobs.is_empty()
    }

    /// The lines of the question about a queue that does not exist yet. If no question is asked, prints them as notes
    /// instead. With `--existing-queue`, refuses the queue.
    pub(crate) fn note_or_refuse_new_queue(
        &self,
        queue: Option<&Name>,
        flag: RequireExistingQueueFlag,
        session: &mut Session,
    ) -> Result<String, Error> {
        let now = session.now();
        let queues = queue.map_or(&[][..], std::slice::from_ref);
        let questions = session.ui.needs_question() && session.ui.can_ask();
        if !self.needs_question_or_printed_plan(session) || !(self.is_dry_run() || questions) {
            new_queues::note_or_refuse_new_queues(queues, flag, self.is_dry_run(), now, session)?;
            return Ok(String::new());
        }
        let lines = new_queues::describe_queues_or_refuse_new(queues, flag, true, now, session)?;
        Ok(lines.iter().map(|line| format!("  {line}\n")).collect())
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
        details.push_str(&self.running.count_and_first_running_jobs(render_options));
        details.push_str(more);
        let mut pace = Vec::new();
        if !self.spread.is_zero() {
            let time = format_duration(self.spread.as_secs_f64());
            pace.push(format!("  they run one after the other, over {time}\n"));
        }
        if let Some(rate) = self.flags.rate {
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

    pub(crate) fn is_dry_run(&self) -> bool {
        self.flags.dry_run
    }

    /// If only one job was named and it is excluded, fails with its refusal.
    pub(crate) fn refuse_single_excluded(&self) -> Result<(), Error> {
        match self.excluded.first() {
            Some(outcome) if self.is_for_one_jid() => Err(outcome.to_error(self.verb.infinitive)),
            _ => Ok(()),
        }
    }
}

/// The jid of a line of a report, if the job was done.
fn jid_if_done(line: &[u8]) -> Result<Option<Name>, String> {
    #[derive(serde::Deserialize)]
    struct OutcomeLine {
        result: String,
    }
    let fields: OutcomeLine = match serde_json::from_slice(line) {
        Ok(fields) => fields,
        Err(_) => return Err("this is not the outcome of a job".to_string()),
    };
    if fields.result == ItemResult::Done.into_str() {
        jid_list::read_jid_line(line)
    } else {
        Ok(None)
    }
}

/// Writes a note for each of the first misplaced entries, and how many more there are.
fn note_misplaced(misplaced: &[JobOutcome], session: &mut Session) {
    for JobOutcome { jid, detail, .. } in misplaced.iter().take(NAMED_ENTRIES) {
        let why = detail.as_ref().map(OutcomeDetail::to_string);
        let why = why.unwrap_or_default();
        session.ui.note(&format!("note: {why}: `{jid}`"));
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
