//! The loop: slices, progress, signals, and what is said at the end.

use super::{Fate, Plan, Report, SLICE, Slice};
use crate::core::Core;
use crate::cx::Cx;
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::model::bulk::{Item, Result as Counted, Sum};
use crate::model::moment::Moment;
use crate::model::seen::Seen;
use crate::stop::Stop;

impl Plan {
    /// Changes the jobs, slice by slice. `change` is
    /// given now and answers with what became of each job of a slice,
    /// and of those that went with one.
    pub fn run(
        self,
        cx: &mut Cx,
        mut change: impl FnMut(&mut Core, Moment, &[Seen]) -> Slice,
    ) -> Result<Exit, Error> {
        self.refusal()?;
        let one = self.one();
        let matched = self.refused.len() + self.jobs.len();
        let sum = Sum::of(self.verb.word, self.dry_run, matched);
        let mut report = Report::new(&cx.out, self.verb, one, sum, cx.now());
        for fate in self.refused {
            report.add(&mut cx.out, fate)?;
        }
        if self.dry_run {
            for seen in &self.jobs {
                let fate = Fate::from(Item::planned(&seen.jid)).seen(seen);
                report.add(&mut cx.out, fate)?;
            }
            for fate in self.along {
                report.add(&mut cx.out, fate)?;
            }
            let now = cx.now();
            return report.end(&mut cx.out, now, 0, None);
        }
        let stop = Stop::listen();
        let mut progress = cx.out.progress(self.jobs.len() as u64);
        let mut left = self.jobs.len();
        let mut broke = None;
        for slice in self.jobs.chunks(SLICE) {
            left -= slice.len();
            let core = cx.core()?;
            let now = core.now();
            let mut changed = change(core, now, slice);
            broke = changed.broke.take();
            if let (true, Some(error)) = (one, &broke) {
                return Err(error.clone());
            }
            if let Some(error) = &broke {
                changed.lose(slice, error);
            }
            for fate in changed.fates {
                let refused = matches!(fate.item.result, Counted::Skipped | Counted::Failed);
                if one && refused {
                    return Err(fate.error(self.verb.asks));
                }
                report.add(&mut cx.out, fate)?;
            }
            cx.out.finish()?;
            progress.add(slice.len() as u64);
            if broke.is_none() && left > 0 {
                broke = stop.asked().map(|kind| interrupted(kind, matched, left));
            }
            if broke.is_some() {
                break;
            }
        }
        progress.finish();
        let now = cx.now();
        report.end(&mut cx.out, now, left, broke)
    }
}

fn interrupted(kind: Kind, matched: usize, left: usize) -> Error {
    let done = matched - left;
    Error::new(kind, format!("interrupted after {done} of {matched}"))
        .hint("run the same command again to go on")
}
