//! What must be known about a call besides its name and arguments: whether it may be repeated if its reply is lost, and
//! how errors name it.
//!
//! [`calls`](super::calls) has the spec of each command.

use crate::command_line::CommandLine;
use crate::name::Name;
use crate::text;

/// Whether a call may be repeated if its reply was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryClass {
    /// The call only reads: repeat it.
    Read,
    /// A second call has no further effect: repeat it, with the same `now`.
    Idempotent,
    /// The core refuses a second call after a first one was applied: repeat it. The caller finds out whether a refusal
    /// means that the first call was applied.
    Guarded,
    /// A second call would have a second effect: do not repeat it.
    Never,
}

/// The wording of errors about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorWording {
    /// `cannot {verb} …`
    pub verb: &'static str,
    /// `lost … while {doing} …`
    pub doing: &'static str,
}

/// What a call is about: the kind of thing, and the index of the argument that names it, counted after `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectArgs {
    Nothing,
    Jid(usize),
    /// Jobs that no argument names alone.
    Jobs,
    Queue(usize),
    /// The arguments of a pop: the queue, and the worker that would hold the jobs.
    Pop {
        queue: usize,
        worker: usize,
    },
    Key(usize),
    Worker(usize),
    Group(usize),
}

impl SubjectArgs {
    /// The number of arguments up to and including the last one that names the subject.
    pub(super) fn arg_count_through_subject(self) -> usize {
        match self {
            SubjectArgs::Nothing | SubjectArgs::Jobs => 0,
            SubjectArgs::Jid(at) | SubjectArgs::Queue(at) | SubjectArgs::Key(at) => at + 1,
            SubjectArgs::Worker(at) | SubjectArgs::Group(at) => at + 1,
            SubjectArgs::Pop { queue, worker } => queue.max(worker) + 1,
        }
    }
}

/// The facts about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSpec {
    /// The call's name on the wire.
    pub name: &'static str,
    pub class: RetryClass,
    /// Whether the call may change data, even as a side effect: some reads of qless-core promote due jobs, put the jobs
    /// of templates, or forget workers.
    pub may_write: bool,
    pub wording: ErrorWording,
    pub subject: SubjectArgs,
}

impl CallSpec {
    pub(crate) const fn for_read(name: &'static str) -> CallSpec {
        CallSpec {
            name,
            class: RetryClass::Read,
            may_write: false,
            wording: ErrorWording {
                verb: "read",
                doing: "reading",
            },
            subject: SubjectArgs::Nothing,
        }
    }

    /// The spec of a read that may also write, such as one that promotes due jobs.
    pub(crate) const fn with_incidental_writes(self) -> CallSpec {
        CallSpec {
            may_write: true,
            ..self
        }
    }

    /// Sets the words of errors.
    pub(crate) const fn with_wording(self, verb: &'static str, doing: &'static str) -> CallSpec {
        let wording = ErrorWording { verb, doing };
        CallSpec { wording, ..self }
    }

    /// Sets whether the call may be repeated after a lost reply.
    pub(crate) const fn with_retry_class(self, class: RetryClass) -> CallSpec {
        CallSpec { class, ..self }
    }

    /// The spec of the call's dry run, which reads and reports what the call would do.
    pub(crate) const fn as_dry_run(self) -> CallSpec {
        CallSpec {
            class: RetryClass::Read,
            may_write: false,
            ..self
        }
    }

    /// Sets what the call is about, for errors.
    pub(crate) const fn with_subject(self, subject: SubjectArgs) -> CallSpec {
        CallSpec { subject, ..self }
    }

    pub(crate) fn only_reads(&self) -> bool {
        self.class == RetryClass::Read
    }

    /// The job that the call is about.
    pub(crate) fn subject_jid(&self, args: &[Vec<u8>]) -> Option<Name> {
        match self.subject {
            SubjectArgs::Jid(at) => args.get(at).map(|jid| Name::from(jid.as_slice())),
            _ => None,
        }
    }

    /// What the call is about, for a sentence: the name of the job, queue or worker in backticks, else the name of the
    /// call.
    pub(crate) fn subject_text(&self, call_name: &str, args: &[Vec<u8>]) -> String {
        let at = match self.subject {
            SubjectArgs::Nothing if self.only_reads() => return "the reply".into(),
            SubjectArgs::Nothing => None,
            SubjectArgs::Jobs => return "jobs".into(),
            SubjectArgs::Jid(at) | SubjectArgs::Queue(at) | SubjectArgs::Key(at) => Some(at),
            SubjectArgs::Worker(at) | SubjectArgs::Group(at) => Some(at),
            SubjectArgs::Pop { queue, .. } => Some(queue),
        };
        let named = at.and_then(|at| args.get(at));
        let named = named.map_or(call_name.as_bytes(), Vec::as_slice);
        format!("`{}`", text::Sanitized(named))
    }

    /// The hint with the command that shows whether a call was applied whose reply was lost.
    pub(crate) fn hint_for_lost_reply(&self, args: &[Vec<u8>]) -> Option<String> {
        let named = |at: usize| args.get(at).map(|name| Name::from(name.as_slice()));
        let command = |words: &str, at| Some(CommandLine::new(words).with_name(named(at)?));
        let command = match self.subject {
            SubjectArgs::Nothing | SubjectArgs::Jobs => None,
            SubjectArgs::Jid(at) => command("get", at),
            SubjectArgs::Queue(at) => command("queues", at),
            SubjectArgs::Pop { worker, .. } => command("workers", worker),
            SubjectArgs::Key(at) => command("config get", at),
            SubjectArgs::Worker(at) => command("workers", at),
            SubjectArgs::Group(at) => {
                Some(CommandLine::new("failed").with_exact_pattern("--group", &named(at)?))
            }
        };
        command?.fill_sentence("{} shows it")
    }
}
