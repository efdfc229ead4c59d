//! The destination of results: stdout, a pager, the frame of `--watch`, or a thread that writes.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc::channel;

use super::member::{MemberMessage, MemberSender};
use super::output_thread::OutputThread;
use super::pager::{Pager, RunningPager};
use super::stdout::Stdout;

pub(crate) struct ResultWriter {
    stdout: BufWriter<Stdout>,
    to: Destination,
}

enum Destination {
    Stdout,
    /// Output is buffered until it no longer fits on the screen.
    Buffered(Pager, Vec<u8>),
    Pager(Pager, RunningPager),
    Frame(Vec<u8>),
    /// The result is collected as in a frame, but notes are dropped.
    Document(Vec<u8>),
    /// Output is buffered until it is flushed into the thread.
    OutputThread(OutputThread, Vec<u8>),
    /// The command as a whole, which joins the output of its members.
    Members(MemberSender),
}

impl ResultWriter {
    pub(crate) fn to_stdout() -> ResultWriter {
        ResultWriter {
            stdout: BufWriter::with_capacity(1 << 16, Stdout::new()),
            to: Destination::Stdout,
        }
    }

    /// Sends output that does not fit on the screen to a pager from now on.
    pub(crate) fn set_pager(&mut self, pager: Pager) {
        self.to = Destination::Buffered(pager, Vec::new());
    }

    /// Collects the output in a frame from now on.
    pub(crate) fn begin_frame(&mut self) {
        self.to = Destination::Frame(Vec::new());
    }

    /// Collects the output of a command, with its notes or without.
    pub(crate) fn begin_capture(&mut self, with_notes: bool) {
        self.to = if with_notes {
            Destination::Frame(Vec::new())
        } else {
            Destination::Document(Vec::new())
        };
    }

    /// Takes the output collected in the frame.
    pub(crate) fn take_frame(&mut self) -> Vec<u8> {
        match &mut self.to {
            Destination::Frame(bytes) | Destination::Document(bytes) => std::mem::take(bytes),
            _ => Vec::new(),
        }
    }

    /// Writes to stdout again.
    pub(crate) fn end_frame(&mut self) {
        self.to = Destination::Stdout;
    }

    /// Leaves all writing to a thread from now on.
    pub(crate) fn set_output_thread(&mut self, thread: OutputThread) {
        self.to = Destination::OutputThread(thread, Vec::new());
    }

    /// Sends all output to the command as a whole.
    pub(super) fn set_member(&mut self, sender: MemberSender) {
        self.to = Destination::Members(sender);
    }

    /// The thread that writes, if there is one.
    pub(crate) fn output_thread(&self) -> Option<&OutputThread> {
        match &self.to {
            Destination::OutputThread(thread, _) => Some(thread),
            _ => None,
        }
    }

    /// Takes the writing back from the thread.
    pub(crate) fn remove_output_thread(&mut self) {
        self.to = Destination::Stdout;
    }

    /// Writes a note to stderr, or adds it to the frame. A failure cannot be reported.
    pub(crate) fn write_note(&mut self, note: &[u8]) {
        match &mut self.to {
            Destination::Frame(bytes) => return bytes.extend_from_slice(note),
            Destination::Document(_) => return,
            _ => {}
        }
        if let Destination::Members(sender) = &self.to {
            return sender.send(MemberMessage::Note(note.to_vec()));
        }
        _ = self.flush_and_end_pager();
        match &self.to {
            Destination::OutputThread(thread, _) => thread.queue_stderr(note.to_vec()),
            _ => _ = io::stderr().write_all(note),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout => self.stdout.write_all(bytes),
            Destination::Frame(buffer)
            | Destination::Document(buffer)
            | Destination::OutputThread(_, buffer) => {
                buffer.extend_from_slice(bytes);
                Ok(())
            }
            Destination::Pager(_, running) => running.write_unless_quit(bytes),
            Destination::Members(sender) => {
                sender.send(MemberMessage::Bytes(bytes.to_vec()));
                Ok(())
            }
            Destination::Buffered(pager, buffer) => {
                buffer.extend_from_slice(bytes);
                if pager.fits_screen(buffer) {
                    return Ok(());
                }
                let (pager, buffer) = (pager.clone(), std::mem::take(buffer));
                match pager.start() {
                    Ok(mut running) => {
                        let written = running.write_unless_quit(&buffer);
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

    /// Takes the output that could not be written.
    pub(crate) fn take_unwritten(&mut self) -> Vec<u8> {
        let fresh = BufWriter::with_capacity(1 << 16, Stdout::new());
        let (_, unwritten) = std::mem::replace(&mut self.stdout, fresh).into_parts();
        unwritten.unwrap_or_default()
    }

    /// Flushes the output, and waits until the user quits the pager.
    pub(crate) fn flush_and_end_pager(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.to, Destination::Stdout) {
            Destination::Stdout => {}
            Destination::Frame(buffer) => self.to = Destination::Frame(buffer),
            Destination::Document(buffer) => self.to = Destination::Document(buffer),
            Destination::Members(sender) => {
                let (written, flushed) = channel();
                sender.send(MemberMessage::Flush(written));
                // The flush is over when the command as a whole drops its sender. A message never comes.
                _ = flushed.recv();
                self.to = Destination::Members(sender);
            }
            Destination::OutputThread(thread, buffer) => {
                thread.queue_stdout(buffer);
                self.set_output_thread(thread);
                return Ok(());
            }
            Destination::Buffered(pager, buffer) => {
                self.stdout.write_all(&buffer)?;
                self.set_pager(pager);
            }
            Destination::Pager(pager, running) => {
                running.wait_for_quit();
                self.set_pager(pager);
            }
        }
        self.stdout.flush()
    }
}
