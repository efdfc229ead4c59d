//! The destination of results: stdout, a pager, the frame of `--watch`, an output thread, or the command as a
//! whole.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc::channel;

use super::member::{MemberMessage, MemberSender};
use super::output_thread::OutputThread;
use super::pager::{Pager, RunningPager};
use super::stdout::StdoutFailingIfClosed;

pub(crate) struct ResultWriter {
    stdout: BufWriter<StdoutFailingIfClosed>,
    to: Destination,
}

enum Destination {
    Stdout,
    /// Output is buffered until it no longer fits on the screen. Then the pager starts.
    Buffered(Pager, Vec<u8>),
    Pager(Pager, RunningPager),
    Frame(Vec<u8>),
    /// Results are collected, and notes are dropped.
    Document(Vec<u8>),
    /// Output is buffered until a flush sends it to the thread.
    OutputThread(OutputThread, Vec<u8>),
    /// All output is sent to the command as a whole, which joins it with that of the other members.
    Members(MemberSender),
}

impl ResultWriter {
    pub(crate) fn to_stdout() -> ResultWriter {
        ResultWriter {
            stdout: BufWriter::with_capacity(1 << 16, StdoutFailingIfClosed::new()),
            to: Destination::Stdout,
        }
    }

    /// From now on, sends output to a pager as soon as it does not fit on the screen.
    pub(crate) fn set_pager(&mut self, pager: Pager) {
        self.to = Destination::Buffered(pager, Vec::new());
    }

    /// From now on, collects results and notes in a frame.
    pub(crate) fn begin_collecting_frame(&mut self) {
        self.to = Destination::Frame(Vec::new());
    }

    /// From now on, collects the results of a command, with its notes or without.
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
    pub(crate) fn return_to_stdout(&mut self) {
        self.to = Destination::Stdout;
    }

    /// From now on, a thread writes all output.
    pub(crate) fn set_output_thread(&mut self, thread: OutputThread) {
        self.to = Destination::OutputThread(thread, Vec::new());
    }

    /// From now on, sends all output to the command as a whole.
    pub(super) fn set_member_sender(&mut self, sender: MemberSender) {
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

    /// Writes a note to stderr after the results before it. A frame gets the note itself; a document drops it.
    /// Ignores a failure, because nothing could report it.
    pub(crate) fn write_note(&mut self, note: &[u8]) {
        match &mut self.to {
            Destination::Frame(bytes) => return bytes.extend_from_slice(note),
            Destination::Document(_) => return,
            _ => {}
        }
        if let Destination::Members(sender) = &self.to {
            return sender.send(MemberMessage::Note(note.to_vec()));
        }
        _ = self.flush_and_wait_for_pager();
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

    /// Takes the buffered output that could not be written to stdout.
    pub(crate) fn take_unwritten(&mut self) -> Vec<u8> {
        let fresh = BufWriter::with_capacity(1 << 16, StdoutFailingIfClosed::new());
        let (_, unwritten) = std::mem::replace(&mut self.stdout, fresh).into_parts();
        unwritten.unwrap_or_default()
    }

    /// Flushes the output. If a pager is running, waits until the user has quit it.
    pub(crate) fn flush_and_wait_for_pager(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.to, Destination::Stdout) {
            Destination::Stdout => {}
            Destination::Frame(buffer) => self.to = Destination::Frame(buffer),
            Destination::Document(buffer) => self.to = Destination::Document(buffer),
            Destination::Members(sender) => {
                let (written, flushed) = channel();
                sender.send(MemberMessage::Flush(written));
                // The command as a whole drops its sender after the flush, which ends `recv`. It never sends a
                // message.
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
