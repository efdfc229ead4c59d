//! Where results go: to stdout, through a pager, or into the frame of `--watch`.

use std::io::{self, BufWriter, Stdout, Write};

use super::pager::{Pager, RunningPager};

/// The way to stdout.
pub(crate) struct Sink {
    stdout: BufWriter<Stdout>,
    to: Destination,
}

enum Destination {
    Stdout,
    /// Held back until it is known whether it fits on the screen.
    Held(Pager, Vec<u8>),
    Pager(Pager, RunningPager),
    Frame(Vec<u8>),
}

impl Sink {
    pub(crate) fn new() -> Sink {
        Sink {
            stdout: BufWriter::with_capacity(1 << 16, io::stdout()),
            to: Destination::Stdout,
        }
    }

    /// Has what does not fit on the screen go through a pager from now on.
    pub(crate) fn page(&mut self, pager: Pager) {
        self.to = Destination::Held(pager, Vec::new());
    }

    /// Collects what is written from now on.
    pub(crate) fn frame(&mut self) {
        self.to = Destination::Frame(Vec::new());
    }

    /// Returns what was collected.
    pub(crate) fn framed(&mut self) -> Vec<u8> {
        match &mut self.to {
            Destination::Frame(bytes) => std::mem::take(bytes),
            _ => Vec::new(),
        }
    }

    /// Writes to stdout again.
    pub(crate) fn unframe(&mut self) {
        self.to = Destination::Stdout;
    }

    /// Takes a note into the frame, if there is one.
    pub(crate) fn append_to_frame(&mut self, note: &str) -> bool {
        match &mut self.to {
            Destination::Frame(bytes) => {
                bytes.extend_from_slice(note.as_bytes());
                true
            }
            _ => false,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout => self.stdout.write_all(bytes),
            Destination::Frame(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            Destination::Pager(_, running) => running.write(bytes),
            Destination::Held(pager, held) => {
                held.extend_from_slice(bytes);
                if pager.fits(held) {
                    return Ok(());
                }
                let (pager, held) = (pager.clone(), std::mem::take(held));
                match pager.start() {
                    Ok(mut running) => {
                        let written = running.write(&held);
                        self.to = Destination::Pager(pager, running);
                        written
                    }
                    Err(_) => {
                        self.to = Destination::Stdout;
                        self.stdout.write_all(&held)
                    }
                }
            }
        }
    }

    /// Hands on what was written so far, and waits until the pager is left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.to, Destination::Stdout) {
            Destination::Stdout => {}
            Destination::Frame(held) => self.to = Destination::Frame(held),
            Destination::Held(pager, held) => {
                self.stdout.write_all(&held)?;
                self.page(pager);
            }
            Destination::Pager(pager, running) => {
                running.wait();
                self.page(pager);
            }
        }
        self.stdout.flush()
    }
}
