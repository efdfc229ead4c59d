//! The destination of results: stdout, a pager, or the frame of `--watch`.

use std::io::{self, BufWriter, Stdout, Write};

use super::pager::{Pager, RunningPager};

/// A writer for results.
pub(crate) struct Sink {
    stdout: BufWriter<Stdout>,
    to: Destination,
}

enum Destination {
    Stdout,
    /// Output is buffered until it no longer fits on the screen.
    Buffered(Pager, Vec<u8>),
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

    /// Sends output that does not fit on the screen to a pager from now on.
    pub(crate) fn page(&mut self, pager: Pager) {
        self.to = Destination::Buffered(pager, Vec::new());
    }

    /// Collects the output in a frame from now on.
    pub(crate) fn frame(&mut self) {
        self.to = Destination::Frame(Vec::new());
    }

    /// Takes the output collected in the frame.
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

    /// Adds a note to the frame. Returns whether there is a frame.
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
            Destination::Frame(buffer) => {
                buffer.extend_from_slice(bytes);
                Ok(())
            }
            Destination::Pager(_, running) => running.write(bytes),
            Destination::Buffered(pager, buffer) => {
                buffer.extend_from_slice(bytes);
                if pager.fits(buffer) {
                    return Ok(());
                }
                let (pager, buffer) = (pager.clone(), std::mem::take(buffer));
                match pager.start() {
                    Ok(mut running) => {
                        let written = running.write(&buffer);
                        self.to = Destination::Pager(pager, running);
                        written
                    }
                    Err(_) => {
                        self.to = Destination::Stdout;
                        self.stdout.write_all(&buffer)
                    }
                }
            }
        }
    }

    /// Flushes the output, and waits until the user quits the pager.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.to, Destination::Stdout) {
            Destination::Stdout => {}
            Destination::Frame(buffer) => self.to = Destination::Frame(buffer),
            Destination::Buffered(pager, buffer) => {
                self.stdout.write_all(&buffer)?;
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
