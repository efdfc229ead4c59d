//! Why something failed, as a fact for the code that acts on it. The sentence is for people.

use crate::name::Name;

/// The cause of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The core refused to change the job.
    Refused { jid: Name, refusal: Refusal },
    /// The core refused an argument of the call. The reason does not name the call.
    Argument(String),
    /// The server has no password, and one was given.
    NoPassword,
    /// The server has as many clients as it allows.
    ClientLimit,
    /// An argument of the call is longer than the server reads. Nothing was changed.
    ArgumentTooLong,
    /// The address is of another kind than the server. With these flags the command works.
    WrongAddressKind {
        redis: Option<String>,
        prefix: Option<String>,
    },
    /// A limit of this process, user or machine: of threads, of open files.
    ProcessLimit,
    /// Nothing listens where the address points.
    NothingListens,
    /// Waiting does not help.
    Permanent,
    /// The nodes of a cluster name each other: wrongly configured, or for a moment while slots or masters change.
    CircularRedirection,
    /// The replies to a request take more memory than they may.
    RepliesTooLarge,
    /// A job that another one would depend on does not exist.
    MissingDependency,
}

/// Why the core refused to change a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The job does not exist.
    Gone,
    /// The job is not in the state that the command requires. The state is `None` if the core did
    /// not report it.
    State(Option<Name>),
    /// Another worker holds the job. The name is empty if no worker does.
    Holder(Name),
    /// The job runs in another queue.
    Queue(Name),
}

/// The effect of a failed call on the data, if the server's error tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectOnData {
    Unchanged,
    Partial,
}

impl EffectOnData {
    /// The clause at the end of the error's sentence: what the failed call did to the data.
    pub(super) const fn as_effect_clause(self) -> &'static str {
        match self {
            EffectOnData::Unchanged => "; nothing was changed",
            EffectOnData::Partial => "; the call may have been applied in part",
        }
    }
}
