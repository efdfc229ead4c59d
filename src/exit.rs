//! The one list of exit codes.

/// How a command ended, as the shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; also an empty list, a dry run, a bulk verb that matched nothing.
    Ok,
    /// Anything not below; a defect of ours.
    Error,
    /// Bad flags, arguments, JSON or times.
    Usage,
    /// Some items of a bulk action failed.
    Partial,
    /// Unknown jid, queue, group, worker or key; a pop that got nothing.
    NotFound,
    /// The job's state, lock or dependents forbid it; the jid exists already; a cycle.
    Conflict,
    /// The server: unreachable, refusing, out of memory, too old.
    Server,
    /// A confirmation was refused or could not be asked.
    NotConfirmed,
    /// SIGINT, after the running slice.
    Interrupted,
    /// SIGTERM or SIGHUP, after the running slice.
    Terminated,
}

impl Exit {
    /// Returns the number for the shell.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::NotFound => 4,
            Exit::Conflict => 5,
            Exit::Server => 6,
            Exit::NotConfirmed => 9,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}
