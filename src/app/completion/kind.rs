//! What kinds of names there are, and which argument takes which.

use std::any::TypeId;

use clap::Arg;

use crate::model::pattern::Pattern;

/// A kind of names that a server or the config file knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Queue,
    Group,
    Tag,
    Worker,
    Context,
    Option,
    Jid(Jids),
}

/// Which jobs a command can do something with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jids {
    Failed,
    /// Running and stalled ones.
    Held,
    Scheduled,
    Depends,
    Recurring,
    /// All but the complete ones.
    Open,
}

impl Kind {
    /// Returns its name in the cache.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Group => "group",
            Kind::Tag => "tag",
            Kind::Worker => "worker",
            Kind::Context => "context",
            Kind::Option => "option",
            Kind::Jid(Jids::Failed) => "failed",
            Kind::Jid(Jids::Held) => "held",
            Kind::Jid(Jids::Scheduled) => "scheduled",
            Kind::Jid(Jids::Depends) => "depends",
            Kind::Jid(Jids::Recurring) => "recurring",
            Kind::Jid(Jids::Open) => "open",
        }
    }
}

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub kind: Kind,
    /// Whether it is read as a glob, so that a name may need backslashes.
    pub glob: bool,
}

impl Wanted {
    /// Returns how a name has to be typed, `None` where it cannot be.
    pub(crate) fn written(self, name: &str) -> Option<String> {
        // The first letter would make it a flag, stdin or a file.
        let strange = name.is_empty() || name.starts_with('-');
        if strange || matches!(self.kind, Kind::Jid(_)) && name.starts_with(['@', '#']) {
            return None;
        }
        if !self.glob {
            return Some(name.to_owned());
        }
        let mut written = String::with_capacity(name.len());
        for c in name.chars() {
            if "*?[{\\".contains(c) {
                written.push('\\');
            }
            written.push(c);
        }
        Some(written)
    }
}

/// Returns what an argument of a command takes, if its names are known to a server; `path` is the
/// command without `qless`.
pub(crate) fn of(path: &[&str], arg: &Arg) -> Option<Wanted> {
    let id = arg.get_id().as_str();
    let kind = match (path, id) {
        (["context", _], "name") if path[1] != "add" => Kind::Context,
        (_, "context") => Kind::Context,
        (["config", "get" | "set" | "unset"], "key" | "keys" | "pairs") => Kind::Option,
        // A new job has a new id.
        (["put"] | ["recur", "put"], "jid") => return None,
        (_, "jid" | "jids" | "depends" | "on" | "off") => Kind::Jid(jids(path, id)),
        (["put"], "positional") => Kind::Queue,
        (["priority"], "to") => return None,
        (_, "queue" | "queues" | "to" | "next") => Kind::Queue,
        (_, "group" | "groups" | "fail_group") => Kind::Group,
        (_, "tags" | "add" | "remove") if arg.get_action().takes_values() => Kind::Tag,
        (_, "worker" | "workers" | "held_by" | "held") => Kind::Worker,
        _ => return None,
    };
    let glob = arg.get_value_parser().type_id() == TypeId::of::<Pattern>();
    Some(Wanted { kind, glob })
}

fn jids(path: &[&str], id: &str) -> Jids {
    match (path, id) {
        (["recur", ..], _) => Jids::Recurring,
        (["depends"], "jid" | "jids") => Jids::Depends,
        (["retry"], _) => Jids::Failed,
        (["promote"], _) => Jids::Scheduled,
        (["complete"], "depends") => Jids::Open,
        (["timeout" | "fail" | "complete" | "heartbeat"], _) => Jids::Held,
        _ => Jids::Open,
    }
}
