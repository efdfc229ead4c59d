//! Manual pages on a terminal, rendered by the program `man`.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use super::Ui;
use super::pager::is_installed;
use crate::error::Error;
use crate::threads;

impl Ui {
    /// Writes a manual page as `man` renders it. If `man` is missing or fails, writes the roff source of the page.
    pub(crate) fn show_manual_page(&mut self, roff: &[u8]) -> Result<(), Error> {
        match render_page(roff, self.render_options.width) {
            Some(text) => self.write_bytes(&text),
            None => self.write_bytes(roff),
        }
    }
}

/// The page as `man` renders it, with bold and underlined words. `None` if `man` is missing or fails.
fn render_page(roff: &[u8], columns: usize) -> Option<Vec<u8>> {
    if !is_installed(OsStr::new("man")) {
        return None;
    }
    let mut man = Command::new("man")
        .args(["-l", "-"])
        .env("MANWIDTH", columns.to_string())
        .env("MANPAGER", "cat")
        .env("MAN_KEEP_FORMATTING", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = man.stdin.take()?;
    let roff = roff.to_vec();
    // A thread writes the page to `man` while this one reads the output. One thread could block: `man` may write
    // before it has read all.
    let writer = threads::spawn(move || stdin.write_all(&roff)).ok()?;
    let output = man.wait_with_output().ok()?;
    let written = writer.join().is_ok_and(|written| written.is_ok());
    (written && output.status.success() && !output.stdout.is_empty()).then_some(output.stdout)
}
