//! The kinds of errors, each with its code for scripts and its exit code.

use strum::IntoStaticStr;

use crate::exit::Exit;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    /// Anything without a kind of its own.
    Error,
    /// Bad flags, arguments, data or times.
    Usage,
    /// Some items of a bulk action failed.
    Partial,
    /// An unknown jid, queue, group, worker or key.
    NotFound,
    /// The job's state, lock or dependents forbid the change.
    Conflict,
    /// A job for which the command waited has failed or was cancelled.
    JobFailed,
    /// A deadline passed before the work was done.
    Deadline,
    /// The operator answered no to the confirmation prompt, or there was no terminal for the prompt.
    NotConfirmed,
    /// SIGINT.
    Interrupted,
    /// SIGTERM or SIGHUP.
    #[strum(serialize = "interrupted")]
    Terminated,
    /// A file could not be read or written.
    File,
    /// An error of the server without a kind of its own.
    Server,
    /// No server listens at the address, or its host cannot be resolved.
    Unreachable,
    /// No reply came in time.
    Timeout,
    /// The other end does not speak the Redis protocol.
    Protocol,
    /// The connection could not be encrypted: one side refuses the other's certificate, or the server has no TLS.
    Tls,
    /// A file of the settings cannot be used.
    Config,
    /// A password is missing, wrong, or superfluous.
    Auth,
    /// The server accepts no further connections.
    #[strum(serialize = "refused")]
    ConnectionRefused,
    /// The user lacks a right.
    #[strum(serialize = "noperm")]
    NoPerm,
    /// The server is still loading its data.
    Loading,
    /// The server is busy with another script.
    Busy,
    /// The server is out of memory.
    Oom,
    /// The server cannot write to its disk.
    Misconf,
    /// The server has too few replicas.
    #[strum(serialize = "noreplicas")]
    NoReplicas,
    /// Fewer replicas than requested have the change.
    Replication,
    /// The server is a replica.
    #[strum(serialize = "readonly")]
    ReadOnly,
    /// The server is a replica that lost its primary.
    Stale,
    /// The prefix has no hash tag, and the server is a cluster.
    ClusterPrefix,
    /// A cluster serves no call, or its node with the data cannot be reached.
    ClusterDown,
    /// The cluster is moving the slot with the keys to another node.
    SlotMoving,
    /// No Sentinel leads to a master.
    NoMaster,
    /// The server restarted, was flushed or evicted keys after it had acknowledged changes.
    ServerRestarted,
    /// The change may or may not have happened.
    #[strum(serialize = "unknown")]
    OutcomeUnknown,
    /// A key has the wrong type.
    #[strum(serialize = "damaged")]
    WrongKeyType,
    /// A defect of `qless` or of its Lua core.
    Internal,
    /// The server is too old.
    Unsupported,
}

impl Kind {
    /// The exit code.
    pub const fn exit(self) -> Exit {
        match self {
            Kind::Error | Kind::File | Kind::WrongKeyType | Kind::Internal => Exit::Error,
            Kind::Usage | Kind::Config | Kind::ClusterPrefix => Exit::Usage,
            Kind::Partial | Kind::ServerRestarted => Exit::Partial,
            Kind::NotFound => Exit::NotFound,
            Kind::Conflict => Exit::Conflict,
            Kind::JobFailed => Exit::JobFailed,
            Kind::Deadline => Exit::Deadline,
            Kind::NotConfirmed => Exit::NotConfirmed,
            Kind::Interrupted => Exit::Interrupted,
            Kind::Terminated => Exit::Terminated,
            _ => Exit::Server,
        }
    }
}
