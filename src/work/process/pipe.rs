//! The pipes of a program. Each holds a bounded amount, whatever the program writes.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ChildStdin;

use rustix::io::{ioctl_fionbio, ioctl_fionread};

use super::{MAX_READ_AFTER_END, OutputStream, ProcessEvent};
use crate::json::syntax;
use crate::model::bulk::MAX_JOBS_PER_CALL;

const MIB: usize = 1024 * 1024;

/// Maximum length of an answer: the maximum length of the data of a job.
const LONGEST_ANSWER: usize = 16 * MIB;

/// The longest line of output that is passed on in one piece.
const LONGEST_OUTPUT: usize = 8 * 1024;

/// The stdin of a program, and the lines that are not written to it yet.
#[derive(Debug)]
pub(super) struct InputPipe {
    pipe: Option<ChildStdin>,
    queue: VecDeque<Vec<u8>>,
    /// The number of bytes of the first element of `queue` that are written.
    written: usize,
    /// The lengths of the last lines that were queued, to find how many lines the program has not read completely.
    sent: VecDeque<usize>,
    /// If the program has closed its stdin, the number of lines that it had not read completely, later lines included.
    left_unread: usize,
    closes: bool,
}

impl InputPipe {
    pub(super) fn new(pipe: Option<ChildStdin>) -> io::Result<InputPipe> {
        if let Some(pipe) = &pipe {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(InputPipe {
            pipe,
            queue: VecDeque::new(),
            written: 0,
            sent: VecDeque::new(),
            left_unread: 0,
            closes: false,
        })
    }

    /// The pipe if there is something to write.
    pub(super) fn pipe_if_bytes_queued(&self) -> Option<BorrowedFd<'_>> {
        if self.queue.is_empty() {
            None
        } else {
            self.pipe.as_ref().map(AsFd::as_fd)
        }
    }

    pub(super) fn write_or_queue(&mut self, bytes: Vec<u8>) {
        if self.closes || bytes.is_empty() {
            return;
        }
        if self.pipe.is_none() {
            self.left_unread += 1;
            return;
        }
        if self.sent.len() >= MAX_JOBS_PER_CALL {
            self.sent.pop_front();
        }
        self.sent.push_back(bytes.len());
        self.queue.push_back(bytes);
        if self.queue.len() == 1 {
            self.write_queued();
        }
    }

    pub(super) fn close_when_written(&mut self) {
        self.closes = true;
        if self.queue.is_empty() {
            self.pipe = None;
        }
    }

    /// How many lines the program has not read completely. Lines that the program has only read into its own buffer
    /// count as read.
    pub(super) fn count_lines_unread_by_program(&self) -> usize {
        let Some(pipe) = &self.pipe else {
            return self.left_unread;
        };
        let queued: usize = self.queue.iter().map(Vec::len).sum();
        let piped = ioctl_fionread(pipe).unwrap_or(0) as usize;
        let mut unread = queued - self.written + piped;
        let lengths = self.sent.iter().rev();
        let is_unread = |length: &&usize| {
            let is_unread = unread > 0;
            unread = unread.saturating_sub(**length);
            is_unread
        };
        lengths.take_while(is_unread).count()
    }

    /// Writes as much as the pipe takes.
    pub(super) fn write_queued(&mut self) {
        let Some(pipe) = &mut self.pipe else {
            return;
        };
        while let Some(first) = self.queue.front() {
            match pipe.write(&first[self.written..]) {
                Ok(count) => self.written += count,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => continue,
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => return,
                // A program may leave its stdin unread: that is no error.
                Err(_) => {
                    self.left_unread = self.count_lines_unread_by_program();
                    self.pipe = None;
                    self.queue.clear();
                    return;
                }
            }
            if self.written >= first.len() {
                self.queue.pop_front();
                self.written = 0;
            }
        }
        if self.closes {
            self.pipe = None;
        }
    }
}

/// A pipe into which a program writes. `pipe` is `None` after the end of the output.
#[derive(Debug)]
pub(super) struct OutputPipe {
    pub(super) pipe: Option<OwnedFd>,
    pub(super) sink: PipeTarget,
}

/// The use of the bytes of a pipe.
#[derive(Debug)]
pub(super) enum PipeTarget {
    Answers(AnswerLineSplitter),
    PassOn(PassedOutputAndTail),
    Capture(CaptureUnlessTooLong),
}

impl OutputPipe {
    pub(super) fn new(pipe: Option<OwnedFd>, sink: PipeTarget) -> io::Result<OutputPipe> {
        if let Some(pipe) = &pipe {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(OutputPipe { pipe, sink })
    }

    /// Reads once. Closes the pipe at the end of the output.
    pub(super) fn read_once(
        &mut self,
        buffer: &mut [u8],
        slot: usize,
        events: &mut Vec<ProcessEvent>,
    ) -> usize {
        let Some(pipe) = &self.pipe else {
            return 0;
        };
        match rustix::io::read(pipe, &mut *buffer).map_err(io::Error::from) {
            Ok(0) => {}
            Ok(count) => {
                self.sink.handle_output(&buffer[..count], slot, events);
                return count;
            }
            Err(fault) => match fault.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock => return 0,
                // A pipe with a read error has no more output.
                _ => {}
            },
        }
        self.close_and_flush(slot, events);
        0
    }

    /// Reads what the program left, and closes the pipe.
    pub(super) fn read_rest(
        &mut self,
        buffer: &mut [u8],
        slot: usize,
        events: &mut Vec<ProcessEvent>,
    ) {
        let mut count = 0;
        while count < MAX_READ_AFTER_END && self.pipe.is_some() {
            match self.read_once(buffer, slot, events) {
                0 => break,
                read => count += read,
            }
        }
        self.close_and_flush(slot, events);
    }

    fn close_and_flush(&mut self, slot: usize, events: &mut Vec<ProcessEvent>) {
        if self.pipe.take().is_some() {
            self.sink.flush_partial_line(slot, events);
        }
    }
}

impl PipeTarget {
    fn handle_output(&mut self, bytes: &[u8], slot: usize, events: &mut Vec<ProcessEvent>) {
        match self {
            PipeTarget::Answers(lines) => lines.report_lines(bytes, |line, is_whole| {
                events.push(ProcessEvent::Line {
                    slot,
                    line,
                    is_whole,
                });
            }),
            PipeTarget::PassOn(output) => {
                let stream = output.stream;
                let bytes = output.take_whole_lines(bytes);
                if !bytes.is_empty() {
                    events.push(ProcessEvent::Output {
                        slot,
                        stream,
                        bytes,
                    });
                }
            }
            PipeTarget::Capture(capture) => capture.append_unless_too_long(bytes),
        }
    }

    /// Reports a last line without a newline.
    fn flush_partial_line(&mut self, slot: usize, events: &mut Vec<ProcessEvent>) {
        match self {
            PipeTarget::Answers(lines) if !lines.partial.is_empty() => {
                let line = std::mem::take(&mut lines.partial);
                events.push(ProcessEvent::Line {
                    slot,
                    line,
                    is_whole: true,
                });
            }
            PipeTarget::PassOn(output) if !output.partial.is_empty() => {
                events.push(ProcessEvent::Output {
                    slot,
                    stream: output.stream,
                    bytes: std::mem::take(&mut output.partial),
                });
            }
            _ => {}
        }
    }

    /// The last bytes that were passed on.
    pub(super) fn take_tail(&mut self) -> Vec<u8> {
        match self {
            PipeTarget::PassOn(output) => {
                let mut tail = std::mem::take(&mut output.tail);
                tail.drain(..tail.len().saturating_sub(output.tail_bytes));
                tail
            }
            PipeTarget::Answers(_) | PipeTarget::Capture(_) => Vec::new(),
        }
    }
}

/// Splits what a program writes into lines.
#[derive(Debug, Default)]
pub(super) struct AnswerLineSplitter {
    partial: Vec<u8>,
    /// Whether input is dropped up to the next newline, since the present line is too long.
    is_dropping: bool,
}

impl AnswerLineSplitter {
    /// Calls `report` with each line that is not empty, and with whether the line is whole (true) or cut.
    fn report_lines(&mut self, mut bytes: &[u8], mut report: impl FnMut(Vec<u8>, bool)) {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (part, rest) = match end {
                Some(end) => (&bytes[..end], &bytes[end + 1..]),
                None => (bytes, &[][..]),
            };
            bytes = rest;
            if self.is_dropping {
                self.is_dropping = end.is_none();
                continue;
            }
            let free = LONGEST_ANSWER - self.partial.len();
            self.partial
                .extend_from_slice(&part[..part.len().min(free)]);
            let is_whole = part.len() <= free;
            if !is_whole || (end.is_some() && !self.partial.is_empty()) {
                report(std::mem::take(&mut self.partial), is_whole);
            }
            self.is_dropping = !is_whole && end.is_none();
        }
    }
}

/// Passes the output of a program on by whole lines, and keeps its last bytes.
#[derive(Debug)]
pub(super) struct PassedOutputAndTail {
    stream: OutputStream,
    partial: Vec<u8>,
    /// The last bytes: up to twice `tail_bytes`.
    tail: Vec<u8>,
    tail_bytes: usize,
}

impl PassedOutputAndTail {
    /// `tail_bytes`: how many of the last bytes are kept.
    pub(super) fn new(stream: OutputStream, tail_bytes: usize) -> PassedOutputAndTail {
        PassedOutputAndTail {
            stream,
            partial: Vec::new(),
            tail: Vec::new(),
            tail_bytes,
        }
    }

    /// The lines that are complete now.
    fn take_whole_lines(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.append_to_tail(bytes);
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let (whole, partial) = bytes.split_at(end.map_or(0, |end| end + 1));
        let mut lines = Vec::new();
        if !whole.is_empty() {
            lines = std::mem::take(&mut self.partial);
            lines.extend_from_slice(whole);
        }
        self.partial.extend_from_slice(partial);
        if self.partial.len() > LONGEST_OUTPUT {
            lines.append(&mut self.partial);
        }
        lines
    }

    fn append_to_tail(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.tail_bytes)..];
        // Drop old bytes only when twice the maximum is exceeded, so that each byte is moved at most once.
        if self.tail.len() + bytes.len() > self.tail_bytes.saturating_mul(2) {
            let kept = self.tail_bytes - bytes.len();
            self.tail.drain(..self.tail.len().saturating_sub(kept));
        }
        self.tail.extend_from_slice(bytes);
    }
}

/// Keeps the whole output of a program, up to a limit.
#[derive(Debug)]
pub(super) struct CaptureUnlessTooLong {
    bytes: Vec<u8>,
    max_bytes: usize,
    is_too_long: bool,
}

impl CaptureUnlessTooLong {
    pub(super) fn new(max_bytes: usize) -> CaptureUnlessTooLong {
        CaptureUnlessTooLong {
            bytes: Vec::new(),
            max_bytes,
            is_too_long: false,
        }
    }

    fn append_unless_too_long(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.bytes.len() + bytes.len() > self.max_bytes;
        if self.is_too_long {
            self.bytes = Vec::new()
        } else {
            self.bytes.extend_from_slice(bytes)
        }
    }

    /// The output without blanks around it, as the new data of a job. `None` if there is none. The error says why it
    /// cannot be data, as the end of a sentence about it.
    pub(super) fn take_data(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.is_too_long {
            return Err(match self.max_bytes {
                max if max % MIB == 0 => format!("is longer than {} MiB", max / MIB),
                max => format!("is longer than {max} bytes"),
            });
        }
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.trim_ascii() {
            b"" => Ok(None),
            data if syntax::check_syntax(data).is_ok() => Ok(Some(data.to_vec())),
            _ => Err("is not JSON".to_owned()),
        }
    }
}
