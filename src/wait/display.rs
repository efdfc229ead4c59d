//! The display of a wait on a terminal: a line for each pending job, or a bar if there are many.

use std::time::Instant;

use super::jobs::AwaitedJobs;
use crate::model::wait::pending_line;
use crate::ui::{LiveLines, Progress, Ui};

/// The number of jobs that have a line of their own on a terminal.
const LINES: usize = 10;

/// The display on a terminal while jobs are pending.
pub(super) enum WaitDisplay {
    /// A line for each job.
    Lines(Option<LiveLines>),
    Bar(Progress),
}

impl WaitDisplay {
    pub(super) fn new(ui: &Ui, jobs: usize) -> WaitDisplay {
        if jobs <= LINES {
            WaitDisplay::Lines(ui.live_lines())
        } else {
            WaitDisplay::Bar(ui.progress(jobs as u64))
        }
    }

    /// Shows each pending job with its state and how long the wait has lasted, unless a bar stands for many.
    pub(super) fn show_line_per_pending_job(&mut self, jobs: &AwaitedJobs, begun: Instant) {
        if let WaitDisplay::Lines(Some(lines)) = self {
            let elapsed = begun.elapsed().as_secs_f64();
            let texts = jobs.unfinished().map(|at| {
                let item = jobs.item_at(at);
                pending_line(&item.jid, item.state, elapsed)
            });
            lines.show_lines(&texts.collect::<Vec<String>>());
        }
    }

    /// Calls `print`, which writes about a job whose wait has ended, with the display out of its way.
    pub(super) fn print<R>(&mut self, print: impl FnOnce() -> R) -> R {
        match self {
            WaitDisplay::Lines(lines) => {
                if let Some(lines) = lines {
                    lines.clear();
                }
                print()
            }
            WaitDisplay::Bar(bar) => {
                let printed = bar.suspend(print);
                bar.add_done(1);
                printed
            }
        }
    }

    pub(super) fn finish(self) {
        match self {
            WaitDisplay::Lines(Some(mut lines)) => lines.clear(),
            WaitDisplay::Lines(None) => {}
            WaitDisplay::Bar(bar) => bar.finish(),
        }
    }
}
