//! Lines on a terminal's stderr that change in place, below what has been printed.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Ui, is_stderr_interactive};

/// Lines that change in place.
pub(crate) struct LiveLines {
    area: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Ui {
    /// Starts lines that change in place. `None` if stderr is not an interactive terminal, or with `--quiet`.
    pub(crate) fn live_lines(&self) -> Option<LiveLines> {
        (is_stderr_interactive() && !self.quiet && self.member.is_none()).then(|| LiveLines {
            area: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            lines: Vec::new(),
        })
    }
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
