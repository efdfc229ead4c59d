//! The loop: slices, pace, progress, signals, and what is said at the end.

use std::time::Duration;

use super::pace::Pace;
use super::{Fate, Named, Order, Plan, Refused, Report, SLICE, Slice};
use crate::core::Core;
use crate::cx::Cx;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::bulk::{Item, Result as Counted, Sum};
use crate::model::moment::Moment;
use crate::model::seen::Seen;
use crate::out::Out;
use crate::stop::Stop;
use crate::view::json;

impl Plan {
    /// Changes the jobs, slice by slice. `change` is
    /// given now and answers with what became of each job of a slice,
    /// and of those that went with one.
    pub fn run(
        mut self,
        cx: &mut Cx,
        change: impl FnMut(&mut Core, Moment, &[Seen]) -> Slice,
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
            report: Report::new(&cx.out, self.order.verb, one, sum, cx.now()),
            order: self.order,
        };
        for fate in std::mem::take(&mut self.before) {
            told.report.add(&mut cx.out, fate)?;
        }
        if told.order.dry_run {
            for Refused { fate, .. } in self.refused {
                told.report.add(&mut cx.out, fate)?;
            }
            for seen in &self.jobs {
                let fate = Fate::from(Item::planned(&seen.jid)).seen(seen);
                told.report.add(&mut cx.out, fate)?;
            }
            for fate in self.along {
                told.report.add(&mut cx.out, fate)?;
            }
            let now = cx.now();
            return told.report.end(&mut cx.out, now, held_back, None);
        }
        if let Some(ledger) = &mut told.order.report {
            ledger.begin(cx)?;
        }
        for Refused { fate, .. } in self.refused {
            told.add(&mut cx.out, fate)?;
        }
        told.flush()?;
        let jobs = Jobs {
            named: self.named,
            jobs: self.jobs,
            spread: self.spread,
            held_back,
        };
        let (left, broke) = told.act(cx, jobs, change)?;
        let now = cx.now();
        told.report.end(&mut cx.out, now, left, broke)
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
    jobs: Vec<Seen>,
    /// Over which time they are to run.
    spread: Duration,
    /// How many more there are, which a failure keeps from being tried.
    held_back: usize,
}

/// Where it is told what became of the jobs.
struct Told {
    report: Report,
    order: Order,
}

impl Told {
    fn add(&mut self, out: &mut Out, fate: Fate) -> Result<(), Error> {
        self.note(&fate)?;
        self.report.add(out, fate)
    }

    /// Notes it in the file alone.
    fn note(&mut self, fate: &Fate) -> Result<(), Error> {
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
        cx: &mut Cx,
        mut jobs: Jobs,
        mut change: impl FnMut(&mut Core, Moment, &[Seen]) -> Slice,
    ) -> Result<(usize, Option<Error>), Error> {
        let one = jobs.named == Named::One;
        let all = jobs.jobs.len();
        let matched = all + jobs.held_back;
        let stop = Stop::listen();
        let mut pace = Pace::new(self.order.rate);
        // One by one, so that nothing comes after the first failure.
        let size = pace.slice(if self.order.fail_fast { 1 } else { SLICE });
        let mut progress = cx.out.progress(all as u64);
        let mut left = matched;
        let mut broke = None;
        for (at, slice) in jobs.jobs.chunks_mut(size).enumerate() {
            pace.wait(slice.len(), &stop);
            if let Some(kind) = stop.asked() {
                broke = Some(interrupted(kind, matched, left, cx));
                break;
            }
            left -= slice.len();
            let core = cx.core()?;
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
                self.add(&mut cx.out, fate)?;
            }
            if let Some(replicas) = self.order.replicas
                && broke.is_none()
            {
                broke = cx.core()?.replicated(replicas).err();
            }
            // First of all: nobody may be there any more to read the rest.
            if let Err(error) = self.flush() {
                broke.get_or_insert(error);
            }
            cx.out.finish()?;
            progress.add(slice.len() as u64);
            if broke.is_some() || (failed && self.order.fail_fast) {
                break;
            }
        }
        progress.finish();
        Ok((left, broke.map(|error| again(error, one, cx))))
    }
}

/// What broke an action of many jobs off is no reason to look at one of them.
fn again(error: Error, one: bool, cx: &Cx) -> Error {
    match (one, error.kind()) {
        (false, Kind::Unknown) => error.hint(go_on(cx)),
        _ => error,
    }
}

fn interrupted(kind: Kind, matched: usize, left: usize, cx: &Cx) -> Error {
    let page = cx.out.page();
    let count = |number: usize| page.count(number as u64);
    let (done, all) = (count(matched - left), count(matched));
    Error::new(kind, format!("interrupted after {done} of {all}")).hint(go_on(cx))
}

fn go_on(cx: &Cx) -> String {
    match cx.typed() {
        Some(typed) => format!("run the same command again to go on: `{typed}`"),
        None => "run the same command again to go on".to_string(),
    }
}
