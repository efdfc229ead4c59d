//! The cause of an error, for code that acts on it. People read the sentence of the error instead.

use crate::name::Name;

/// The cause of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The core refused to change the job.
    Refused {
        jid: Name,
        refusal: JobChangeRefusal,
    },
    /// The core refused an argument of the call, for this reason. The text does not name the call.
    Argument(String),
    /// The user gave a password, but the server has none set.
    NoPassword,
    /// The server has reached `maxclients`, its maximum number of connections.
    ClientLimit,
    /// An argument of the call is longer than the server's `proto-max-bulk-len`. Nothing was changed.
    ArgumentTooLong,
    /// The address or prefix does not suit the server, such as `redis://` for a cluster. With these values of `--redis`
    /// and `--prefix` the command works.
    WrongAddressKind {
        redis: Option<String>,
        prefix: Option<String>,
    },
    /// The process, the user or the machine has reached a limit of the system, for threads or for open files.
    ProcessLimit,
    /// No process listens at the address.
    NothingListens,
    /// Waiting does not help.
    Permanent,
    /// The nodes of a cluster redirect a call to each other. Their configuration is wrong, or slots or masters are just
    /// changing.
    CircularRedirection,
    /// The replies to a request need more memory than `qless` allows, or than is free.
    RepliesTooLarge,
    /// A dependency of the job to put does not exist.
    MissingDependency,
}

/// Why the core refused to change a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobChangeRefusal {
    /// The job does not exist.
    Gone,
    /// The job is not in the state that the command requires. The state is `None` if the core did
    /// not report it.
    State(Option<Name>),
    /// The worker that called does not hold the job. The name is the worker that does, empty if none does.
    Holder(Name),
    /// The job runs in another queue.
    Queue(Name),
}

/// What a failed call did to the stored data, as far as its error shows.
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
