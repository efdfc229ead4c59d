//! Changes of many jobs, in these steps: list, plan, confirm, change, report.
//!
//! A command reads its jobs and makes a [`BulkPlan`] of those that it may change. A job that it may not change is
//! an error if only one job was named, else an item of the report. [`BulkPlan::ask_consent_or_print_plan`] gives the
//! consent that [`BulkPlan::change_in_slices`] requires. That changes up to [`SLICE`] jobs at a time, and leaves a job as
//! it is if the job has changed since the command read it.

pub(crate) mod acting_worker;
pub(crate) mod cancel;
pub(crate) mod checksum;
pub(crate) mod lanes;
pub(crate) mod ledger;
pub(crate) mod maxima;
pub(crate) mod new_queues;
pub(crate) mod pace;
mod plan;
pub(crate) mod requeue;
pub(crate) mod restart;
pub(crate) mod save;
pub(crate) mod tally;

use std::collections::HashSet;
use std::mem;

use self::pace::{Pace, interrupted_error, stopped_error};
pub(crate) use self::plan::BulkPlan;
use self::restart::RestartWatch;
use self::tally::BulkTally;
use crate::clock::moment::Moment;
use crate::consent::Consent;
pub(crate) use crate::core::api::job_calls::add_outcomes_of_replies;
use crate::core::call::{Core, blocks_writes};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
pub(crate) use crate::model::bulk::JobOutcome;
use crate::model::bulk::{ItemResult, JobSnapshot, OutcomeCode};
use crate::name::Name;
use crate::session::Session;
use crate::ui::Ui;

/// Maximum number of jobs that are changed between two checks of the clock and of signals.
pub(crate) const SLICE: usize = 200;

impl BulkPlan {
    /// Changes the jobs of the plan slice by slice and reports the outcomes. Without consent, as in a dry run, only lists
    /// the jobs: see [`BulkPlan::ask_consent_or_print_plan`]. `change` makes the calls for the jobs of a slice, which
    /// get the note in their histories. It adds the outcome of each job, and of the dependents that were changed with
    /// them. An error stops the action, and becomes the outcome of each job of the slice that has none. Before each
    /// slice, its time is read again, and signals are checked.
    pub(crate) fn change_in_slices(
        mut self,
        session: &mut Session,
        consent: Option<Consent>,
        mut change: impl FnMut(
            &mut Core,
            Moment,
            &[u8],
            &[JobSnapshot],
            &mut Vec<JobOutcome>,
        ) -> Result<(), Error>,
    ) -> Result<Exit, Error> {
        self.refuse_single_excluded()?;
        let matched = self.already_done.len() + self.excluded.len() + self.jobs.len();
        if matched == 0 && self.flags.require_match {
            let verb = self.verb.infinitive;
            return Err(Error::not_found(format!("there are no jobs to {verb}")));
        }
        let not_tried = self.drop_jobs_after_first_failed();
        let mut tally = BulkTally::new(session, &mut self, matched);
        for outcome in mem::take(&mut self.already_done) {
            tally.count_and_write_if_listed(&mut session.ui, outcome)?;
        }
        if consent.is_none() {
            self.list_planned(&mut tally, &mut session.ui)?;
            return tally.write_totals(&mut session.ui, not_tried, None);
        }
        tally.write_ledger_head_unless_continued(session)?;
        for outcome in mem::take(&mut self.excluded) {
            tally.record_outcome(&mut session.ui, outcome)?;
        }
        // The report file also lists the dependents before they are changed, so that a crash hides no change.
        for job in &self.cascaded_dependents {
            tally.add_to_ledger(&JobOutcome::planned(job))?;
        }
        tally.flush_ledger()?;
        self.spread_jobs_over_time();

        let is_one_jid = self.is_for_one_jid();
        let total = self.jobs.len() + not_tried;
        let interrupt = InterruptFlags::install_handlers_once();
        let mut pace = Pace::new(session.share_of_rate(self.flags.rate));
        // With `--fail-fast`, each call has one job, so that nothing comes after the first failure.
        let size = pace.slice_size(if self.flags.fail_fast { 1 } else { SLICE });
        let mut progress = session.ui.start_progress_bar(self.jobs.len() as u64);
        let mut remaining = total;
        let mut stopped_by = None;
        let mut now = session.now();
        let mut restarts = if is_one_jid || self.jobs.is_empty() {
            None
        } else {
            Some(RestartWatch::begin_noting_unsupported(session)?)
        };
        for slice in self.jobs.chunks(size) {
            pace.wait_before_slice(slice.len(), &interrupt);
            if let Some(kind) = interrupt.error_kind_of_received_signal() {
                let options = session.ui.render_options();
                let error = interrupted_error(kind, total - remaining, total, options);
                stopped_by = Some(error.hint(resume_hint(remaining, session)));
                break;
            }
            // The report file lists the jobs before they are changed, so that a crash hides no change.
            if let Err(error) = tally.write_planned_and_reserve_space(slice) {
                stopped_by = Some(error);
                break;
            }
            remaining -= slice.len();
            let core = session.core()?;
            // The server's clock may be set back, but later jobs must not get earlier times.
            now = now.max(core.now());
            let mut outcomes = Vec::with_capacity(slice.len());
            stopped_by = change(core, now, &self.note, slice, &mut outcomes).err();
            if let Some(error) = &stopped_by {
                add_outcomes_of_failed_call(&mut outcomes, slice, error);
                if is_one_jid {
                    for outcome in &outcomes {
                        tally.add_to_ledger(outcome)?;
                    }
                    tally.flush_ledger()?;
                    return Err(error.clone());
                }
            }
            let failed = self.record_outcomes_and_detect_failure(
                outcomes,
                &mut restarts,
                &mut tally,
                &mut session.ui,
            )?;
            if let Some(restarts) = &mut restarts {
                restarts.check_loss_if_reconnected(session.core()?, tally.changed_count());
            }
            if let Some(replicas) = self.flags.replicas.wait_replicas
                && stopped_by.is_none()
            {
                stopped_by = session.core()?.wait_for_replicas(replicas).err();
            }
            // The file is flushed before stdout: the reader of stdout may have ended.
            if let Err(error) = tally.flush_ledger() {
                stopped_by.get_or_insert(error);
            }
            session.ui.flush_stdout_and_wait_for_pager()?;
            if let Some(lost) = session.ui.lost_output_error() {
                stopped_by.get_or_insert(lost.hint(resume_hint(remaining, session)));
            }
            progress.add_done(slice.len() as u64);
            if stopped_by.is_some() || (failed && self.flags.fail_fast) {
                break;
            }
        }
        progress.remove_bar();
        if let Some(restarts) = restarts {
            let again = resume_hint(remaining, session);
            stopped_by =
                restarts.check_loss_at_end(stopped_by, tally.changed_count(), again, session)?;
        }
        let done = tally.changed_count();
        let stopped_by = stopped_by.map(|error| match error.kind() {
            // The hint of the error, to inspect the job, helps only with a single job.
            Kind::OutcomeUnknown if !is_one_jid => error.hint(resume_hint(remaining, session)),
            _ if done > 0 && blocks_writes(&error) => {
                let stopped = stopped_error(error, done, total, session.ui.render_options());
                stopped.further_hint(&resume_hint(remaining, session))
            }
            _ => error,
        });
        tally.write_totals(&mut session.ui, remaining, stopped_by)
    }

    /// Spreads the starts of the jobs evenly over the time of `--spread`.
    fn spread_jobs_over_time(&mut self) {
        let count = self.jobs.len() as f64;
        for (index, job) in self.jobs.iter_mut().enumerate() {
            job.later = self.spread.mul_f64(index as f64 / count);
        }
    }

    /// Records the outcomes of a slice. Returns whether a job failed. The refusal of a single named job is an error.
    fn record_outcomes_and_detect_failure(
        &self,
        outcomes: Vec<JobOutcome>,
        restarts: &mut Option<RestartWatch>,
        tally: &mut BulkTally,
        ui: &mut Ui,
    ) -> Result<bool, Error> {
        let mut failed = false;
        for outcome in outcomes {
            let result = outcome.result;
            failed |= result == ItemResult::Failed;
            if outcome.code == OutcomeCode::Gone && !outcome.cascaded {
                tally.vanished += 1;
            }
            let refused = matches!(result, ItemResult::Skipped | ItemResult::Failed);
            if self.is_for_one_jid() && refused {
                tally.add_to_ledger(&outcome)?;
                tally.flush_ledger()?;
                return Err(outcome.to_error(self.verb.infinitive));
            }
            // Remember only jobs that still exist. A job without a state after the change was deleted, so it
            // cannot be lost.
            if let (Some(restarts), Some(_), ItemResult::Done) =
                (&mut *restarts, &outcome.state_after, result)
            {
                restarts.remember_put(outcome.jid.as_bytes());
            }
            tally.record_outcome(ui, outcome)?;
        }
        Ok(failed)
    }

    /// Lists what the plan would change, and the jobs that it leaves out.
    fn list_planned(self, tally: &mut BulkTally, ui: &mut Ui) -> Result<(), Error> {
        for outcome in self.excluded {
            tally.count_and_write_if_listed(ui, outcome)?;
        }
        for job in &self.jobs {
            let outcome = self.running.add_run_details(JobOutcome::planned(job));
            tally.count_and_write_if_listed(ui, outcome)?;
        }
        for job in &self.cascaded_dependents {
            let outcome = JobOutcome {
                cascaded: true,
                ..JobOutcome::planned(job)
            };
            tally.count_and_write_if_listed(ui, outcome)?;
        }
        Ok(())
    }

    /// With `--fail-fast`, drops the jobs that come after the first one known to fail. Returns how
    /// many are dropped.
    fn drop_jobs_after_first_failed(&mut self) -> usize {
        let Some(preceding) = self
            .jobs_before_first_failure
            .filter(|_| self.flags.fail_fast)
        else {
            return 0;
        };
        let is_failed = |outcome: &JobOutcome| outcome.result == ItemResult::Failed;
        let kept = (self.excluded.iter().position(is_failed)).map_or(0, |at| at + 1);
        let rest = self.excluded.len() - kept + self.jobs.len().saturating_sub(preceding);
        self.excluded.truncate(kept);
        self.jobs.truncate(preceding);
        rest
    }
}

/// Adds the outcome of each job of a slice that has none, because a call failed.
fn add_outcomes_of_failed_call(
    outcomes: &mut Vec<JobOutcome>,
    slice: &[JobSnapshot],
    error: &Error,
) {
    let known: HashSet<Name> = outcomes.iter().map(|outcome| outcome.jid.clone()).collect();
    let missing = slice.iter().filter(|job| !known.contains(&job.jid));
    outcomes.extend(missing.map(|job| JobOutcome::of_failed_call(job, error)));
}

/// How to continue. `--limit` counts from 0 again, so the printed command has the number of remaining jobs.
fn resume_hint(remaining: usize, session: &Session) -> String {
    if !session.canonical_command().has_flag("--limit") {
        return session.resume_hint();
    }
    let line = session.command_replacing_value_unless_secret("--limit", &remaining.to_string());
    match (remaining, line) {
        (0, _) => "look which of these jobs have changed: the same command would take \
                         further jobs, since `--limit` counts from 0 again"
            .to_string(),
        (_, Some(line)) => format!("ask for the {remaining} that are left: `{line}`"),
        (_, None) => format!("run the command again with `--limit {remaining}` to go on"),
    }
}
