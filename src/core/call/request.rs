//! One call, as it is sent.

use std::borrow::Cow;

use super::call_spec::{CallSpec, RetryClass, Subject};
use super::connect::Words;
use super::raw;
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
    pub(super) packed_args: Words,
    /// Whether it is a command of Redis and not one of the script.
    pub(super) is_plain: bool,
    /// Its own time, if that is not the time of all calls in the round trip.
    pub(super) at: Option<Moment>,
}

impl Call {
    fn with(name: impl Into<Cow<'static, str>>, spec: Option<CallSpec>) -> Call {
        Call {
            name: name.into(),
            spec,
            args: Vec::new(),
            packed_args: Words::default(),
            is_plain: false,
            at: None,
        }
    }

    /// A call by its name on the wire, whose reply is printed as it is.
    pub fn raw(name: impl Into<String>) -> Call {
        Call::with(name.into(), None)
    }

    /// A command of Redis itself, which may only read.
    pub fn plain(name: &'static str) -> Call {
        Call {
            is_plain: true,
            ..Call::with(name, Some(CallSpec::READ))
        }
    }

    /// A call that reads.
    pub(crate) fn read(name: &'static str) -> Call {
        Call::with(name, Some(CallSpec::READ))
    }

    /// A call that writes: errors say `cannot {verb} …` and `lost … while {doing} …`.
    pub(crate) fn write(
        name: &'static str,
        class: RetryClass,
        verb: &'static str,
        doing: &'static str,
    ) -> Call {
        Call::with(name, Some(CallSpec::write(class, verb, doing)))
    }

    /// Gives the call its own time: jobs that are put at the same time have no order.
    pub(crate) fn at(mut self, moment: Option<Moment>) -> Call {
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

    /// Adds arguments that are packed already. They come last.
    pub(crate) fn packed_args(mut self, words: Words) -> Call {
        self.packed_args = words;
        self
    }

    /// Sets what the call is about.
    pub(crate) fn about(mut self, subject: Subject) -> Call {
        self.spec = self.spec.map(|spec| spec.about(subject));
        self
    }

    /// Adds the job that the call is about.
    pub(crate) fn jid(self, jid: &Name) -> Call {
        let at = self.args.len();
        self.arg(jid).about(Subject::Jid(at))
    }

    /// Adds the queue that the call is about.
    pub(crate) fn queue(self, queue: &Name) -> Call {
        let at = self.args.len();
        self.arg(queue).about(Subject::Queue(at))
    }

    /// Wraps the call so that the core makes it only if the job is still as its mark says.
    pub(crate) fn guarded(self, jid: &Name, mark: &[u8], note: &[u8]) -> Call {
        let wording = self.spec().wording;
        let mut call = Call::write(
            "guard.call",
            RetryClass::Guarded,
            wording.verb,
            wording.doing,
        )
        .jid(jid)
        .arg(mark)
        .arg(note)
        .arg(self.name.as_bytes());
        call.args.extend(self.args);
        call.packed_args(self.packed_args)
    }

    /// Whether the call may change something, if only in passing.
    pub fn may_write(&self) -> bool {
        self.spec().may_write
    }

    pub(super) fn spec(&self) -> CallSpec {
        self.spec
            .unwrap_or_else(|| raw::spec(&self.name, &self.args))
    }

    pub(super) fn class(&self) -> RetryClass {
        self.spec().class
    }

    /// Returns what the call is about, for a sentence.
    pub(super) fn object(&self) -> String {
        self.spec().object(&self.name, &self.args)
    }

    /// Returns the job that the call is about.
    pub(super) fn subject_jid(&self) -> Option<Name> {
        self.spec().jid(&self.args)
    }
}
