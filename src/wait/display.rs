//! What a terminal shows during a wait: a line for each pending job, or a bar if there are many.

use std::time::Instant;

use super::jobs::AwaitedJobs;
use crate::model::wait::pending_line;
use crate::ui::{LiveLines, Progress, Ui};

/// The number of jobs that have a line of their own on a terminal.
const LINES: usize = 10;

/// What a terminal shows while jobs are pending.
pub(super) enum Display {
    /// A line for each job.
    Lines(Option<LiveLines>),
    Bar(Progress),
}

impl Display {
    pub(super) fn new(ui: &Ui, jobs: usize) -> Display {
        if jobs <= LINES {
            Display::Lines(ui.live_lines())
        } else {
            Display::Bar(ui.progress(jobs as u64))
        }
    }

    pub(super) fn update(&mut self, jobs: &AwaitedJobs, begun: Instant) {
        if let Display::Lines(Some(lines)) = self {
            let elapsed = begun.elapsed().as_secs_f64();
            let texts = jobs.unfinished().map(|at| {
                let item = jobs.item(at);
                pending_line(&item.jid, item.state, elapsed)
            });
            lines.show(&texts.collect::<Vec<String>>());
        }
    }

    /// Prints something about a job whose wait has ended.
    pub(super) fn print<R>(&mut self, print: impl FnOnce() -> R) -> R {
        match self {
            Display::Lines(lines) => {
                if let Some(lines) = lines {
                    lines.clear();
                }
                print()
            }
            Display::Bar(bar) => {
                let printed = bar.suspend(print);
                bar.add(1);
                printed
            }
        }
    }

    pub(super) fn finish(self) {
        match self {
            Display::Lines(Some(mut lines)) => lines.clear(),
            Display::Lines(None) => {}
            Display::Bar(bar) => bar.finish(),
        }
    }
}
