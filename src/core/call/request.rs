//! One call, as it is sent.

use std::borrow::Cow;

use super::calls::{CallSpec, RetryClass};
use super::connect::PackedWords;
use super::{calls, raw};
use crate::clock::moment::Moment;
use crate::name::Name;

/// A request to the server: one call of the Lua core, or one Redis command.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) name: Cow<'static, str>,
    /// The facts about the call, such as whether it may be repeated. `None` for a raw call: `raw.rs` derives them from
    /// its name and arguments.
    spec: Option<CallSpec>,
    pub(super) args: Vec<Vec<u8>>,
    /// The arguments after `args`, already encoded for the wire.
    pub(super) packed_args: PackedWords,
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
            packed_args: PackedWords::default(),
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
    pub(crate) fn packed_args(mut self, args: PackedWords) -> Call {
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
            .unwrap_or_else(|| raw::spec_of_raw_call(&self.name, &self.args))
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
