//! The loop of a bulk action: slices, pace, progress, signals, and the report at the end.

use super::pace::Pace;
use super::plan::ExcludedJob;
use super::restart::RestartWatch;
use super::{BulkOptions, BulkPlan, BulkTally, JobOutcome, SLICE, SliceOutcome};
use crate::clock::moment::Moment;
use crate::core::call::{Core, blocks_writes};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
use crate::model::bulk::{BulkTotals, ItemResult, OutcomeCode};
use crate::model::job_snapshot::JobSnapshot;
use crate::session::Session;
use crate::ui::Ui;
use crate::view::json;

impl BulkPlan {
    /// Changes the jobs of the plan slice by slice, or only lists them in a dry run, and reports the outcomes.
    /// `change` takes the jobs of a slice and returns the outcome of each, and of the dependents that were changed
    /// with them.
    pub(crate) fn run_in_slices(
        mut self,
        session: &mut Session,
        change: impl FnMut(&mut Core, Moment, &[JobSnapshot]) -> SliceOutcome,
    ) -> Result<Exit, Error> {
        self.refuse_single_excluded()?;
        let targeting = self.targeting;
        let matched = self.already_done.len() + self.excluded.len() + self.jobs.len();
        if matched == 0 && self.options.require_match {
            let verb = self.options.verb.infinitive;
            return Err(Error::not_found(format!("there are no jobs to {verb}")));
        }
        let not_tried = self.drop_and_count_after_known_failure();
        let totals = BulkTotals::new(self.options.verb.word, self.is_dry_run(), matched);
        let mut recorder = OutcomeRecorder {
            tally: BulkTally::new(
                &session.ui,
                self.options.verb,
                targeting,
                totals,
                session.clock().start_stopwatch(),
            ),
            options: self.options,
        };
        for outcome in std::mem::take(&mut self.already_done) {
            recorder
                .tally
                .count_and_write_if_listed(&mut session.ui, outcome)?;
        }
        if recorder.options.dry_run {
            for ExcludedJob { outcome, .. } in self.excluded {
                recorder
                    .tally
                    .count_and_write_if_listed(&mut session.ui, outcome)?;
            }
            for job in &self.jobs {
                let outcome = self.running.add_run_details(JobOutcome::planned(job));
                recorder
                    .tally
                    .count_and_write_if_listed(&mut session.ui, outcome)?;
            }
            for job in &self.cascaded_dependents {
                let outcome = JobOutcome::planned(job).mark_cascaded();
                recorder
                    .tally
                    .count_and_write_if_listed(&mut session.ui, outcome)?;
            }
            return recorder
                .tally
                .write_totals(&mut session.ui, not_tried, None);
        }
        if let Some(ledger) = &mut recorder.options.ledger {
            ledger.write_head_or_note_server_restart(session)?;
        }
        for ExcludedJob { outcome, .. } in self.excluded {
            recorder.record_outcome(&mut session.ui, outcome)?;
        }
        // The report file also lists the dependents before they are changed, so that a crash hides no change.
        for job in &self.cascaded_dependents {
            recorder.add_to_ledger(&JobOutcome::planned(job))?;
        }
        recorder.flush_ledger()?;
        let count = self.jobs.len() as f64;
        for (index, job) in self.jobs.iter_mut().enumerate() {
            job.later = self.spread.mul_f64(index as f64 / count);
        }
        let (remaining, stopped_by) =
            recorder.change_and_count_untried(session, &self.jobs, not_tried, change)?;
        recorder
            .tally
            .write_totals(&mut session.ui, remaining, stopped_by)
    }

    /// With `--fail-fast`, drops the jobs that come after the first one known to fail. Returns how
    /// many are dropped.
    fn drop_and_count_after_known_failure(&mut self) -> usize {
        if !self.options.fail_fast {
            return 0;
        }
        let failed = |excluded: &ExcludedJob| excluded.outcome.item.result == ItemResult::Failed;
        let Some(at) = self.excluded.iter().position(failed) else {
            return 0;
        };
        let preceding = self.excluded[at].preceding;
        let rest = self.excluded.len() - (at + 1) + self.jobs.len().saturating_sub(preceding);
        self.excluded.truncate(at + 1);
        self.jobs.truncate(preceding);
        rest
    }
}

/// Records outcomes: in the report file first, then on the streams.
struct OutcomeRecorder {
    tally: BulkTally,
    options: BulkOptions,
}

impl OutcomeRecorder {
    fn record_outcome(&mut self, ui: &mut Ui, outcome: JobOutcome) -> Result<(), Error> {
        self.add_to_ledger(&outcome)?;
        self.tally.count_and_write_if_listed(ui, outcome)
    }

    /// Records the outcome in the file only.
    fn add_to_ledger(&mut self, outcome: &JobOutcome) -> Result<(), Error> {
        if let Some(ledger) = &mut self.options.ledger {
            ledger.add_line(&json::compact_line(&outcome.item).map_err(Error::internal)?);
        }
        Ok(())
    }

    /// Writes the jobs that are about to be changed to the report file, and reserves disk space for their outcomes.
    fn write_planned_and_reserve_space(&mut self, jobs: &[JobSnapshot]) -> Result<(), Error> {
        for job in jobs {
            self.add_to_ledger(&JobOutcome::planned(job))?;
        }
        match &mut self.options.ledger {
            Some(ledger) => ledger.flush_and_reserve_space(),
            None => Ok(()),
        }
    }

    fn flush_ledger(&mut self) -> Result<(), Error> {
        match &mut self.options.ledger {
            Some(ledger) => ledger.flush(),
            None => Ok(()),
        }
    }

    /// Changes the jobs. Returns how many were not tried, and the error that stopped the action. `not_tried` counts
    /// further jobs that are not among `jobs`, because an earlier job failed.
    fn change_and_count_untried(
        &mut self,
        session: &mut Session,
        jobs: &[JobSnapshot],
        not_tried: usize,
        mut change: impl FnMut(&mut Core, Moment, &[JobSnapshot]) -> SliceOutcome,
    ) -> Result<(usize, Option<Error>), Error> {
        let is_one_jid = self.tally.is_for_one_jid();
        let matched = jobs.len() + not_tried;
        let interrupt = InterruptFlags::install_handlers_once();
        let mut pace = Pace::new(session.share_of_rate(self.options.rate));
        // With `--fail-fast`, each call has one job, so that nothing comes after the first failure.
        let size = pace.slice_size(if self.options.fail_fast { 1 } else { SLICE });
        let mut progress = session.ui.start_progress_bar(jobs.len() as u64);
        let mut remaining = matched;
        let mut stopped_by = None;
        let mut restarts = if is_one_jid || jobs.is_empty() {
            None
        } else {
            Some(RestartWatch::begin_noting_unsupported(session)?)
        };
        for slice in jobs.chunks(size) {
            pace.wait_before_slice(slice.len(), &interrupt);
            if let Some(kind) = interrupt.error_kind_of_received_signal() {
                stopped_by = Some(interrupt_error(kind, matched, remaining, session));
                break;
            }
            // The report file lists the jobs before they are changed, so that a crash hides no change.
            if let Err(error) = self.write_planned_and_reserve_space(slice) {
                stopped_by = Some(error);
                break;
            }
            remaining -= slice.len();
            let core = session.core()?;
            let now = core.now();
            let mut changed = change(core, now, slice);
            stopped_by = changed.stopped_by.take();
            if let Some(error) = &stopped_by {
                changed.add_missing_outcomes(slice, error);
            }
            if let (true, Some(error)) = (is_one_jid, &stopped_by) {
                for outcome in &changed.outcomes {
                    self.add_to_ledger(outcome)?;
                }
                self.flush_ledger()?;
                return Err(error.clone());
            }
            let mut failed = false;
            for outcome in changed.outcomes {
                let result = outcome.item.result;
                failed |= result == ItemResult::Failed;
                if outcome.item.code == OutcomeCode::Gone && !outcome.cascaded {
                    self.tally.count_vanished_given_job();
                }
                let refused = matches!(result, ItemResult::Skipped | ItemResult::Failed);
                if is_one_jid && refused {
                    self.add_to_ledger(&outcome)?;
                    self.flush_ledger()?;
                    return Err(outcome.to_error(self.options.verb.infinitive));
                }
                // Remember only jobs that still exist. A job without a state after the change was deleted, so it
                // cannot be lost.
                if let (Some(restarts), Some(_), ItemResult::Done) =
                    (&mut restarts, &outcome.item.state_after, result)
                {
                    restarts.remember_put(outcome.item.jid.as_bytes());
                }
                self.record_outcome(&mut session.ui, outcome)?;
            }
            if let Some(restarts) = &mut restarts {
                restarts.check_loss_if_reconnected(session.core()?, self.tally.done_count());
            }
            if let Some(replicas) = self.options.replicas
                && stopped_by.is_none()
            {
                stopped_by = session.core()?.wait_for_replicas(replicas).err();
            }
            // The file is flushed before stdout: the reader of stdout may have ended.
            if let Err(error) = self.flush_ledger() {
                stopped_by.get_or_insert(error);
            }
            session.ui.flush_stdout_and_wait_for_pager()?;
            if let Some(lost) = session.ui.lost_output_error() {
                stopped_by.get_or_insert(lost.hint(resume_hint(remaining, session)));
            }
            progress.add_done(slice.len() as u64);
            if stopped_by.is_some() || (failed && self.options.fail_fast) {
                break;
            }
        }
        progress.remove_bar();
        if let Some(restarts) = restarts {
            let again = resume_hint(remaining, session);
            stopped_by =
                restarts.check_loss_at_end(stopped_by, self.tally.done_count(), again, session)?;
        }
        let done = self.tally.done_count();
        let stopped_by = stopped_by.map(|error| match error.kind() {
            // The hint of the error, to inspect the job, helps only with a single job.
            Kind::OutcomeUnknown if !is_one_jid => error.hint(resume_hint(remaining, session)),
            _ if done > 0 && blocks_writes(&error) => {
                let render_options = session.ui.render_options();
                let (done, all) = (
                    render_options.count(done as u64),
                    render_options.count(matched as u64),
                );
                let stopped = error.stopped_after(&done, &all);
                stopped.further_hint(&resume_hint(remaining, session))
            }
            _ => error,
        });
        Ok((remaining, stopped_by))
    }
}

fn interrupt_error(kind: Kind, matched: usize, remaining: usize, session: &Session) -> Error {
    let render_options = session.ui.render_options();
    let count = |number: usize| render_options.count(number as u64);
    let (done, all) = (count(matched - remaining), count(matched));
    Error::new(kind, format!("interrupted after {done} of {all}"))
        .hint(resume_hint(remaining, session))
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
