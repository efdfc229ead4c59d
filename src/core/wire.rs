//! What is to be known of each call by its name on the wire: whether repeating it is safe, and
//! how to speak of it when it is lost or refused.

use crate::model::name::Name;
use crate::view::text;

/// What a call is about: which of its arguments, after `now`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    Nothing,
    Jid(usize),
    Queue(usize),
    /// `pop`: the queue and the worker that would have the jobs.
    Pop,
    Key(usize),
    Worker(usize),
    Group(usize),
}

/// One call of the core.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Whether it only reads, so that a repeat is safe after an unknown outcome.
    pub reads: bool,
    /// `cannot {verb} …`
    pub verb: &'static str,
    /// `lost … while {doing} …`
    pub doing: &'static str,
    pub about: About,
}

/// Returns what is known of a call.
pub fn wire(name: &str) -> Wire {
    use About::{Group, Jid, Key, Nothing, Pop, Queue, Worker};
    let reads = |verb, doing, about| Wire {
        reads: true,
        verb,
        doing,
        about,
    };
    let writes = |verb, doing, about| Wire {
        reads: false,
        verb,
        doing,
        about,
    };
    match name {
        "get" | "recur.get" => reads("get", "getting", Jid(0)),
        "multiget" | "jobs" | "queues" | "workers" | "failed" | "config.get" => {
            reads("read", "reading", Nothing)
        }
        "peek" | "stats" | "length" => reads("read", "reading", Queue(0)),
        _ if name.starts_with("look.") => reads("read", "reading", Nothing),
        "put" | "requeue" => writes("put", "putting", Jid(2)),
        "guard.put" => writes("put", "putting", Jid(3)),
        "guard.requeue" => writes("requeue", "requeueing", Jid(2)),
        "guard.cancel" => writes("cancel", "cancelling", Jid(1)),
        "cancel" => writes("cancel", "cancelling", Jid(0)),
        "guard.depends" | "depends" => writes(
            "change the dependencies of",
            "changing the dependencies of",
            Jid(0),
        ),
        "guard.call" => writes("change", "changing", Jid(0)),
        "guard.pause" => writes("pause", "pausing", Queue(2)),
        "pause" => writes("pause", "pausing", Queue(0)),
        "unpause" => writes("unpause", "unpausing", Queue(0)),
        "queue.forget" => writes("forget", "forgetting", Queue(0)),
        "worker.deregister" => writes("forget", "forgetting", Worker(0)),
        "pop" => writes("pop from", "popping from", Pop),
        "complete" => writes("complete", "completing", Jid(0)),
        "fail" => writes("fail", "failing", Jid(0)),
        "retry" => writes("retry", "retrying", Jid(0)),
        "heartbeat" => writes("extend the lock of", "extending the lock of", Jid(0)),
        "timeout" => writes("time out", "timing out", Jid(0)),
        "priority" => writes("change the priority of", "changing the priority of", Jid(0)),
        "log" => writes("log to", "logging to", Jid(0)),
        "tag" => writes("tag", "tagging", Jid(1)),
        "track" => writes("track", "tracking", Jid(1)),
        "unfail" => writes("unfail", "unfailing", Group(1)),
        "config.set" => writes("set", "setting", Key(0)),
        "config.unset" => writes("unset", "unsetting", Key(0)),
        "recur" => writes("put", "putting", Jid(1)),
        "recur.update" | "recur.tag" | "recur.untag" => writes("change", "changing", Jid(0)),
        "unrecur" => writes("remove", "removing", Jid(0)),
        _ => writes("call", "calling", Nothing),
    }
}

/// Returns what is known of a call with these arguments: `tag` and `track` read and write.
pub fn call(name: &str, args: &[Vec<u8>]) -> Wire {
    let first = args.first().map(|arg| arg.to_ascii_lowercase());
    let about = About::Nothing;
    match (name, first.as_deref()) {
        ("tag", Some(b"get" | b"top")) | ("track", None) => Wire {
            reads: true,
            verb: "read",
            doing: "reading",
            about,
        },
        _ => wire(name),
    }
}

/// Whether a call may change something, if only on the way: some reads of the reference move what
/// is due, put what recurs, or forget workers.
pub fn may_write(name: &str, args: &[Vec<u8>]) -> bool {
    match name {
        "queues" | "peek" | "workers" => true,
        "jobs" => args.first().is_some_and(|state| state == b"scheduled"),
        _ => !call(name, args).reads,
    }
}

impl Wire {
    /// Returns the job it is about.
    pub fn jid(&self, args: &[Vec<u8>]) -> Option<Name> {
        match self.about {
            About::Jid(at) => args.get(at).map(|jid| Name::from(jid.as_slice())),
            _ => None,
        }
    }

    /// Returns what it is about, cleaned and in backticks; else the name of the call.
    pub fn object(&self, name: &str, args: &[Vec<u8>]) -> String {
        let at = match self.about {
            About::Nothing if self.reads => return "the answer".into(),
            About::Nothing => return format!("`{}`", text::clean(name)),
            About::Pop => 0,
            About::Jid(at) | About::Queue(at) | About::Key(at) => at,
            About::Worker(at) | About::Group(at) => at,
        };
        match args.get(at) {
            Some(arg) => format!("`{}`", text::clean(arg)),
            None => format!("`{}`", text::clean(name)),
        }
    }

    /// Returns the command that shows whether a lost call has happened.
    pub fn look(&self, args: &[Vec<u8>]) -> Option<String> {
        let shown = |command: &str, at: usize| {
            let arg = args.get(at)?;
            Some(format!("`qless {command} {}` shows it", typed(arg)))
        };
        match self.about {
            About::Nothing => None,
            About::Jid(at) => shown("get", at),
            About::Queue(at) => shown("queues", at),
            About::Pop => shown("workers", 1),
            About::Key(at) => shown("config get", at),
            About::Worker(at) => shown("workers", at),
            About::Group(at) => shown("failed --group", at),
        }
    }
}

/// Returns a word as a shell takes it.
pub fn typed(word: &[u8]) -> String {
    text::quoted(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::source::COMMANDS;

    #[test]
    fn every_command_of_the_core_is_known() {
        for (name, _) in COMMANDS {
            assert_ne!(wire(name).verb, "call", "{name}");
        }
    }

    #[test]
    fn reading_and_writing_forms_are_told_apart() {
        let args = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let reads = |name, words: &[&str]| call(name, &args(words) as &Vec<Vec<u8>>).reads;
        assert!(reads("track", &[]));
        assert!(!reads("track", &["track", "j"]));
        assert!(reads("tag", &["get", "t"]));
        assert!(!reads("tag", &["add", "j", "t"]));
        assert!(reads("look.jobs", &["brief", "j"]));
        assert!(!reads("guard.put", &["{}"]));
    }

    #[test]
    fn hints_can_be_typed() {
        assert_eq!(typed(b"9f31c0"), "9f31c0");
        assert_eq!(typed(b"upload error"), "'upload error'");
        assert_eq!(typed(b"it's"), r"'it'\''s'");
        assert_eq!(typed(b""), "''");
    }
}
