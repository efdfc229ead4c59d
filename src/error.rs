//! The one error: what kind it is, its sentence, and at most one hint.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::exit::Exit;
use crate::name::Name;
use crate::text;

/// What went wrong, told to the operator and to scripts.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    kind: Kind,
    message: String,
    hint: Option<String>,
    jid: Option<Name>,
    /// The server's own words, shown with `-v`.
    detail: Option<String>,
}

/// The kinds of errors; each has a code for scripts and an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anything that has no kind of its own.
    Error,
    /// Bad flags, arguments, data or times.
    Usage,
    /// Some items of a bulk action failed.
    Partial,
    /// Unknown jid, queue, group, worker or key.
    NotFound,
    /// The job's state, lock or dependents forbid it.
    Conflict,
    /// A confirmation was refused or could not be asked.
    NotConfirmed,
    /// SIGINT.
    Interrupted,
    /// SIGTERM or SIGHUP.
    Terminated,
    /// A file could not be read or written.
    File,
    /// The server said something that has no kind of its own.
    Server,
    /// No server there, or not resolvable.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// Something that does not speak Redis.
    Protocol,
    /// A password is wanted, wrong, or not wanted.
    Auth,
    /// The server takes no further connections.
    Refused,
    /// The user lacks a right.
    NoPerm,
    /// The server is still reading its data.
    Loading,
    /// The server is busy with another script.
    Busy,
    /// The server is out of memory.
    Oom,
    /// The server cannot write to its disk.
    Misconf,
    /// The server has too few replicas.
    NoReplicas,
    /// Fewer replicas than asked have what was changed.
    Replication,
    /// The server is a replica.
    ReadOnly,
    /// The server is a replica that lost its primary.
    Stale,
    /// A prefix without hash tag on a cluster.
    ClusterPrefix,
    /// The call may or may not have happened.
    Unknown,
    /// A key of a wrong type.
    Damaged,
    /// A fault of ours in the Lua core.
    Internal,
    /// The server is too old.
    Unsupported,
}

impl Kind {
    /// Returns the name that scripts see.
    pub const fn code(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Usage => "usage",
            Kind::Partial => "partial",
            Kind::NotFound => "not_found",
            Kind::Conflict => "conflict",
            Kind::NotConfirmed => "not_confirmed",
            Kind::Interrupted | Kind::Terminated => "interrupted",
            Kind::File => "file",
            Kind::Server => "server",
            Kind::Unreachable => "unreachable",
            Kind::Timeout => "timeout",
            Kind::Protocol => "protocol",
            Kind::Auth => "auth",
            Kind::Refused => "refused",
            Kind::NoPerm => "noperm",
            Kind::Loading => "loading",
            Kind::Busy => "busy",
            Kind::Oom => "oom",
            Kind::Misconf => "misconf",
            Kind::NoReplicas => "noreplicas",
            Kind::Replication => "replication",
            Kind::ReadOnly => "readonly",
            Kind::Stale => "stale",
            Kind::ClusterPrefix => "cluster_prefix",
            Kind::Unknown => "unknown",
            Kind::Damaged => "damaged",
            Kind::Internal => "internal",
            Kind::Unsupported => "unsupported",
        }
    }

    /// Returns the code to exit with.
    pub const fn exit(self) -> Exit {
        match self {
            Kind::Error | Kind::File | Kind::Damaged | Kind::Internal => Exit::Error,
            Kind::Usage | Kind::ClusterPrefix => Exit::Usage,
            Kind::Partial => Exit::Partial,
            Kind::NotFound => Exit::NotFound,
            Kind::Conflict => Exit::Conflict,
            Kind::NotConfirmed => Exit::NotConfirmed,
            Kind::Interrupted => Exit::Interrupted,
            Kind::Terminated => Exit::Terminated,
            _ => Exit::Server,
        }
    }
}

impl Error {
    /// One lower-case sentence without a full stop: what was wanted, what was found.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            hint: None,
            jid: None,
            detail: None,
        }
    }

    /// A wrong flag, argument, datum or time: exit 2.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message)
    }

    /// Something named that does not exist: exit 4.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Kind::NotFound, message)
    }

    /// A name that does not exist, with the known name most like it as the hint: exit 4.
    pub fn unknown(what: &str, name: &Name, known: &[Name]) -> Error {
        let error = Error::not_found(format!("{what} `{}` does not exist", text::clean(name)));
        match text::nearest(name, known) {
            Some(near) => error.hint(format!("did you mean `{}`?", text::clean(near))),
            None => error,
        }
    }

    /// Something that the present state forbids: exit 5.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(Kind::Conflict, message)
    }

    /// A fault of ours: exit 1, and a request to report it.
    pub fn internal(message: impl std::fmt::Display) -> Error {
        Error::new(Kind::Internal, format!("internal: {message}"))
            .hint("please report this with what `qless version` prints")
    }

    /// Adds what to do next, ideally something to type.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Names the job it is about.
    pub fn jid(mut self, jid: &Name) -> Error {
        self.jid = Some(jid.clone());
        self
    }

    /// Keeps the server's own words for `-v`.
    pub fn detail(mut self, words: impl Into<String>) -> Error {
        self.detail = Some(words.into());
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub fn detail_text(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    pub fn exit(&self) -> Exit {
        self.kind.exit()
    }
}

/// Returns the words of the system, without its number: `no space left on device`.
pub(crate) fn io_words(error: &std::io::Error) -> String {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The document of `-o json`.
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut doc = serializer.serialize_struct("error", 7)?;
        doc.serialize_field("kind", "error")?;
        doc.serialize_field("v", &1)?;
        doc.serialize_field("code", self.kind.code())?;
        doc.serialize_field("exit", &self.exit().code())?;
        doc.serialize_field("message", &self.message)?;
        doc.serialize_field("hint", &self.hint)?;
        doc.serialize_field("jid", &self.jid)?;
        if let Some(bytes) = self.jid.as_ref().and_then(Name::base64) {
            doc.serialize_field("jid_bytes", &bytes)?;
        }
        doc.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_suggests_the_nearest_known_name() {
        let known = ["emails", "images", "test"].map(Name::from);
        let hint = |name: &str| {
            Error::unknown("queue", &Name::from(name), &known)
                .hint_text()
                .map(str::to_owned)
        };
        assert_eq!(hint("emials").as_deref(), Some("did you mean `emails`?"));
        assert_eq!(hint("Test").as_deref(), Some("did you mean `test`?"));
        assert_eq!(hint("zebra"), None);
    }
}
