//! What is to be known of each call by its name on the wire: what may be done after its answer was
//! lost (`reliability.md` 4.1), and how to speak of it when it is lost or refused.

use crate::name::Name;
use crate::text;

/// What a call is about: which of its arguments, after `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Nothing,
    Jid(usize),
    Queue(usize),
    /// `pop`: the queue and the worker that would have the jobs.
    Pop,
    Key(usize),
    Worker(usize),
    Group(usize),
}

/// What may be done about a call whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryClass {
    /// It reads: repeat it.
    Read,
    /// It does the same twice as once: repeat it, with the same `now`.
    Idempotent,
    /// It is refused the second time: repeat it, and find out what a refusal means.
    Guarded,
    /// Nothing: nobody knows whether it happened.
    Never,
}

/// One call of the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSpec {
    pub class: RetryClass,
    /// `cannot {verb} …`
    pub verb: &'static str,
    /// `lost … while {doing} …`
    pub doing: &'static str,
    pub about: Subject,
}

/// Returns what is known of a call.
pub(crate) fn wire(name: &str) -> CallSpec {
    use RetryClass::{Guarded, Idempotent, Never, Read};
    use Subject::{Group, Jid, Key, Nothing, Pop, Queue, Worker};
    let (class, verb, doing, about) = match name {
        "get" | "recur.get" => (Read, "get", "getting", Jid(0)),
        "multiget" | "jobs" | "queues" | "workers" | "failed" | "config.get" => {
            (Read, "read", "reading", Nothing)
        }
        "peek" | "stats" | "length" => (Read, "read", "reading", Queue(0)),
        // The core writes its names small; what is asked of Redis itself only reads.
        _ if plain(name) => (Read, "read", "reading", Nothing),
        _ if name.starts_with("look.") => (Read, "read", "reading", Nothing),
        "put" | "requeue" => (Never, "put", "putting", Jid(2)),
        "guard.put" => (Idempotent, "put", "putting", Jid(3)),
        "guard.requeue" => (Guarded, "requeue", "requeueing", Jid(2)),
        "guard.cancel" => (Idempotent, "cancel", "cancelling", Jid(1)),
        "cancel" => (Idempotent, "cancel", "cancelling", Jid(0)),
        "guard.depends" => (Guarded, DEPENDS.0, DEPENDS.1, Jid(0)),
        "depends" => (Idempotent, DEPENDS.0, DEPENDS.1, Jid(0)),
        "guard.call" => (Guarded, "change", "changing", Jid(0)),
        "guard.pause" => (Idempotent, "pause", "pausing", Queue(2)),
        "check.slice" => (Guarded, "mend", "mending", Nothing),
        "check.revert" => (Idempotent, "put back", "putting back", Nothing),
        "pause" => (Idempotent, "pause", "pausing", Queue(0)),
        "unpause" => (Idempotent, "unpause", "unpausing", Queue(0)),
        "queue.forget" => (Idempotent, "forget", "forgetting", Queue(0)),
        "worker.deregister" => (Idempotent, "forget", "forgetting", Worker(0)),
        "pop" => (Never, "pop from", "popping from", Pop),
        "complete" => (Guarded, "complete", "completing", Jid(0)),
        "fail" => (Guarded, "fail", "failing", Jid(0)),
        "retry" => (Guarded, "retry", "retrying", Jid(0)),
        "heartbeat" => (
            Idempotent,
            "extend the lock of",
            "extending the lock of",
            Jid(0),
        ),
        "timeout" => (Guarded, "time out", "timing out", Jid(0)),
        "priority" => (
            Idempotent,
            "change the priority of",
            "changing the priority of",
            Jid(0),
        ),
        "log" => (Never, "log to", "logging to", Jid(0)),
        "tag" => (Idempotent, "tag", "tagging", Jid(1)),
        "track" => (Idempotent, "track", "tracking", Jid(1)),
        "unfail" => (Never, "unfail", "unfailing", Group(1)),
        "config.set" => (Idempotent, "set", "setting", Key(0)),
        "config.unset" => (Idempotent, "unset", "unsetting", Key(0)),
        "recur" => (Guarded, "put", "putting", Jid(1)),
        "recur.update" | "recur.tag" | "recur.untag" => (Idempotent, "change", "changing", Jid(0)),
        "unrecur" => (Idempotent, "remove", "removing", Jid(0)),
        _ => (Never, "call", "calling", Nothing),
    };
    CallSpec {
        class,
        verb,
        doing,
        about,
    }
}

/// Whether a name is that of a command of Redis.
fn plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase())
}

const DEPENDS: (&str, &str) = ("change the dependencies of", "changing the dependencies of");

/// Returns what is known of a call with these arguments: `tag` and `track` read and write, and a
/// guarded call is guarded by a mark.
pub(crate) fn call(name: &str, args: &[Vec<u8>]) -> CallSpec {
    let known = wire(name);
    let first = args.first().map(|arg| arg.to_ascii_lowercase());
    let marked = |at: usize| args.get(at).is_some_and(|mark| !mark.is_empty());
    let class = match (name, first.as_deref()) {
        ("tag", Some(b"get" | b"top")) | ("track", None) | ("check.slice", Some(b"look")) => {
            return CallSpec {
                class: RetryClass::Read,
                verb: "read",
                doing: "reading",
                about: Subject::Nothing,
            };
        }
        ("guard.put", Some(policy)) => match replaces(policy) {
            true => RetryClass::Never,
            false => known.class,
        },
        // Options and note, then per job: jid, mark, due.
        ("guard.requeue", _) => {
            let (verb, doing) = args.get(1).map_or((known.verb, known.doing), |note| {
                requeueing(note).unwrap_or((known.verb, known.doing))
            });
            return CallSpec {
                class: match (3..args.len()).step_by(3).all(marked) {
                    true => known.class,
                    false => RetryClass::Never,
                },
                verb,
                doing,
                ..known
            };
        }
        ("guard.depends", _) if !marked(1) => RetryClass::Idempotent,
        ("guard.call", _) => {
            let Some(inner) = args.get(3).and_then(|name| std::str::from_utf8(name).ok()) else {
                return known;
            };
            let inner = call(inner, &args[4..]);
            return CallSpec {
                class: if marked(1) { known.class } else { inner.class },
                about: known.about,
                ..inner
            };
        }
        _ => known.class,
    };
    CallSpec { class, ..known }
}

/// Returns how a requeue is spoken of by its note.
fn requeueing(note: &[u8]) -> Option<(&'static str, &'static str)> {
    let note: serde_json::Value = serde_json::from_slice(note).ok()?;
    match note["verb"].as_str()? {
        "retry" => Some(("retry", "retrying")),
        "promote" => Some(("promote", "promoting")),
        "move" => Some(("move", "moving")),
        _ => None,
    }
}

/// Whether a policy of `guard.put` may put a job again that exists.
fn replaces(policy: &[u8]) -> bool {
    let policy = serde_json::from_slice::<serde_json::Value>(policy);
    policy.map_or(true, |policy| policy["replace"] == true)
}

/// Whether a call may change something, if only on the way: some reads of the reference move what
/// is due, put what recurs, or forget workers.
pub(crate) fn may_write(name: &str, args: &[Vec<u8>]) -> bool {
    match name {
        "queues" | "peek" | "workers" => true,
        "jobs" => args.first().is_some_and(|state| state == b"scheduled"),
        _ => !call(name, args).reads(),
    }
}

impl CallSpec {
    pub(crate) fn reads(&self) -> bool {
        self.class == RetryClass::Read
    }

    /// Returns the job it is about.
    pub(crate) fn jid(&self, args: &[Vec<u8>]) -> Option<Name> {
        match self.about {
            Subject::Jid(at) => args.get(at).map(|jid| Name::from(jid.as_slice())),
            _ => None,
        }
    }

    /// Returns what it is about, cleaned and in backticks; else the name of the call.
    pub(crate) fn object(&self, name: &str, args: &[Vec<u8>]) -> String {
        let at = match self.about {
            Subject::Nothing if self.reads() => return "the answer".into(),
            Subject::Nothing => return format!("`{}`", text::clean(name)),
            Subject::Pop => 0,
            Subject::Jid(at) | Subject::Queue(at) | Subject::Key(at) => at,
            Subject::Worker(at) | Subject::Group(at) => at,
        };
        match args.get(at) {
            Some(arg) => format!("`{}`", text::clean(arg)),
            None if name == "guard.put" => "jobs".into(),
            None => format!("`{}`", text::clean(name)),
        }
    }

    /// Returns the command that shows whether a lost call has happened.
    pub(crate) fn look(&self, args: &[Vec<u8>]) -> Option<String> {
        let shown = |command: &str, at: usize| {
            let arg = args.get(at)?;
            Some(format!("`qless {command} {}` shows it", typed(arg)))
        };
        match self.about {
            Subject::Nothing => None,
            Subject::Jid(at) => shown("get", at),
            Subject::Queue(at) => shown("queues", at),
            Subject::Pop => shown("workers", 1),
            Subject::Key(at) => shown("config get", at),
            Subject::Worker(at) => shown("workers", at),
            Subject::Group(at) => shown("failed --group", at),
        }
    }
}

/// Returns a word as a shell takes it.
pub(crate) fn typed(word: &[u8]) -> String {
    text::quoted(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::script::source::COMMANDS;

    #[test]
    fn every_command_of_the_core_is_known() {
        for (name, _) in COMMANDS {
            assert_ne!(wire(name).verb, "call", "{name}");
        }
    }

    #[test]
    fn reading_and_writing_forms_are_told_apart() {
        let args = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let reads = |name, words: &[&str]| call(name, &args(words) as &Vec<Vec<u8>>).reads();
        assert!(reads("track", &[]));
        assert!(!reads("track", &["track", "j"]));
        assert!(reads("tag", &["get", "t"]));
        assert!(!reads("tag", &["add", "j", "t"]));
        assert!(reads("look.jobs", &["brief", "j"]));
        assert!(reads("ZSCAN", &["k", "0"]));
        assert!(!reads("guard.put", &["{}"]));
        assert!(reads("check.slice", &["look", "", "", "job", ""]));
        assert!(!reads("check.slice", &["mend", "", "run", "job", ""]));
    }

    #[test]
    fn what_a_lost_call_allows_depends_on_its_words() {
        let args = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let class = |name, words: &[&str]| call(name, &args(words) as &Vec<Vec<u8>>).class;
        assert_eq!(class("guard.put", &["{}"]), RetryClass::Idempotent);
        assert_eq!(
            class("guard.put", &[r#"{"replace":false}"#]),
            RetryClass::Idempotent
        );
        assert_eq!(
            class("guard.put", &[r#"{"replace":true}"#]),
            RetryClass::Never
        );
        assert_eq!(class("guard.put", &["nonsense"]), RetryClass::Never);
        let requeue = |marks: [&str; 2]| {
            let [one, other] = marks;
            class("guard.requeue", &["{}", "", "a", one, "", "b", other, ""])
        };
        assert_eq!(requeue(["m", "m"]), RetryClass::Guarded);
        assert_eq!(requeue(["m", ""]), RetryClass::Never);
        assert_eq!(
            class("guard.call", &["a", "m", "", "retry", "a"]),
            RetryClass::Guarded
        );
        assert_eq!(
            class("guard.call", &["a", "", "", "retry", "a"]),
            RetryClass::Guarded
        );
        assert_eq!(
            class("guard.call", &["a", "", "", "tag", "add", "a"]),
            RetryClass::Idempotent
        );
        assert_eq!(
            class("guard.call", &["a", "", "", "log", "a"]),
            RetryClass::Never
        );
        assert_eq!(class("unfail", &["q", "g"]), RetryClass::Never);
    }

    #[test]
    fn hints_can_be_typed() {
        assert_eq!(typed(b"9f31c0"), "9f31c0");
        assert_eq!(typed(b"upload error"), "'upload error'");
        assert_eq!(typed(b"it's"), r"'it'\''s'");
        assert_eq!(typed(b""), "''");
    }
}
