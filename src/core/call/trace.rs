//! The output of `-v`: each server call with its duration. `-vv` adds arguments and replies.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

use super::round::{Call, RoundTrip};
use super::{Core, Value, server_error};
use crate::command_line;
use crate::text::{self, Sanitized};

/// Prints the core's calls on stderr. Prints nothing without `-v`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallTracer {
    level: u8,
}

impl CallTracer {
    pub(crate) fn new(level: u8) -> CallTracer {
        CallTracer { level }
    }

    /// Whether calls are shown.
    pub fn shows_calls(self) -> bool {
        self.level > 0
    }

    /// Whether arguments and replies are shown too.
    pub fn shows_replies(self) -> bool {
        self.level > 1
    }

    /// With `-v`, prints what happened and how long it took, such as one exchange with the server.
    pub fn print_timed_line_if_verbose(self, what: &str, elapsed: Duration) {
        if self.shows_calls() {
            let millis = elapsed.as_secs_f64() * 1e3;
            _ = writeln!(io::stderr(), "  {millis:.1} ms  {}", Sanitized(what));
        }
    }
}

impl Core {
    /// Prints for `-v` that the connection broke, and how many calls `Core` will repeat.
    pub(super) fn trace_lost_connection(&self, round: &RoundTrip, elapsed: Duration) {
        if self.trace.shows_calls() {
            let repeated = round.pending.len();
            let line = format!("lost {}, calls repeated: {repeated}", self.target);
            self.trace.print_timed_line_if_verbose(&line, elapsed);
        }
    }

    /// Prints the calls of one round trip: with `-v` a name and the duration, with `-vv` also arguments and replies.
    pub(super) fn trace_calls(
        &self,
        now: &str,
        calls: &[Call],
        replies: &[Option<Value>],
        elapsed: Duration,
    ) {
        if !self.trace.shows_calls() {
            return;
        }
        if !self.trace.shows_replies() {
            let line = match calls {
                [call] => call.name.to_string(),
                [first, ..] => format!("{} calls, {} and so on", calls.len(), first.name),
                [] => return,
            };
            return self.trace.print_timed_line_if_verbose(&line, elapsed);
        }
        for (call, reply) in calls.iter().zip(replies) {
            let mut line = format!("{} {now}", call.name);
            for arg in &call.args {
                _ = write!(line, " {}", argument_text_or_size(arg));
            }
            if call.packed_args.word_count() > 0 {
                _ = write!(line, " <{} bytes>", call.packed_args.wire_byte_len());
            }
            let reply = reply.as_ref().map_or("no reply".into(), reply_text_or_size);
            self.trace
                .print_timed_line_if_verbose(&format!("{line} → {reply}"), elapsed);
        }
    }
}

/// An argument as `-vv` prints it. JSON documents, such as job data, and texts over 60 bytes appear only as their size.
fn argument_text_or_size(arg: &[u8]) -> String {
    let text = String::from_utf8_lossy(arg);
    let document = matches!(arg.first(), Some(b'{' | b'[' | b'"'));
    if document || arg.len() > 60 {
        format!("<{} bytes>", arg.len())
    } else {
        command_line::shell_quoted(text::sanitize_to_line(text.as_bytes()))
    }
}

/// A reply for `-vv`.
fn reply_text_or_size(reply: &Value) -> String {
    match reply {
        Value::Nil => "nil".into(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => argument_text_or_size(bytes),
        Value::Array(items) => format!("<{} items>", items.len()),
        reply => match server_error(reply) {
            Some(error) => error.full_text(),
            None => "OK".into(),
        },
    }
}
