//! The lines of `-v` and `-vv` about calls.

use std::fmt::Write;
use std::time::Duration;

use super::request::Call;
use super::round::RoundTrip;
use super::{Core, Value, server_error};
use crate::command_line;
use crate::text;

impl Core {
    /// Shows that the connection broke, and how many calls are repeated.
    pub(super) fn trace_lost_connection(&self, round: &RoundTrip, elapsed: Duration) {
        if self.trace.shows_calls() {
            let repeated = round.pending.len();
            let line = format!("lost {}, calls repeated: {repeated}", self.target);
            self.trace.print_exchange(&line, elapsed);
        }
    }

    /// Shows an exchange: `-v` names and duration, `-vv` arguments and replies too.
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
            return self.trace.print_exchange(&line, elapsed);
        }
        for (call, reply) in calls.iter().zip(replies) {
            let mut line = format!("{} {now}", call.name);
            for arg in &call.args {
                _ = write!(line, " {}", argument_text(arg));
            }
            if call.packed_args.word_count() > 0 {
                _ = write!(line, " <{} bytes>", call.packed_args.byte_len());
            }
            let reply = reply.as_ref().map_or("no reply".into(), reply_text);
            self.trace
                .print_exchange(&format!("{line} → {reply}"), elapsed);
        }
    }
}

/// An argument for `-vv`. Job data and other documents are masked, as are long texts.
fn argument_text(arg: &[u8]) -> String {
    let text = String::from_utf8_lossy(arg);
    let document = matches!(arg.first(), Some(b'{' | b'[' | b'"'));
    if document || arg.len() > 60 {
        format!("<{} bytes>", arg.len())
    } else {
        command_line::shell_quoted(text::clean_line(text.as_bytes()))
    }
}

/// A reply for `-vv`.
fn reply_text(reply: &Value) -> String {
    match reply {
        Value::Nil => "nil".into(),
        Value::Int(number) => number.to_string(),
        Value::BulkString(bytes) => argument_text(bytes),
        Value::Array(items) => format!("<{} items>", items.len()),
        reply => match server_error(reply) {
            Some(error) => error.full_text(),
            None => "OK".into(),
        },
    }
}
