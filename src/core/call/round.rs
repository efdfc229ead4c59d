//! The calls of one round trip: which of them still have to be sent, and what came back.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::calls::{CallSpec, RetryClass};
use super::deserialize::ValueDeserializer;
use super::fault::Fault;
use super::request::Call;
use super::{Value, reply, server_error};
use crate::error::Error;

pub(crate) struct CallReply {
    /// The name of the call.
    pub call: Cow<'static, str>,
    pub(super) spec: CallSpec,
    /// The first arguments of the call, through the last one that names the job, queue or worker that it
    /// changes. Empty for a call that only reads.
    pub(super) subject_args: Vec<Vec<u8>>,
    pub result: Result<Value, Error>,
    /// Whether the call was repeated after a lost reply. If so, `result` is the reply to the last attempt, and the
    /// server may have applied any of the attempts.
    pub repeated: bool,
}

impl CallReply {
    /// Reads the reply.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        T::deserialize(ValueDeserializer(self.result?)).map_err(|why| {
            let error =
                reply::unexpected_reply_to(&self.call, self.spec.has_read_retry_class(), why);
            if self.spec.has_read_retry_class() {
                return error;
            }
            let error = error.hint_if(self.spec.hint_for_lost_reply(&self.subject_args));
            match self.spec.subject_jid(&self.subject_args) {
                Some(jid) => error.about_jid(&jid),
                None => error,
            }
        })
    }
}

/// The state of the calls of one round trip, which are sent together. Each list but `pending` has one entry per call.
pub(super) struct RoundTrip {
    classes: Vec<RetryClass>,
    /// The calls to send, in order.
    pub pending: Vec<usize>,
    pub replies: Vec<Option<Value>>,
    pub repeated: Vec<bool>,
    /// The fault of the connection that lost the latest reply to each call.
    pub lost: Vec<Option<Fault>>,
    /// Why the pending calls were not sent: no connection could be opened, or the user lacks a right.
    pub unsent: Option<Error>,
}

impl RoundTrip {
    pub(super) fn new(calls: &[Call]) -> RoundTrip {
        RoundTrip {
            classes: calls.iter().map(Call::retry_class).collect(),
            pending: (0..calls.len()).collect(),
            replies: vec![None; calls.len()],
            repeated: vec![false; calls.len()],
            lost: vec![None; calls.len()],
            unsent: None,
        }
    }

    /// Records that this fault lost the replies to the pending calls. Calls that may be repeated stay pending.
    pub(super) fn mark_lost_and_keep_repeatable(&mut self, fault: Fault) {
        let may_repeat = matches!(fault, Fault::Closed | Fault::TimedOut);
        for (place, at) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            // The invalid UTF-8 was in the reply to the first pending call. The later replies were not read.
            let fault = match &fault {
                Fault::InvalidUtf8 if place > 0 => Fault::Closed,
                fault => fault.clone(),
            };
            self.lost[at] = Some(fault);
            if may_repeat && self.classes[at] != RetryClass::Never {
                self.repeated[at] = true;
                self.pending.push(at);
            }
        }
    }

    /// The first reply that is an error of the server with one of these codes.
    pub(super) fn first_error(&self, codes: &[&str]) -> Option<&Value> {
        let replies = self.replies.iter().flatten();
        replies
            .into_iter()
            .find(|reply| has_error_code(reply, codes))
    }

    pub(super) fn drop_error_replies(&mut self, codes: &[&str]) {
        for reply in &mut self.replies {
            if reply
                .as_ref()
                .is_some_and(|reply| has_error_code(reply, codes))
            {
                *reply = None;
            }
        }
    }

    /// Makes a call pending again if the server refused it with one of these codes, and so did not apply it. The error
    /// stays as the reply, in case no time is left for another attempt.
    pub(super) fn make_pending_again(&mut self, codes: &[&str]) {
        let replies = self.replies.iter().enumerate();
        let postponed = replies.filter(|(_, reply)| {
            reply
                .as_ref()
                .is_some_and(|reply| has_error_code(reply, codes))
        });
        self.pending.extend(postponed.map(|(at, _)| at));
        self.pending.sort_unstable();
    }
}

fn has_error_code(reply: &Value, codes: &[&str]) -> bool {
    let error = server_error(reply);
    error.is_some_and(|error| codes.contains(&error.innermost_error().code.as_str()))
}

/// The codes of temporary errors: the server did not apply the call, and will probably accept it soon.
pub(super) const POSTPONED: [&str; 6] = [
    "LOADING",
    "BUSY",
    "MASTERDOWN",
    "ASK",
    "TRYAGAIN",
    "CLUSTERDOWN",
];

/// The codes of errors that a cluster node sends while one of its slots moves to or from another node.
pub(super) const MOVING: [&str; 2] = ["ASK", "TRYAGAIN"];
