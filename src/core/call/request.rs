//! One call, as it is sent.

use std::borrow::Cow;

use super::call_spec::{CallSpec, RetryClass};
use super::connect::PackedWords;
use super::{calls, raw};
use crate::clock::moment::Moment;
use crate::name::Name;

/// One call of the core, or one command of Redis.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) name: Cow<'static, str>,
    /// `None` for a raw call: its name and arguments decide.
    spec: Option<CallSpec>,
    pub(super) args: Vec<Vec<u8>>,
    /// The arguments that follow, packed already.
    pub(super) packed_args: PackedWords,
    /// Whether the call is a command of Redis and not one of the script.
    pub(super) is_plain: bool,
    /// The call's own time, if that is not the time of all calls in the round trip.
    pub(super) at: Option<Moment>,
}

impl Call {
    fn with_spec(name: impl Into<Cow<'static, str>>, spec: Option<CallSpec>) -> Call {
        Call {
            name: name.into(),
            spec,
            args: Vec::new(),
            packed_args: PackedWords::default(),
            is_plain: false,
            at: None,
        }
    }

    /// A call by its name on the wire, whose reply is printed as it is.
    pub fn raw_call(name: impl Into<String>) -> Call {
        Call::with_spec(name.into(), None)
    }

    /// A command of Redis itself, which may only read.
    pub fn redis_command(name: &'static str) -> Call {
        Call {
            is_plain: true,
            ..Call::with_spec(name, Some(CallSpec::for_read(name)))
        }
    }

    /// A call with the spec of its command.
    pub(crate) fn new(spec: CallSpec) -> Call {
        Call::with_spec(spec.name, Some(spec))
    }

    /// Sets the call's own time: jobs that are put at the same time have no order.
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

    /// Sets the packed arguments, which follow all others.
    pub(crate) fn packed_args(mut self, args: PackedWords) -> Call {
        self.packed_args = args;
        self
    }

    /// Wraps the call so that the core makes it only if the job is still as its mark says.
    pub(crate) fn guarded(self, jid: &Name, mark: &[u8], note: &[u8]) -> Call {
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

    /// Whether the call may change something, if only in passing.
    pub fn may_write(&self) -> bool {
        self.spec().may_write
    }

    pub(super) fn spec(&self) -> CallSpec {
        self.spec
            .unwrap_or_else(|| raw::spec_of_raw_call(&self.name, &self.args))
    }

    pub(super) fn retry_class(&self) -> RetryClass {
        self.spec().class
    }

    /// The subject of the call, for a sentence.
    pub(super) fn subject_text(&self) -> String {
        self.spec().subject_text(&self.name, &self.args)
    }

    /// The first arguments of a call that may change something, up to the ones that name its subject.
    pub(super) fn subject_args(&self) -> &[Vec<u8>] {
        let spec = self.spec();
        if spec.only_reads() {
            return &[];
        }
        &self.args[..spec.subject.leading_arg_count().min(self.args.len())]
    }

    /// The job that the call is about.
    pub(super) fn subject_jid(&self) -> Option<Name> {
        self.spec().subject_jid(&self.args)
    }
}
