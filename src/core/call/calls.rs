//! The commands of the core: one spec for each, by its name on the wire. The methods of `core::api` name these constants.
//! [`spec_of_raw_call`] finds the spec of a raw call, whose name and arguments come from the user: `qless api` makes raw
//! calls, and so do the commands that print the core's reply unchanged.
//!
//! A spec is what must be known about a call besides its name and arguments: whether it may be repeated if its reply is
//! lost, and how errors name it.

use serde::Deserialize;

use self::RetryClass::{Guarded, Idempotent, Never};
use self::SubjectArgs::{Group, Jid, Jobs, Key, Pop, Queue, Worker};
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

    pub(crate) fn has_read_retry_class(&self) -> bool {
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
            SubjectArgs::Nothing if self.has_read_retry_class() => return "the reply".into(),
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
        let command =
            |words: &str, at| Some(CommandLine::new(words).with_name_argument(named(at)?));
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

/// Defines each command of the core as a constant, and `ALL` as the list of all commands.
macro_rules! commands {
    ($($name:ident = $spec:expr;)*) => {
        $(pub(crate) const $name: CallSpec = $spec;)*
        pub(super) const ALL: &[&CallSpec] = &[$(&$name),*];
    };
}

commands! {
    BURY = write_spec("bury", Guarded, "bury", "burying").with_subject(Jid(0));
    CANCEL = write_spec("cancel", Idempotent, "cancel", "cancelling").with_subject(Jid(0));
    CHECK_REVERT = write_spec("check.revert", Idempotent, "revert", "reverting");
    CHECK_SLICE = write_spec("check.slice", Guarded, "repair", "repairing");
    COMPLETE = write_spec("complete", Guarded, "complete", "completing").with_subject(Jid(0));
    CONFIG_GET = read_spec("config.get");
    CONFIG_SET = write_spec("config.set", Idempotent, "set", "setting").with_subject(Key(0));
    CONFIG_UNSET = write_spec("config.unset", Idempotent, "unset", "unsetting").with_subject(Key(0));
    DEPENDS = write_spec("depends", Idempotent, DEPENDENCIES.0, DEPENDENCIES.1).with_subject(Jid(0));
    FAIL = write_spec("fail", Guarded, "fail", "failing").with_subject(Jid(0));
    FAILED = read_spec("failed");
    GET = read_spec("get").with_wording("get", "getting").with_subject(Jid(0));
    GUARD_CALL = write_spec("guard.call", Guarded, "change", "changing").with_subject(Jid(0));
    GUARD_CANCEL = write_spec("guard.cancel", Idempotent, "cancel", "cancelling").with_subject(Jid(1));
    GUARD_DEPENDS = write_spec("guard.depends", Guarded, DEPENDENCIES.0, DEPENDENCIES.1).with_subject(Jid(0));
    GUARD_FINISH = write_spec("guard.finish", Guarded, "end jobs of", "ending jobs of").with_subject(Worker(0));
    GUARD_HEARTBEAT =
        write_spec("guard.heartbeat", Idempotent, "extend the locks of", "extending the locks of")
            .with_subject(Worker(0));
    GUARD_PAUSE = write_spec("guard.pause", Idempotent, "pause", "pausing").with_subject(Queue(2));
    GUARD_PUT = write_spec("guard.put", Never, "put", "putting").with_subject(Jid(3));
    // `Never` is only the default: the verb of the call decides whether the call may be repeated, and replaces it.
    GUARD_RECUR = write_spec("guard.recur", Never, "change", "changing").with_subject(Jobs);
    GUARD_REQUEUE = write_spec("guard.requeue", Guarded, "requeue", "requeueing").with_subject(Jid(2));
    GUARD_TURN =
        write_spec("guard.turn", Never, "end and pop jobs of", "ending and popping jobs of")
            .with_subject(Worker(0));
    HEARTBEAT =
        write_spec("heartbeat", Idempotent, "extend the lock of", "extending the lock of").with_subject(Jid(0));
    JOBS = read_spec("jobs");
    KEY_GET = read_spec("key.get");
    LAG = read_spec("lag").with_subject(Queue(0));
    LENGTH = read_spec("length").with_subject(Queue(0));
    LOG = write_spec("log", Never, "log to", "logging to").with_subject(Jid(0));
    LOOK_INDEX = read_spec("look.index");
    LOOK_JOBS = read_spec("look.jobs");
    LOOK_LAG = read_spec("look.lag");
    LOOK_NEXT = read_spec("look.next");
    LOOK_POP = read_spec("look.pop").with_subject(Queue(0));
    LOOK_QUEUES = read_spec("look.queues");
    LOOK_READY = read_spec("look.ready");
    LOOK_RECURS = read_spec("look.recurs");
    LOOK_SCAN = read_spec("look.scan");
    LOOK_STATUS = read_spec("look.status");
    LOOK_THROTTLES = read_spec("look.throttles");
    LOOK_TRACES = read_spec("look.traces").with_subject(Jid(0));
    LOOK_WORKERS = read_spec("look.workers");
    MULTIGET = read_spec("multiget");
    PAUSE = write_spec("pause", Idempotent, "pause", "pausing").with_subject(Queue(0));
    PEEK = read_spec("peek").with_incidental_writes().with_subject(Queue(0));
    POP = write_spec("pop", Never, "pop from", "popping from").with_subject(Pop { queue: 0, worker: 1 });
    POP_BY_JID =
        write_spec("popByJid", Never, "pop from", "popping from").with_subject(Pop { queue: 0, worker: 2 });
    PRIORITY =
        write_spec("priority", Idempotent, "change the priority of", "changing the priority of")
            .with_subject(Jid(0));
    PUT = write_spec("put", Never, "put", "putting").with_subject(Jid(2));
    QUEUES = read_spec("queues").with_incidental_writes();
    QUEUE_FORGET = write_spec("queue.forget", Idempotent, "forget", "forgetting").with_subject(Queue(0));
    QUEUE_IDENTIFIER_PATTERNS_GET_ALL = read_spec("queueIdentifierPatterns.getAll");
    QUEUE_IDENTIFIER_PATTERNS_SET_ALL =
        write_spec("queueIdentifierPatterns.setAll", Idempotent, "set", "setting");
    QUEUE_PRIORITY_PATTERNS_GET_ALL = read_spec("queuePriorityPatterns.getAll");
    QUEUE_PRIORITY_PATTERNS_SET_ALL =
        write_spec("queuePriorityPatterns.setAll", Idempotent, "set", "setting");
    QUEUE_THROTTLE_GET = read_spec("queue.throttle.get");
    QUEUE_THROTTLE_SET = write_spec("queue.throttle.set", Idempotent, "set", "setting");
    RECUR = write_spec("recur", Never, "put", "putting").with_subject(Jid(1));
    RECUR_GET = read_spec("recur.get").with_wording("get", "getting").with_subject(Jid(0));
    RECUR_TAG = write_spec("recur.tag", Idempotent, "change", "changing").with_subject(Jid(0));
    RECUR_UNTAG = write_spec("recur.untag", Idempotent, "change", "changing").with_subject(Jid(0));
    RECUR_UPDATE = write_spec("recur.update", Idempotent, "change", "changing").with_subject(Jid(0));
    REQUEUE = write_spec("requeue", Never, "put", "putting").with_subject(Jid(2));
    RETRY = write_spec("retry", Guarded, "retry", "retrying").with_subject(Jid(0));
    STATS = read_spec("stats").with_subject(Queue(0));
    SUBSCRIPTION =
        write_spec("subscription", Idempotent, "change the topics of", "changing the topics of")
            .with_subject(Queue(0));
    TAG = write_spec("tag", Idempotent, "tag", "tagging").with_subject(Jid(1));
    TAGS = read_spec("tags");
    THROTTLE_DELETE = write_spec("throttle.delete", Idempotent, "delete", "deleting");
    THROTTLE_GET = read_spec("throttle.get");
    THROTTLE_LOCKS = read_spec("throttle.locks");
    THROTTLE_PENDING = read_spec("throttle.pending");
    THROTTLE_RELEASE = write_spec("throttle.release", Idempotent, "release", "releasing");
    THROTTLE_SET = write_spec("throttle.set", Idempotent, "set", "setting");
    THROTTLE_WAKE = write_spec("throttle.wake", Idempotent, "wake the jobs of", "waking the jobs of");
    TIMEOUT = write_spec("timeout", Guarded, "time out", "timing out").with_subject(Jid(0));
    TRACK = write_spec("track", Idempotent, "track", "tracking").with_subject(Jid(1));
    TRACKED = read_spec("tracked");
    UNFAIL = write_spec("unfail", Never, "unfail", "unfailing").with_subject(Group(1));
    UNFAIL_JOBS = write_spec("unfail.jobs", Never, "unfail", "unfailing").with_subject(Group(1));
    UNPAUSE = write_spec("unpause", Idempotent, "unpause", "unpausing").with_subject(Queue(0));
    UNRECUR = write_spec("unrecur", Idempotent, "remove", "removing").with_subject(Jid(0));
    WORKERS = read_spec("workers").with_incidental_writes();
    WORKERS_COUNT = read_spec("workersCount");
    WORKER_DEREGISTER =
        write_spec("worker.deregister", Idempotent, "forget", "forgetting").with_subject(Worker(0));
    WORKER_JOBS = read_spec("workerJobs");
}

/// The wording of errors about a change of dependencies.
const DEPENDENCIES: (&str, &str) = ("change the dependencies of", "changing the dependencies of");

const fn read_spec(name: &'static str) -> CallSpec {
    CallSpec::for_read(name)
}

const fn write_spec(
    name: &'static str,
    class: RetryClass,
    verb: &'static str,
    doing: &'static str,
) -> CallSpec {
    CallSpec {
        class,
        may_write: true,
        ..CallSpec::for_read(name).with_wording(verb, doing)
    }
}

/// The spec of a raw call, by its name and arguments: whether the call may write, and whether it may be repeated. A
/// call with an unknown name counts as one that may write and is never repeated.
pub(crate) fn spec_of_raw_call(name: &str, args: &[Vec<u8>]) -> CallSpec {
    let spec = raw_spec_or_unknown(name);
    let reads = CallSpec::for_read(spec.name);
    let first = args.first().map(|arg| arg.to_ascii_lowercase());
    match (name, first.as_deref()) {
        ("tag", Some(b"get" | b"top")) | ("track", None) | ("check.slice", Some(b"look")) => reads,
        ("subscription", _) => match args.get(1).map(Vec::as_slice) {
            Some(b"get" | b"exists") => reads,
            // `subscription all` also writes: it stores the names of queues to which scripts of other clients gave
            // topics.
            Some(b"all") => reads.with_incidental_writes(),
            _ => spec,
        },
        ("jobs", Some(b"scheduled")) => spec.with_incidental_writes(),
        ("guard.put", Some(policy)) => match PutPolicyReplaceAndDry::from_json(policy) {
            PutPolicyReplaceAndDry { dry: true, .. } => spec.as_dry_run(),
            PutPolicyReplaceAndDry { replace: false, .. } => spec.with_retry_class(Idempotent),
            _ => spec,
        },
        ("guard.depends", _) if !has_nonempty_mark_at(args, 1) => spec.with_retry_class(Idempotent),
        // jid, mark, note, then the inner call.
        ("guard.call", _) => {
            let Some(inner) = args.get(3).and_then(|name| std::str::from_utf8(name).ok()) else {
                return spec;
            };
            let inner = spec_of_raw_call(inner, &args[4..]);
            let has_mark = has_nonempty_mark_at(args, 1);
            CallSpec {
                class: if has_mark { spec.class } else { inner.class },
                may_write: !inner.has_read_retry_class(),
                wording: inner.wording,
                ..spec
            }
        }
        _ => spec,
    }
}

const UNKNOWN: CallSpec = CallSpec {
    class: Never,
    may_write: true,
    ..CallSpec::for_read("").with_wording("call", "calling")
};

/// The spec of the raw call with this name. A guarded call is not repeated here: if the core refused the second
/// attempt, no caller of a raw call could say whether the first attempt was applied.
fn raw_spec_or_unknown(name: &str) -> CallSpec {
    let spec = ALL.iter().find(|spec| spec.name == name);
    match spec.copied() {
        Some(spec) if spec.class == Guarded => spec.with_retry_class(Never),
        spec => *spec.unwrap_or(&UNKNOWN),
    }
}

/// Whether the argument at this index is a mark, which changes whenever its job does. A call with a mark is not
/// repeated: the refusal of the second attempt would hide the result of the first. An empty argument is no mark.
fn has_nonempty_mark_at(args: &[Vec<u8>], index: usize) -> bool {
    args.get(index).is_some_and(|mark| !mark.is_empty())
}

/// The fields of the first argument of `guard.put`, a JSON object, that decide whether the call may be repeated.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PutPolicyReplaceAndDry {
    /// Whether the call replaces a job that exists already.
    replace: bool,
    dry: bool,
}

impl PutPolicyReplaceAndDry {
    /// Reads the fields from the JSON text. Text that is not valid JSON forbids a repetition; the core will refuse it.
    fn from_json(policy: &[u8]) -> PutPolicyReplaceAndDry {
        serde_json::from_slice(policy).unwrap_or(PutPolicyReplaceAndDry {
            replace: true,
            dry: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn spec_of(name: &str, args: &[&str]) -> CallSpec {
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        spec_of_raw_call(name, &args)
    }

    #[test]
    fn every_command_of_the_core_has_a_spec() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/command");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert_eq!(raw_spec_or_unknown(name).name, name);
            count += 1;
        }
        assert_eq!(count, ALL.len());
    }

    #[test]
    fn an_unknown_name_may_write_and_is_never_repeated() {
        let spec = spec_of("nope", &[]);
        assert_eq!((spec.class, spec.may_write), (RetryClass::Never, true));
    }

    #[test]
    fn the_arguments_tell_the_reading_forms_from_the_writing_ones() {
        let reads = |name, args: &[&str]| spec_of(name, args).has_read_retry_class();
        assert!(reads("track", &[]));
        assert!(!reads("track", &["track", "j"]));
        assert!(reads("tag", &["get", "t"]));
        assert!(!reads("tag", &["add", "j", "t"]));
        assert!(reads("look.jobs", &["brief", "j"]));
        assert!(!reads("guard.put", &["{}"]));
        assert!(reads("check.slice", &["look", "", "", "job", ""]));
        assert!(!reads("check.slice", &["mend", "", "run", "job", ""]));
    }

    #[test]
    fn some_reads_may_write_in_passing() {
        let may_write = |name, args: &[&str]| spec_of(name, args).may_write;
        assert!(may_write("queues", &[]));
        assert!(may_write("jobs", &["scheduled", "q"]));
        assert!(!may_write("jobs", &["complete"]));
        assert!(!may_write("get", &["j"]));
        assert!(!may_write("guard.call", &["a", "m", "", "get", "a"]));
        assert!(may_write("guard.call", &["a", "m", "", "retry", "a"]));
    }

    #[test]
    fn the_arguments_decide_whether_a_lost_call_may_be_repeated() {
        let class = |name, args: &[&str]| spec_of(name, args).class;
        assert_eq!(class("guard.put", &["{}"]), RetryClass::Idempotent);
        let keep = r#"{"replace":false}"#;
        assert_eq!(class("guard.put", &[keep]), RetryClass::Idempotent);
        let replace = r#"{"replace":true}"#;
        assert_eq!(class("guard.put", &[replace]), RetryClass::Never);
        assert_eq!(class("guard.put", &["nonsense"]), RetryClass::Never);
        let dry = r#"{"replace":true,"dry":true}"#;
        assert_eq!(class("guard.put", &[dry]), RetryClass::Read);
        let call = |mark, inner| class("guard.call", &["a", mark, "", inner, "add", "a"]);
        assert_eq!(call("m", "retry"), RetryClass::Never);
        assert_eq!(call("", "retry"), RetryClass::Never);
        assert_eq!(call("", "tag"), RetryClass::Idempotent);
        assert_eq!(call("", "log"), RetryClass::Never);
        assert_eq!(class("unfail", &["q", "g"]), RetryClass::Never);
    }
}
