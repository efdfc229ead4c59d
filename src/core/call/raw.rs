//! The specs of calls by their names on the wire, for `qless api` and the commands that print the
//! core's reply as it is.

use super::call_spec::{CallSpec, RetryClass, Subject, Wording};

/// Returns the spec of a call. A name that the core does not have has the spec that allows least.
pub(crate) fn spec(name: &str, args: &[Vec<u8>]) -> CallSpec {
    use RetryClass::Idempotent;
    let first = args.first().map(|arg| arg.to_ascii_lowercase());
    match (name, first.as_deref()) {
        ("tag", Some(b"get" | b"top")) => CallSpec::READ,
        ("track", None) => CallSpec::READ,
        ("subscription", _) => match args.get(1).map(Vec::as_slice) {
            Some(b"get" | b"exists") => CallSpec::READ,
            // It notes the queues that other scripts have subscribed.
            Some(b"all") => CallSpec {
                may_write: true,
                ..CallSpec::READ
            },
            _ => by_name(name).unwrap_or(UNKNOWN),
        },
        ("check.slice", Some(b"look")) => CallSpec::READ,
        ("jobs", Some(b"scheduled")) => CallSpec {
            may_write: true,
            ..CallSpec::READ
        },
        ("guard.put", Some(policy)) if !replaces(policy) => CallSpec {
            class: Idempotent,
            ..by_name(name).unwrap_or(UNKNOWN)
        },
        ("guard.depends", _) if !is_marked(args, 1) => CallSpec {
            class: Idempotent,
            ..by_name(name).unwrap_or(UNKNOWN)
        },
        // jid, mark, note, then the inner call.
        ("guard.call", _) => {
            let outer = by_name(name).unwrap_or(UNKNOWN);
            let Some(inner) = args.get(3).and_then(|name| std::str::from_utf8(name).ok()) else {
                return outer;
            };
            let inner = spec(inner, &args[4..]);
            CallSpec {
                class: if is_marked(args, 1) {
                    outer.class
                } else {
                    inner.class
                },
                may_write: !inner.reads(),
                wording: inner.wording,
                subject: outer.subject,
            }
        }
        _ => by_name(name).unwrap_or(UNKNOWN),
    }
}

const UNKNOWN: CallSpec = CallSpec::write(RetryClass::Never, "call", "calling");

/// Returns the spec of a name. A call that the core would refuse the second time is not repeated:
/// nothing here can tell what the refusal means.
fn by_name(name: &str) -> Option<CallSpec> {
    use RetryClass::{Idempotent, Never};
    use Subject::{Group, Jid, Jobs, Key, Pop, Queue, Worker};
    let read = CallSpec::READ;
    let write = CallSpec::write;
    Some(match name {
        "get" | "recur.get" => CallSpec {
            wording: Wording {
                verb: "get",
                doing: "getting",
            },
            ..read.about(Jid(0))
        },
        "multiget" | "jobs" | "failed" | "config.get" | "tags" | "tracked" | "workersCount"
        | "workerJobs" => read,
        "look.index" | "look.jobs" | "look.lag" | "look.next" | "look.queues" | "look.ready"
        | "look.recurs" | "look.scan" | "look.status" | "look.workers" => read,
        "throttle.get" | "throttle.locks" | "throttle.pending" | "queue.throttle.get"
        | "key.get" => read,
        "throttle.set" | "queue.throttle.set" => write(Idempotent, "set", "setting"),
        "throttle.wake" => write(Idempotent, "wake the jobs of", "waking"),
        "throttle.delete" => write(Idempotent, "delete", "deleting"),
        "throttle.release" => write(Idempotent, "release", "releasing"),
        "look.pop" => read.about(Queue(0)),
        "look.traces" => read.about(Jid(0)),
        "stats" | "length" | "lag" => read.about(Queue(0)),
        "queueIdentifierPatterns.getAll" | "queuePriorityPatterns.getAll" => read,
        "queueIdentifierPatterns.setAll" | "queuePriorityPatterns.setAll" => {
            write(Idempotent, "set", "setting")
        }
        "queues" | "workers" => CallSpec {
            may_write: true,
            ..read
        },
        "peek" => CallSpec {
            may_write: true,
            ..read.about(Queue(0))
        },
        "put" | "requeue" => write(Never, "put", "putting").about(Jid(2)),
        "guard.put" => write(Never, "put", "putting").about(Jid(3)),
        "guard.requeue" => write(Never, "requeue", "requeueing").about(Jid(2)),
        "guard.cancel" => write(Idempotent, "cancel", "cancelling").about(Jid(1)),
        "cancel" => write(Idempotent, "cancel", "cancelling").about(Jid(0)),
        "guard.depends" => write(Never, DEPENDS.0, DEPENDS.1).about(Jid(0)),
        "depends" => write(Idempotent, DEPENDS.0, DEPENDS.1).about(Jid(0)),
        "guard.call" => write(Never, "change", "changing").about(Jid(0)),
        "guard.recur" => write(Never, "change", "changing").about(Jobs),
        "guard.finish" => write(Never, "end jobs of", "ending jobs of").about(Worker(0)),
        "guard.turn" => {
            write(Never, "end and pop jobs of", "ending and popping jobs of").about(Worker(0))
        }
        "guard.heartbeat" => {
            write(Idempotent, "extend the locks of", "extending the locks of").about(Worker(0))
        }
        "guard.pause" => write(Idempotent, "pause", "pausing").about(Queue(2)),
        "check.slice" => write(Never, "repair", "repairing"),
        "check.revert" => write(Idempotent, "revert", "reverting"),
        "pause" => write(Idempotent, "pause", "pausing").about(Queue(0)),
        "unpause" => write(Idempotent, "unpause", "unpausing").about(Queue(0)),
        "queue.forget" => write(Idempotent, "forget", "forgetting").about(Queue(0)),
        "worker.deregister" => write(Idempotent, "forget", "forgetting").about(Worker(0)),
        "pop" => write(Never, "pop from", "popping from").about(Pop {
            queue: 0,
            worker: 1,
        }),
        "popByJid" => write(Never, "pop from", "popping from").about(Pop {
            queue: 0,
            worker: 2,
        }),
        "subscription" => {
            write(Idempotent, "change the topics of", "changing the topics of").about(Queue(0))
        }
        "complete" => write(Never, "complete", "completing").about(Jid(0)),
        "fail" => write(Never, "fail", "failing").about(Jid(0)),
        "bury" => write(Never, "bury", "burying").about(Jid(0)),
        "retry" => write(Never, "retry", "retrying").about(Jid(0)),
        "heartbeat" => {
            write(Idempotent, "extend the lock of", "extending the lock of").about(Jid(0))
        }
        "timeout" => write(Never, "time out", "timing out").about(Jid(0)),
        "priority" => write(
            Idempotent,
            "change the priority of",
            "changing the priority of",
        )
        .about(Jid(0)),
        "log" => write(Never, "log to", "logging to").about(Jid(0)),
        "tag" => write(Idempotent, "tag", "tagging").about(Jid(1)),
        "track" => write(Idempotent, "track", "tracking").about(Jid(1)),
        "unfail" => write(Never, "unfail", "unfailing").about(Group(1)),
        "config.set" => write(Idempotent, "set", "setting").about(Key(0)),
        "config.unset" => write(Idempotent, "unset", "unsetting").about(Key(0)),
        "recur" => write(Never, "put", "putting").about(Jid(1)),
        "recur.update" | "recur.tag" | "recur.untag" => {
            write(Idempotent, "change", "changing").about(Jid(0))
        }
        "unrecur" => write(Idempotent, "remove", "removing").about(Jid(0)),
        _ => return None,
    })
}

const DEPENDS: (&str, &str) = ("change the dependencies of", "changing the dependencies of");

/// Returns whether an argument is the mark of a job.
fn is_marked(args: &[Vec<u8>], at: usize) -> bool {
    args.get(at).is_some_and(|mark| !mark.is_empty())
}

/// Returns whether a policy that the operator typed lets `guard.put` put an existing job again.
fn replaces(policy: &[u8]) -> bool {
    let policy = serde_json::from_slice::<serde_json::Value>(policy);
    policy.map_or(true, |policy| policy["replace"] == true)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn spec_of(name: &str, args: &[&str]) -> CallSpec {
        let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        spec(name, &args)
    }

    #[test]
    fn every_command_of_the_core_has_a_spec() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/command");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(by_name(name).is_some(), "{name}");
            count += 1;
        }
        assert!(count > 40);
    }

    #[test]
    fn an_unknown_name_may_write_and_is_never_repeated() {
        let spec = spec_of("nope", &[]);
        assert_eq!((spec.class, spec.may_write), (RetryClass::Never, true));
    }

    #[test]
    fn the_arguments_tell_the_reading_forms_from_the_writing_ones() {
        let reads = |name, args: &[&str]| spec_of(name, args).reads();
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
        let call = |mark, inner| class("guard.call", &["a", mark, "", inner, "add", "a"]);
        assert_eq!(call("m", "retry"), RetryClass::Never);
        assert_eq!(call("", "retry"), RetryClass::Never);
        assert_eq!(call("", "tag"), RetryClass::Idempotent);
        assert_eq!(call("", "log"), RetryClass::Never);
        assert_eq!(class("unfail", &["q", "g"]), RetryClass::Never);
    }
}
