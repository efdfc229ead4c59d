//! Lines on a terminal's stderr that change in place, below what has been printed.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Ui, is_interactive};

/// Lines that change in place.
pub(crate) struct LiveLines {
    area: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Ui {
    /// Starts lines that change in place, on an interactive terminal.
    pub(crate) fn live_lines(&self) -> Option<LiveLines> {
        (is_interactive() && !self.quiet).then(|| LiveLines {
            area: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            lines: Vec::new(),
        })
    }
}

impl LiveLines {
    /// Shows these lines in place of the ones before. They must be harmless.
    pub(crate) fn show(&mut self, texts: &[String]) {
        while self.lines.len() > texts.len() {
            if let Some(line) = self.lines.pop() {
                line.finish_and_clear();
                self.area.remove(&line);
            }
        }
        while self.lines.len() < texts.len() {
            let style = ProgressStyle::with_template("{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            let line = self.area.add(ProgressBar::new_spinner().with_style(style));
            self.lines.push(line);
        }
        for (line, text) in self.lines.iter().zip(texts) {
            line.set_message(text.clone());
            line.tick();
        }
    }
}
