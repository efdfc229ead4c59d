//! The commands of the core: one spec for each, by its name on the wire. The methods of `core::api`
//! name these constants; `qless api` finds them by name, in [`raw`](super::raw).

use super::call_spec::RetryClass::{self, Guarded, Idempotent, Never};
use super::call_spec::Subject::{Group, Jid, Jobs, Key, Pop, Queue, Worker};
use super::call_spec::{CallSpec, Wording};

/// Defines each command as a constant, and all of them as a list.
macro_rules! commands {
    ($($name:ident = $spec:expr;)*) => {
        $(pub(crate) const $name: CallSpec = $spec;)*
        pub(super) const ALL: &[&CallSpec] = &[$(&$name),*];
    };
}

commands! {
    BURY = write("bury", Guarded, "bury", "burying").about(Jid(0));
    CANCEL = write("cancel", Idempotent, "cancel", "cancelling").about(Jid(0));
    CHECK_REVERT = write("check.revert", Idempotent, "revert", "reverting");
    CHECK_SLICE = write("check.slice", Guarded, "repair", "repairing");
    COMPLETE = write("complete", Guarded, "complete", "completing").about(Jid(0));
    CONFIG_GET = read("config.get");
    CONFIG_SET = write("config.set", Idempotent, "set", "setting").about(Key(0));
    CONFIG_UNSET = write("config.unset", Idempotent, "unset", "unsetting").about(Key(0));
    DEPENDS = write("depends", Idempotent, DEPENDENCIES.0, DEPENDENCIES.1).about(Jid(0));
    FAIL = write("fail", Guarded, "fail", "failing").about(Jid(0));
    FAILED = read("failed");
    GET = read("get").wording("get", "getting").about(Jid(0));
    GUARD_CALL = write("guard.call", Guarded, "change", "changing").about(Jid(0));
    GUARD_CANCEL = write("guard.cancel", Idempotent, "cancel", "cancelling").about(Jid(1));
    GUARD_DEPENDS = write("guard.depends", Guarded, DEPENDENCIES.0, DEPENDENCIES.1).about(Jid(0));
    GUARD_FINISH = write("guard.finish", Guarded, "end jobs of", "ending jobs of").about(Worker(0));
    GUARD_HEARTBEAT =
        write("guard.heartbeat", Idempotent, "extend the locks of", "extending the locks of")
            .about(Worker(0));
    GUARD_PAUSE = write("guard.pause", Idempotent, "pause", "pausing").about(Queue(2));
    GUARD_PUT = write("guard.put", Never, "put", "putting").about(Jid(3));
    // Its verb decides whether it may be repeated.
    GUARD_RECUR = write("guard.recur", Never, "change", "changing").about(Jobs);
    GUARD_REQUEUE = write("guard.requeue", Guarded, "requeue", "requeueing").about(Jid(2));
    GUARD_TURN =
        write("guard.turn", Never, "end and pop jobs of", "ending and popping jobs of")
            .about(Worker(0));
    HEARTBEAT =
        write("heartbeat", Idempotent, "extend the lock of", "extending the lock of").about(Jid(0));
    JOBS = read("jobs");
    KEY_GET = read("key.get");
    LAG = read("lag").about(Queue(0));
    LENGTH = read("length").about(Queue(0));
    LOG = write("log", Never, "log to", "logging to").about(Jid(0));
    LOOK_INDEX = read("look.index");
    LOOK_JOBS = read("look.jobs");
    LOOK_LAG = read("look.lag");
    LOOK_NEXT = read("look.next");
    LOOK_POP = read("look.pop").about(Queue(0));
    LOOK_QUEUES = read("look.queues");
    LOOK_READY = read("look.ready");
    LOOK_RECURS = read("look.recurs");
    LOOK_SCAN = read("look.scan");
    LOOK_STATUS = read("look.status");
    LOOK_TRACES = read("look.traces").about(Jid(0));
    LOOK_WORKERS = read("look.workers");
    MULTIGET = read("multiget");
    PAUSE = write("pause", Idempotent, "pause", "pausing").about(Queue(0));
    PEEK = read("peek").may_tidy().about(Queue(0));
    POP = write("pop", Never, "pop from", "popping from").about(Pop { queue: 0, worker: 1 });
    POP_BY_JID =
        write("popByJid", Never, "pop from", "popping from").about(Pop { queue: 0, worker: 2 });
    PRIORITY =
        write("priority", Idempotent, "change the priority of", "changing the priority of")
            .about(Jid(0));
    PUT = write("put", Never, "put", "putting").about(Jid(2));
    QUEUES = read("queues").may_tidy();
    QUEUE_FORGET = write("queue.forget", Idempotent, "forget", "forgetting").about(Queue(0));
    QUEUE_IDENTIFIER_PATTERNS_GET_ALL = read("queueIdentifierPatterns.getAll");
    QUEUE_IDENTIFIER_PATTERNS_SET_ALL =
        write("queueIdentifierPatterns.setAll", Idempotent, "set", "setting");
    QUEUE_PRIORITY_PATTERNS_GET_ALL = read("queuePriorityPatterns.getAll");
    QUEUE_PRIORITY_PATTERNS_SET_ALL =
        write("queuePriorityPatterns.setAll", Idempotent, "set", "setting");
    QUEUE_THROTTLE_GET = read("queue.throttle.get");
    QUEUE_THROTTLE_SET = write("queue.throttle.set", Idempotent, "set", "setting");
    RECUR = write("recur", Never, "put", "putting").about(Jid(1));
    RECUR_GET = read("recur.get").wording("get", "getting").about(Jid(0));
    RECUR_TAG = write("recur.tag", Idempotent, "change", "changing").about(Jid(0));
    RECUR_UNTAG = write("recur.untag", Idempotent, "change", "changing").about(Jid(0));
    RECUR_UPDATE = write("recur.update", Idempotent, "change", "changing").about(Jid(0));
    REQUEUE = write("requeue", Never, "put", "putting").about(Jid(2));
    RETRY = write("retry", Guarded, "retry", "retrying").about(Jid(0));
    STATS = read("stats").about(Queue(0));
    SUBSCRIPTION =
        write("subscription", Idempotent, "change the topics of", "changing the topics of")
            .about(Queue(0));
    TAG = write("tag", Idempotent, "tag", "tagging").about(Jid(1));
    TAGS = read("tags");
    THROTTLE_DELETE = write("throttle.delete", Idempotent, "delete", "deleting");
    THROTTLE_GET = read("throttle.get");
    THROTTLE_LOCKS = read("throttle.locks");
    THROTTLE_PENDING = read("throttle.pending");
    THROTTLE_RELEASE = write("throttle.release", Idempotent, "release", "releasing");
    THROTTLE_SET = write("throttle.set", Idempotent, "set", "setting");
    THROTTLE_WAKE = write("throttle.wake", Idempotent, "wake the jobs of", "waking");
    TIMEOUT = write("timeout", Guarded, "time out", "timing out").about(Jid(0));
    TRACK = write("track", Idempotent, "track", "tracking").about(Jid(1));
    TRACKED = read("tracked");
    UNFAIL = write("unfail", Never, "unfail", "unfailing").about(Group(1));
    UNFAIL_JOBS = write("unfail.jobs", Never, "unfail", "unfailing").about(Group(1));
    UNPAUSE = write("unpause", Idempotent, "unpause", "unpausing").about(Queue(0));
    UNRECUR = write("unrecur", Idempotent, "remove", "removing").about(Jid(0));
    WORKERS = read("workers").may_tidy();
    WORKERS_COUNT = read("workersCount");
    WORKER_DEREGISTER =
        write("worker.deregister", Idempotent, "forget", "forgetting").about(Worker(0));
    WORKER_JOBS = read("workerJobs");
}

/// How errors speak of a change of dependencies.
const DEPENDENCIES: (&str, &str) = ("change the dependencies of", "changing the dependencies of");

const fn read(name: &'static str) -> CallSpec {
    CallSpec::read(name)
}

const fn write(
    name: &'static str,
    class: RetryClass,
    verb: &'static str,
    doing: &'static str,
) -> CallSpec {
    let wording = Wording { verb, doing };
    CallSpec {
        class,
        may_write: true,
        wording,
        ..CallSpec::read(name)
    }
}
