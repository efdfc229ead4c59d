//! The display of a wait on a terminal: a line for each pending job, or a bar if there are many.

use std::time::Instant;

use super::jobs::AwaitedJobs;
use crate::model::wait::pending_line;
use crate::ui::{LiveLines, Progress, Ui};

/// Maximum number of jobs that get a line each on a terminal. For more jobs, a bar is shown.
const LINES: usize = 10;

/// What a wait shows on a terminal while jobs are pending.
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
            WaitDisplay::Bar(ui.start_progress_bar(jobs as u64))
        }
    }

    /// Shows a line for each pending job, with its state and how long the wait has lasted. Does nothing if a bar is
    /// shown.
    pub(super) fn show_pending_lines_unless_bar(&mut self, jobs: &AwaitedJobs, begun: Instant) {
        if let WaitDisplay::Lines(Some(lines)) = self {
            let elapsed = begun.elapsed().as_secs_f64();
            let texts = jobs.pending_job_indexes().map(|at| {
                let item = jobs.item_at(at);
                pending_line(&item.jid, item.state, elapsed)
            });
            lines.show_lines(&texts.collect::<Vec<String>>());
        }
    }

    /// Calls `print`, which reports a job whose wait has ended, while the display is hidden. A bar then counts the
    /// job.
    pub(super) fn print_and_count_ended_job<R>(&mut self, print: impl FnOnce() -> R) -> R {
        match self {
            WaitDisplay::Lines(lines) => {
                if let Some(lines) = lines {
                    lines.clear_lines();
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

    pub(super) fn remove_from_screen(self) {
        match self {
            WaitDisplay::Lines(Some(mut lines)) => lines.clear_lines(),
            WaitDisplay::Lines(None) => {}
            WaitDisplay::Bar(bar) => bar.remove_bar(),
        }
    }
}
