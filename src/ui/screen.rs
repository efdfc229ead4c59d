//! stdout for `--watch`: an alternate screen that is repainted, or a document for each tick.

use std::io::{self, Write};

use dialoguer::console::Term;

use super::{Ui, keyboard, terminal_width};
use crate::args::format::Format;
use crate::env;
use crate::error::Error;

/// Enters the alternate screen, hides the cursor and turns line wrapping off.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The alternate screen of the terminal. Dropping it restores the terminal.
pub(crate) struct Screen(());

impl Screen {
    pub(crate) fn enter() -> Screen {
        write_to_terminal(ENTER.as_bytes());
        keyboard::enter_key_mode();
        Screen(())
    }

    /// Repaints the screen: the head line, then the first lines of the frame, up to the height of the screen.
    pub(crate) fn repaint(&self, head: &str, frame: &[u8]) {
        let rows = terminal_rows_and_columns().map_or(24, |(rows, _)| rows);
        write_to_terminal(&paint_frame(head, frame, rows.into()));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Rows and columns of the terminal on stdout, if it is one.
pub(crate) fn terminal_rows_and_columns() -> Option<(u16, u16)> {
    Term::stdout().size_checked()
}

/// Leaves the alternate screen and restores the modes of the terminal. Any thread may call this.
pub(crate) fn restore_terminal() {
    keyboard::restore_terminal_modes();
    write_to_terminal(LEAVE.as_bytes());
}

fn write_to_terminal(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    _ = stdout.write_all(bytes);
    _ = stdout.flush();
}

/// The bytes that paint a frame. Each line clears the rest of its row; the end clears the rest of the screen.
fn paint_frame(head: &str, frame: &[u8], rows: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(frame);
    let lines: Vec<&str> = text.lines().collect();
    let available = rows.saturating_sub(2).max(1);
    let shown = match lines.len() {
        all if all <= available => all,
        _ => available - 1,
    };
    let mut painted = String::from("\x1b[H");
    let mut add = |line: &str| {
        painted.push_str(line);
        painted.push_str("\x1b[0m\x1b[K\n");
    };
    add(head);
    add("");
    lines[..shown].iter().for_each(|line| add(line));
    let rest = lines.len() - shown;
    if rest > 0 {
        painted.push_str(&format!("… {rest} more"));
    }
    painted.push_str("\x1b[J");
    painted.into_bytes()
}

impl Ui {
    /// Prepares for the repeated output of `--watch`: frames on a terminal, or documents with `-o ndjson`. Refuses
    /// other output. The result is whether the output is frames.
    pub(crate) fn begin_watch_frames_or_documents(&mut self) -> Result<bool, Error> {
        let dumb = env::nonempty_var("TERM").is_some_and(|term| term == "dumb");
        let hint = "`-o ndjson` writes a document for each tick, also without a terminal";
        match self.format {
            Format::Table if self.tty && !self.render_options.terminal => {
                Err(Error::usage("`--watch` cannot be used with `-o tsv`").hint(hint))
            }
            Format::Table if self.tty && !dumb => {
                self.stdout.begin_frame(true);
                Ok(true)
            }
            Format::Table => Err(Error::usage("`--watch` requires a terminal").hint(hint)),
            Format::Ndjson => {
                self.ticks = true;
                self.format = Format::Json;
                Ok(false)
            }
            other => {
                let word = other.into_str();
                Err(Error::usage(format!("`--watch` cannot be used with `-o {word}`")).hint(hint))
            }
        }
    }

    /// Whether stdin and stdout are a terminal that can show a full screen.
    pub(crate) fn can_fill_screen(&self) -> bool {
        let dumb = env::nonempty_var("TERM").is_some_and(|term| term == "dumb");
        self.tty && !dumb && std::io::IsTerminal::is_terminal(&std::io::stdin())
    }

    /// Reads the width of the terminal again.
    pub(crate) fn reread_terminal_width(&mut self) {
        if self.tty {
            self.render_options.width = terminal_width();
        }
    }

    /// The output since the last frame.
    pub(crate) fn take_frame(&mut self) -> Vec<u8> {
        self.stdout.take_frame()
    }

    pub(crate) fn stop_collecting_frames(&mut self) {
        self.stdout.return_to_stdout();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(frame: &str, rows: usize) -> String {
        let painted = String::from_utf8(paint_frame("head", frame.as_bytes(), rows)).unwrap();
        painted.replace("\x1b[0m\x1b[K\n", "|")
    }

    #[test]
    fn a_frame_is_cut_to_the_screen() {
        assert_eq!(lines("a\nb\n", 5), "\x1b[Hhead||a|b|\x1b[J");
        assert_eq!(lines("a\nb\nc\n", 5), "\x1b[Hhead||a|b|c|\x1b[J");
        assert_eq!(lines("a\nb\nc\nd\n", 5), "\x1b[Hhead||a|b|… 2 more\x1b[J");
        assert_eq!(lines("a\nb\n", 1), "\x1b[Hhead||… 2 more\x1b[J");
        assert_eq!(lines("", 0), "\x1b[Hhead||\x1b[J");
    }
}
