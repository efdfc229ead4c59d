//! The error type: its kind and cause, its sentence, and at most one hint.

mod cause;
mod kind;
mod limit;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

pub(crate) use self::cause::{Cause, EffectOnData, JobChangeRefusal};
pub use self::kind::Kind;
pub(crate) use self::limit::{connection_open_file_limit_error, limit_hint, no_thread_error};
use crate::exit::Exit;
use crate::name::Name;
use crate::text;

/// What went wrong, for the operator and for scripts.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    kind: Kind,
    cause: Option<Box<Cause>>,
    reason: String,
    /// The effect of the failed call on the data, if it is known. The message ends with it.
    effect: Option<EffectOnData>,
    hint: Option<String>,
    jid: Option<Name>,
    /// The server's own message, shown with `-v`.
    detail: Option<String>,
}

impl Error {
    /// An error with one lower-case sentence without a full stop: what failed, on which
    /// thing, and why.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error {
            kind,
            cause: None,
            reason: message.into(),
            effect: None,
            hint: None,
            jid: None,
            detail: None,
        }
    }

    /// An error about a wrong flag, argument, datum or time: exit 2.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message)
    }

    /// An error about something that does not exist: exit 4.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Kind::NotFound, message)
    }

    /// An error about a name that does not exist: exit 4. The hint is the known name that
    /// is most like it.
    pub fn unknown_name(what: &str, name: &Name, known: &[Name]) -> Error {
        let near = text::nearest_spelling(name, known);
        Error::not_found(format!("{what} `{name}` does not exist"))
            .hint_if(near.map(|near| format!("did you mean `{near}`?")))
    }

    /// An error about something that the present state forbids: exit 5.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(Kind::Conflict, message)
    }

    /// An error about a defect of `qless`: exit 1. The hint asks for a report.
    pub fn internal(message: impl std::fmt::Display) -> Error {
        Error::new(Kind::Internal, format!("internal: {message}"))
            .hint("please report this with what `qless version` prints")
    }

    /// The error for a file operation that failed, such as `what` = ``cannot write `F` ``, with the system's reason. If
    /// that reason is a limit or a full disk, a hint says what to do.
    pub(crate) fn from_io(kind: Kind, what: &str, fault: &std::io::Error) -> Error {
        let hint = limit_hint(fault).map(str::to_owned);
        Error::new(kind, format!("{what}: {}", io_message_without_errno(fault))).hint_if(hint)
    }

    /// Adds the cause.
    pub fn caused_by(mut self, cause: Cause) -> Error {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Adds what the failed call did to the data.
    pub fn with_effect(mut self, effect: EffectOnData) -> Error {
        self.effect = Some(effect);
        self
    }

    /// Begins the sentence with what the command had done before the error. Drops the claim that nothing was changed.
    pub fn after_doing(mut self, done: &str) -> Error {
        self.reason = format!("{done}, and then: {}", self.reason);
        self.without_unchanged_claim()
    }

    /// Drops `nothing was changed` from the message, because the command has changed something before this error.
    pub(crate) fn without_unchanged_claim(mut self) -> Error {
        self.effect = self
            .effect
            .filter(|effect| *effect != EffectOnData::Unchanged);
        self
    }

    /// Adds to the sentence how many of all items the command had done before the error. Drops the claim that nothing
    /// was changed.
    pub(crate) fn stopped_after(mut self, done: &str, all: &str) -> Error {
        self.reason = format!("{} after {done} of {all}", self.reason);
        self.without_unchanged_claim()
    }

    /// Appends another step to the hint. If there is no hint, the step becomes the hint.
    pub(crate) fn further_hint(self, step: &str) -> Error {
        let hint = match &self.hint {
            Some(hint) => format!("{hint}; {step}"),
            None => step.to_owned(),
        };
        self.hint(hint)
    }

    /// Sets the hint: the next step for the operator, ideally a command to type.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Drops the hint, for a place where it would not help.
    pub fn without_hint(self) -> Error {
        Error { hint: None, ..self }
    }

    /// Adds the next step, if there is one.
    pub fn hint_if(mut self, hint: Option<String>) -> Error {
        self.hint = hint.or(self.hint);
        self
    }

    /// Adds the job that the error is about.
    pub fn about_jid(mut self, jid: &Name) -> Error {
        self.jid = Some(jid.clone());
        self
    }

    /// Adds the server's own message, for `-v`.
    pub fn with_server_message(mut self, message: impl Into<String>) -> Error {
        self.detail = Some(message.into());
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The job that the error is about.
    pub fn subject_jid(&self) -> Option<&Name> {
        self.jid.as_ref()
    }

    pub fn cause(&self) -> Option<&Cause> {
        self.cause.as_deref()
    }

    /// Why the core refused to change this job; `None` if this error has another cause or is about another job.
    pub fn refusal_of(&self, jid: &Name) -> Option<&JobChangeRefusal> {
        match self.cause() {
            Some(Cause::Refused {
                jid: refused,
                refusal,
            }) if refused == jid => Some(refusal),
            _ => None,
        }
    }

    /// The whole sentence, for people.
    pub fn message(&self) -> Cow<'_, str> {
        match self.effect {
            Some(effect) => format!("{}{}", self.reason, effect.as_effect_clause()).into(),
            None => self.reason.as_str().into(),
        }
    }

    /// The message without its last clause about the effect on the data, such as `; nothing was changed`.
    pub fn message_without_effect(&self) -> &str {
        &self.reason
    }

    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub fn server_message(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    pub fn exit(&self) -> Exit {
        self.kind.exit()
    }
}

/// The message of an error of the operating system, in lower case and without its number: `no space left on device`.
pub(crate) fn io_message_without_errno(error: &std::io::Error) -> String {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The document of an error.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorDocument<'a> {
    #[schemars(skip)]
    kind: &'static str,
    #[schemars(skip)]
    v: u8,
    /// The kind of error
    code: &'static str,
    /// The exit code of this error; the command may end with another one if it has several members
    exit: u8,
    /// What failed, on which thing, and why
    message: Cow<'a, str>,
    /// The next step
    hint: &'a Option<String>,
    /// The job that the error is about
    jid: &'a Option<Name>,
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ErrorDocument {
            kind: "error",
            v: 1,
            code: self.kind.into_str(),
            exit: self.exit().code(),
            message: self.message(),
            hint: &self.hint,
            jid: &self.jid,
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_suggests_the_nearest_known_name() {
        let known = ["emails", "images", "test"].map(Name::from);
        let hint = |name: &str| {
            Error::unknown_name("queue", &Name::from(name), &known)
                .hint_text()
                .map(str::to_owned)
        };
        assert_eq!(hint("emials").as_deref(), Some("did you mean `emails`?"));
        assert_eq!(hint("Test").as_deref(), Some("did you mean `test`?"));
        assert_eq!(hint("zebra"), None);
    }

    #[test]
    fn the_effect_ends_the_message_and_not_the_reason() {
        let error = Error::new(Kind::Oom, "out of memory").with_effect(EffectOnData::Unchanged);
        assert_eq!(error.message(), "out of memory; nothing was changed");
        assert_eq!(error.message_without_effect(), "out of memory");
        let error = error.after_doing("2 jobs were popped");
        assert_eq!(
            error.message(),
            "2 jobs were popped, and then: out of memory"
        );
    }

    #[test]
    fn a_refusal_is_that_of_one_job() {
        let cause = Cause::Refused {
            jid: Name::from("a"),
            refusal: JobChangeRefusal::Gone,
        };
        let error = Error::not_found("job `a` does not exist").caused_by(cause);
        assert_eq!(
            error.refusal_of(&Name::from("a")),
            Some(&JobChangeRefusal::Gone)
        );
        assert_eq!(error.refusal_of(&Name::from("b")), None);
    }
}
