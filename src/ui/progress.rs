//! What long work, such as changes of many jobs, shows on an interactive stderr while it goes on: a progress bar, or
//! lines that change in place.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{Ui, is_stderr_interactive, should_color};
use crate::args::format::DisplayWhen;
use crate::text::format_duration;

/// Counts finished jobs, and shows them as a bar on an interactive terminal. It appears after half a second: short work
/// gets no bar.
pub(crate) struct Progress {
    shown: bool,
    color: bool,
    started: Instant,
    total: u64,
    done: u64,
    /// The name of the task, before the bar.
    title: String,
    /// The text after the full bar, about what the command still does.
    note: String,
    bar: Option<ProgressBar>,
}

/// Lines on a terminal's stderr that change in place, below what has been printed.
pub(crate) struct LiveLines {
    area: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Ui {
    /// Starts a progress bar with a total.
    pub(crate) fn start_progress_bar(&self, total: u64) -> Progress {
        Progress {
            shown: is_stderr_interactive() && !self.quiet && self.member.is_none(),
            color: should_color(DisplayWhen::Auto, std::io::stderr().is_terminal()),
            started: Instant::now(),
            total,
            done: 0,
            title: String::new(),
            note: String::new(),
            bar: None,
        }
    }

    /// Starts lines that change in place. `None` if stderr is not an interactive terminal, or with `--quiet`.
    pub(crate) fn live_lines(&self) -> Option<LiveLines> {
        (is_stderr_interactive() && !self.quiet && self.member.is_none()).then(|| LiveLines {
            area: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            lines: Vec::new(),
        })
    }
}

impl Progress {
    /// Sets a title before the bar, which tells it from the bars before and after it.
    pub(crate) fn with_title(mut self, title: impl Into<String>) -> Progress {
        self.title = title.into() + " ";
        self
    }

    /// Fills the bar and shows `note` after it, about what the command still does.
    pub(crate) fn fill_and_show_pending(&mut self, note: String) {
        self.note = note;
        self.add_done(self.total.saturating_sub(self.done));
    }

    /// Adds to the number of finished jobs.
    pub(crate) fn add_done(&mut self, done: u64) {
        self.done += done;
        // If more jobs are done than the total announced, the total grows.
        self.total = self.total.max(self.done);
        if !self.shown {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > Duration::from_millis(500) {
            self.bar = Some(self.new_bar());
        }
        if let Some(bar) = &self.bar {
            if bar.length() != Some(self.total) {
                bar.set_length(self.total);
            }
            bar.set_position(self.done);
            if !self.note.is_empty() {
                bar.set_message(self.note.clone());
            }
        }
    }

    /// Calls `print` while the bar is hidden, so that the bar does not overwrite the output.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar from the screen.
    pub(crate) fn remove_bar(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn new_bar(&self) -> ProgressBar {
        let bar = if self.color {
            "{bar:27.green}"
        } else {
            "{bar:27}"
        };
        let template =
            format!(" {{prefix}}{bar}  {{human_pos}}/{{human_len}}  {{rate}}  {{left}}{{msg}}");
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            // The rate counts from the start of the work. The bar's own estimate would count from its first
            // drawing.
            .with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
                _ = write!(text, "{:.0}/s", average_rate(state));
            })
            .with_key("left", |state: &ProgressState, text: &mut dyn Write| {
                let left = state.len().unwrap_or(0).saturating_sub(state.pos());
                if left > 0 {
                    let left = format_duration((left as f64 / average_rate(state)).ceil());
                    _ = write!(text, "eta {left}");
                }
            })
            .progress_chars("█░");
        ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr())
            .with_style(style)
            .with_prefix(self.title.clone())
            .with_elapsed(self.started.elapsed())
    }
}

fn average_rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64()
}

impl LiveLines {
    /// Replaces the shown lines by `texts`, which the caller has sanitized.
    pub(crate) fn show_lines(&mut self, texts: &[String]) {
        if self.lines.len() > texts.len() {
            self.clear_lines();
        }
        while self.lines.len() < texts.len() {
            let style = ProgressStyle::with_template("{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            let line = self.area.add(ProgressBar::new_spinner().with_style(style));
            self.lines.push(line);
        }
        for (line, text) in self.lines.iter().zip(texts) {
            if line.message() != *text {
                line.set_message(text.clone());
                line.tick();
            }
        }
    }

    /// Removes the lines from the screen.
    pub(crate) fn clear_lines(&mut self) {
        for line in self.lines.drain(..) {
            self.area.remove(&line);
        }
        // Ignore a failure: a terminal that cannot be written to has nothing to clear.
        _ = self.area.clear();
    }
}
