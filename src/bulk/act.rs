//! The loop: slices, pace, progress, signals, and what is said at the end.

use std::time::Duration;

use super::pace::Pace;
use super::{BulkRun, JobOutcome, Named, Plan, Refused, Report, SLICE, Slice};
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::model::bulk::{Item, Result as Counted, Sum};
use crate::model::job_snapshot::JobSnapshot;
use crate::session::Session;
use crate::ui::Ui;
use crate::view::json;

impl Plan {
    /// Changes the jobs, slice by slice. `change` is
    /// given now and answers with what became of each job of a slice,
    /// and of those that went with one.
    pub(crate) fn run(
        mut self,
        session: &mut Session,
        change: impl FnMut(&mut Core, Moment, &[JobSnapshot]) -> Slice,
    ) -> Result<Exit, Error> {
        self.refusal()?;
        let one = self.one();
        let matched = self.before.len() + self.refused.len() + self.jobs.len();
        if matched == 0 && self.order.require_match {
            let asks = self.order.verb.asks;
            return Err(Error::not_found(format!("there are no jobs to {asks}")));
        }
        let held_back = self.fail_fast();
        let sum = Sum::of(self.order.verb.word, self.dry_run(), matched);
        let mut told = Told {
            report: Report::new(&session.ui, self.order.verb, one, sum, session.now()),
            order: self.order,
        };
        for fate in std::mem::take(&mut self.before) {
            told.report.add(&mut session.ui, fate)?;
        }
        if told.order.dry_run {
            for Refused { fate, .. } in self.refused {
                told.report.add(&mut session.ui, fate)?;
            }
            for seen in &self.jobs {
                let fate = JobOutcome::from(Item::planned(&seen.jid)).seen(seen);
                told.report.add(&mut session.ui, fate)?;
            }
            for fate in self.cascaded {
                told.report.add(&mut session.ui, fate)?;
            }
            let now = session.now();
            return told.report.end(&mut session.ui, now, held_back, None);
        }
        if let Some(ledger) = &mut told.order.report {
            ledger.begin(session)?;
        }
        for Refused { fate, .. } in self.refused {
            told.add(&mut session.ui, fate)?;
        }
        told.flush()?;
        let jobs = Jobs {
            named: self.named,
            jobs: self.jobs,
            spread: self.spread,
            held_back,
        };
        let (left, broke) = told.act(session, jobs, change)?;
        let now = session.now();
        told.report.end(&mut session.ui, now, left, broke)
    }

    /// Where the first failure ends all, it may be one that is known already: then what was told
    /// after it is left alone. Returns how many that are.
    fn fail_fast(&mut self) -> usize {
        if !self.order.fail_fast {
            return 0;
        }
        let failed = |refused: &Refused| refused.fate.item.result == Counted::Failed;
        let Some(at) = self.refused.iter().position(failed) else {
            return 0;
        };
        let after = self.refused[at].after;
        let rest = self.refused.len() - (at + 1) + self.jobs.len().saturating_sub(after);
        self.refused.truncate(at + 1);
        self.jobs.truncate(after);
        rest
    }
}

/// The jobs that are to be changed.
struct Jobs {
    named: Named,
    jobs: Vec<JobSnapshot>,
    /// Over which time they are to run.
    spread: Duration,
    /// How many more there are, which a failure keeps from being tried.
    held_back: usize,
}

/// Where it is told what became of the jobs.
struct Told {
    report: Report,
    order: BulkRun,
}

impl Told {
    fn add(&mut self, ui: &mut Ui, fate: JobOutcome) -> Result<(), Error> {
        self.note(&fate)?;
        self.report.add(ui, fate)
    }

    /// Notes it in the file alone.
    fn note(&mut self, fate: &JobOutcome) -> Result<(), Error> {
        if let Some(ledger) = &mut self.order.report {
            ledger.line(&json::line(&fate.item).map_err(Error::internal)?);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        match &mut self.order.report {
            Some(ledger) => ledger.flush(),
            None => Ok(()),
        }
    }

    /// Changes the jobs; returns how many were not tried, and what broke the action off.
    fn act(
        &mut self,
        session: &mut Session,
        mut jobs: Jobs,
        mut change: impl FnMut(&mut Core, Moment, &[JobSnapshot]) -> Slice,
    ) -> Result<(usize, Option<Error>), Error> {
        let one = jobs.named == Named::One;
        let all = jobs.jobs.len();
        let matched = all + jobs.held_back;
        let stop = Interrupt::listen();
        let mut pace = Pace::new(self.order.rate);
        // One by one, so that nothing comes after the first failure.
        let size = pace.slice(if self.order.fail_fast { 1 } else { SLICE });
        let mut progress = session.ui.progress(all as u64);
        let mut left = matched;
        let mut broke = None;
        for (at, slice) in jobs.jobs.chunks_mut(size).enumerate() {
            pace.wait(slice.len(), &stop);
            if let Some(kind) = stop.asked() {
                broke = Some(interrupted(kind, matched, left, session));
                break;
            }
            left -= slice.len();
            let core = session.core()?;
            let now = core.now();
            if !jobs.spread.is_zero() {
                for (job, at) in slice.iter_mut().zip(at * size..) {
                    job.later = jobs.spread.mul_f64(at as f64 / all as f64);
                }
            }
            let mut changed = change(core, now, slice);
            broke = changed.broke.take();
            if let Some(error) = &broke {
                changed.lose(slice, error);
            }
            if let (true, Some(error)) = (one, &broke) {
                for fate in &changed.fates {
                    self.note(fate)?;
                }
                self.flush()?;
                return Err(error.clone());
            }
            let mut failed = false;
            for fate in changed.fates {
                failed |= fate.item.result == Counted::Failed;
                let refused = matches!(fate.item.result, Counted::Skipped | Counted::Failed);
                if one && refused {
                    self.note(&fate)?;
                    self.flush()?;
                    return Err(fate.error(self.order.verb.asks));
                }
                self.add(&mut session.ui, fate)?;
            }
            if let Some(replicas) = self.order.replicas
                && broke.is_none()
            {
                broke = session.core()?.wait_for_replicas(replicas).err();
            }
            // First of all: nobody may be there any more to read the rest.
            if let Err(error) = self.flush() {
                broke.get_or_insert(error);
            }
            session.ui.finish()?;
            progress.add(slice.len() as u64);
            if broke.is_some() || (failed && self.order.fail_fast) {
                break;
            }
        }
        progress.finish();
        Ok((left, broke.map(|error| again(error, one, session))))
    }
}

/// What broke an action of many jobs off is no reason to look at one of them.
fn again(error: Error, one: bool, session: &Session) -> Error {
    match (one, error.kind()) {
        (false, Kind::Unknown) => error.hint(go_on(session)),
        _ => error,
    }
}

fn interrupted(kind: Kind, matched: usize, left: usize, session: &Session) -> Error {
    let page = session.ui.page();
    let count = |number: usize| page.count(number as u64);
    let (done, all) = (count(matched - left), count(matched));
    Error::new(kind, format!("interrupted after {done} of {all}")).hint(go_on(session))
}

fn go_on(session: &Session) -> String {
    match session.typed() {
        Some(typed) => format!("run the same command again to go on: `{typed}`"),
        None => "run the same command again to go on".to_string(),
    }
}
