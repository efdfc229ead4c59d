//! The pager, which shows output that is longer than the screen.

use std::env::{split_paths, var_os};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dialoguer::console::{Term, measure_text_width};
use signal_hook::consts::SIGINT;

use crate::env;

/// The command of the pager, and the size of the screen.
#[derive(Clone, Debug)]
pub(crate) struct PagerCommand {
    command: OsString,
    rows: usize,
    columns: usize,
}

/// A pager that was started.
pub(crate) struct RunningPager {
    child: Child,
    /// Whether the user has quit the pager.
    quit: bool,
    /// The handler that ignores Ctrl-C while the pager runs. Ctrl-C is for the pager; if it ended this process, the
    /// shell and the pager would both read the terminal.
    interrupts: Option<signal_hook::SigId>,
}

impl PagerCommand {
    /// The pager for this terminal. `None` if no pager is wanted or installed, or if it is `cat`.
    pub(crate) fn of_terminal() -> Option<PagerCommand> {
        let chosen = env::nonempty_var("QLESS_PAGER").or_else(|| env::nonempty_var("PAGER"));
        // On a dumb terminal and in a CI system, start only a pager that the environment names.
        let dumb = var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if chosen.is_none() && (dumb || env::nonempty_var("CI").is_some()) {
            return None;
        }
        let command = chosen.unwrap_or_else(|| "less".into());
        let program = program_of_command(&command);
        if program.is_empty() || program == "cat" || !is_installed(program) {
            return None;
        }
        let (rows, columns) = Term::stdout().size_checked()?;
        Some(PagerCommand {
            command,
            rows: rows.into(),
            columns: usize::from(columns).max(1),
        })
    }

    /// Whether a text fits on the screen, with one line left for the next prompt of the shell.
    pub(crate) fn fits_screen(&self, text: &[u8]) -> bool {
        // A quick test: each line has at least one byte, its end, so a text with fewer bytes than the screen has
        // rows fits.
        if text.len() < self.rows {
            return true;
        }
        let text = String::from_utf8_lossy(text);
        let lines = text.lines().map(|line| match line.len() {
            short if short <= self.columns => 1,
            _ => measure_text_width(line).div_ceil(self.columns).max(1),
        });
        lines.sum::<usize>() < self.rows
    }

    pub(crate) fn start(&self) -> io::Result<RunningPager> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&self.command).stdin(Stdio::piped());
        if var_os("LESS").is_none() {
            shell.env("LESS", "FIRX");
        }
        let child = shell.spawn()?;
        let ignored = Arc::new(AtomicBool::new(false));
        Ok(RunningPager {
            child,
            quit: false,
            interrupts: signal_hook::flag::register(SIGINT, ignored).ok(),
        })
    }
}

impl RunningPager {
    /// Writes text to the pager. Drops the text if the user has quit the pager.
    pub(crate) fn write_unless_quit(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(stdin) = self.child.stdin.as_mut().filter(|_| !self.quit) else {
            return Ok(());
        };
        match stdin.write_all(bytes) {
            Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => {
                self.quit = true;
                Ok(())
            }
            written => written,
        }
    }

    /// Waits until the user quits the pager.
    pub(crate) fn wait_for_quit(mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
        if let Some(hook) = self.interrupts {
            signal_hook::low_level::unregister(hook);
        }
    }
}

fn program_of_command(command: &OsStr) -> &OsStr {
    let bytes = command.as_bytes().trim_ascii();
    let end = bytes.iter().position(u8::is_ascii_whitespace);
    OsStr::from_bytes(&bytes[..end.unwrap_or(bytes.len())])
}

/// Whether the shell will find the program. A name that the shell has to expand counts as found.
pub(super) fn is_installed(program: &OsStr) -> bool {
    let runs = |path: &Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let bytes = program.as_bytes();
    if bytes.iter().any(|byte| b"='\"\\$`~(".contains(byte)) {
        return true;
    }
    if bytes.contains(&b'/') {
        return runs(Path::new(program));
    }
    let path = var_os("PATH").unwrap_or_default();
    split_paths(&path).any(|dir| runs(&dir.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_if_it_leaves_one_line() {
        let pager = PagerCommand {
            command: "less".into(),
            rows: 4,
            columns: 10,
        };
        for (text, fits) in [
            ("", true),
            ("a\nb\nc\n", true),
            ("a\nb\nc\nd\n", false),
            ("0123456789\nb\nc\n", true),
            ("0123456789a\nb\nc\n", false),
            ("\x1b[31m0123456789\x1b[0m\nb\nc\n", true),
            ("日本日本日\nb\nc\n", true),
            ("日本日本日本\nb\nc\n", false),
            ("\n\n\n\n", false),
        ] {
            assert_eq!(pager.fits_screen(text.as_bytes()), fits, "{text:?}");
        }
    }
}
