//! One call, as it is sent, and its reply; and the state of the calls of one round trip: which of them still have to be
//! sent, and what came back.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::calls::{self, CallSpec, RetryClass};
use super::connect::{Fault, WireEncodedWords};
use super::deserialize::ValueDeserializer;
use super::{Value, reply, server_error};
use crate::clock::moment::Moment;
use crate::error::Error;
use crate::name::Name;

/// A request to the server: one call of the Lua core, or one Redis command.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) name: Cow<'static, str>,
    /// The facts about the call, such as whether it may be repeated. `None` for a raw call: its name and arguments tell
    /// them.
    spec: Option<CallSpec>,
    pub(super) args: Vec<Vec<u8>>,
    /// The arguments after `args`, already encoded for the wire.
    pub(super) packed_args: WireEncodedWords,
    /// Whether the request is a Redis command, and no call of the Lua core.
    pub(super) is_plain: bool,
    /// The time that this call passes to the core; `None` for the time that all calls of the round trip share.
    pub(super) at: Option<Moment>,
}

impl Call {
    fn with_spec(name: impl Into<Cow<'static, str>>, spec: Option<CallSpec>) -> Call {
        Call {
            name: name.into(),
            spec,
            args: Vec::new(),
            packed_args: WireEncodedWords::default(),
            is_plain: false,
            at: None,
        }
    }

    /// A call whose name comes from the user, and whose reply `qless` prints unchanged.
    pub fn raw_call(name: impl Into<String>) -> Call {
        Call::with_spec(name.into(), None)
    }

    /// A Redis command, without the Lua core. The command must only read, because `Core` repeats it after a lost reply.
    pub fn redis_read_command(name: &'static str) -> Call {
        Call {
            is_plain: true,
            ..Call::with_spec(name, Some(CallSpec::for_read(name)))
        }
    }

    /// A call with the spec of its command.
    pub(crate) fn new(spec: CallSpec) -> Call {
        Call::with_spec(spec.name, Some(spec))
    }

    /// Gives the call a time of its own. Several puts of one round trip need different times: the core orders the jobs
    /// of a priority by the time of their put.
    pub(crate) fn at_moment(mut self, moment: Option<Moment>) -> Call {
        self.at = moment;
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<[u8]>) -> Call {
        self.args.push(arg.as_ref().to_vec());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<[u8]>>(mut self, args: impl IntoIterator<Item = A>) -> Call {
        let args = args.into_iter().map(|arg| arg.as_ref().to_vec());
        self.args.extend(args);
        self
    }

    /// Adds an argument in place.
    pub(crate) fn push_arg(&mut self, arg: &[u8]) {
        self.args.push(arg.to_vec());
    }

    /// Sets the arguments that are already encoded for the wire. They follow all others.
    pub(crate) fn packed_args(mut self, args: WireEncodedWords) -> Call {
        self.packed_args = args;
        self
    }

    /// Wraps the call in `guard.call`: the core then makes the call only if the job has not changed since the client
    /// read `mark`, and adds `note` to the job's history.
    pub(crate) fn guarded_by_mark(self, jid: &Name, mark: &[u8], note: &[u8]) -> Call {
        let wording = self.spec().wording;
        let spec = calls::GUARD_CALL.with_wording(wording.verb, wording.doing);
        let call = Call::new(spec).arg(jid).arg(mark).arg(note);
        let mut call = call.arg(self.name.as_bytes());
        call.args.extend(self.args);
        call.packed_args(self.packed_args)
    }

    /// The name of the call on the wire.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the call may change something. This includes reads that also promote due jobs or put recurring ones.
    pub fn may_write(&self) -> bool {
        self.spec().may_write
    }

    pub(super) fn spec(&self) -> CallSpec {
        self.spec
            .unwrap_or_else(|| calls::spec_of_raw_call(&self.name, &self.args))
    }

    pub(super) fn retry_class(&self) -> RetryClass {
        self.spec().class
    }

    /// The subject of the call, for a sentence.
    pub(super) fn subject_text(&self) -> String {
        self.spec().subject_text(&self.name, &self.args)
    }

    /// The first arguments of a call, through the last one that names the job, queue or worker that it changes. Errors
    /// name that subject. Empty for a call that only reads.
    pub(super) fn args_through_changed_subject(&self) -> &[Vec<u8>] {
        let spec = self.spec();
        if spec.has_read_retry_class() {
            return &[];
        }
        &self.args[..spec
            .subject
            .arg_count_through_subject()
            .min(self.args.len())]
    }

    /// The job that the call is about.
    pub(super) fn subject_jid(&self) -> Option<Name> {
        self.spec().subject_jid(&self.args)
    }
}

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

    /// Removes the replies that are errors with one of these codes, so that the reason why their calls were not sent
    /// elsewhere is reported instead. Sends nothing again.
    pub(super) fn forget_error_replies(&mut self, codes: &[&str]) {
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
