//! The one list of exit codes.

/// How a command ended, as the shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; also an empty list, a dry run, a bulk verb that matched nothing.
    Ok,
    /// Anything not below; a defect of ours.
    Error,
    /// Bad flags, arguments, config file, JSON or times.
    Usage,
    /// Some items of a bulk action failed.
    Partial,
    /// Unknown jid, queue, group, worker, context or key; a pop that got nothing.
    NotFound,
    /// The job's state, lock or dependents forbid it; the jid exists already; a cycle.
    Conflict,
    /// The server: unreachable, refusing, out of memory, too old.
    Server,
    /// `check` found problems that are still there.
    Inconsistent,
    /// A confirmation was refused or could not be asked.
    NotConfirmed,
    /// SIGINT, after the running slice.
    Interrupted,
    /// SIGTERM or SIGHUP, after the running slice.
    Terminated,
}

impl Exit {
    /// Every code, in order.
    pub const ALL: [Exit; 11] = [
        Exit::Ok,
        Exit::Error,
        Exit::Usage,
        Exit::Partial,
        Exit::NotFound,
        Exit::Conflict,
        Exit::Server,
        Exit::Inconsistent,
        Exit::NotConfirmed,
        Exit::Interrupted,
        Exit::Terminated,
    ];

    /// Returns its name and when it is given, for `qless help exit-codes`.
    pub const fn told(self) -> (&'static str, &'static str) {
        match self {
            Exit::Ok => ("ok", "done; also an empty list, a dry run, nothing to do"),
            Exit::Error => ("error", "anything not below; a defect"),
            Exit::Usage => ("usage", "bad flags, arguments, config file, JSON or times"),
            Exit::Partial => ("partial", "some items of a bulk action failed"),
            Exit::NotFound => (
                "not found",
                "no such job, queue, group, worker, context or key; pop got nothing",
            ),
            Exit::Conflict => (
                "conflict",
                "the job's state, lock or dependents forbid it; it exists already",
            ),
            Exit::Server => (
                "server",
                "cannot connect, wrong password, no permission, out of memory, too old",
            ),
            Exit::Inconsistent => (
                "inconsistent",
                "`check` found problems that are still there",
            ),
            Exit::NotConfirmed => (
                "not confirmed",
                "a confirmation was refused or could not be asked",
            ),
            Exit::Interrupted => ("interrupted", "SIGINT, after finishing the running slice"),
            Exit::Terminated => (
                "terminated",
                "SIGTERM or SIGHUP, after finishing the running slice",
            ),
        }
    }

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
            Exit::Inconsistent => 7,
            Exit::NotConfirmed => 9,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}
