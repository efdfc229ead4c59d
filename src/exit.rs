//! The one list of exit codes.

use strum::VariantArray;

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Exit {
    /// Done. Also an empty list, and a bulk command that matched no job.
    Ok,
    /// Any error that has no code below, defects of `qless`, and a check of `doctor` that failed.
    Error,
    /// Bad flags, arguments, config file, JSON or times.
    Usage,
    /// Some items of a bulk action failed.
    Partial,
    /// An unknown jid, queue, group, worker, context or key, and a pop without jobs.
    NotFound,
    /// The job's state, lock or dependents forbid the change, the jid exists already, or there is a cycle.
    Conflict,
    /// The server is unreachable, refuses the login or the call, is out of memory, or is too old.
    Server,
    /// `check` found problems and did not repair them all.
    Inconsistent,
    /// A job that was waited for failed, was cancelled, or does not exist any more.
    JobFailed,
    /// The operator declined or could not be asked, or `--read-only` or the context forbids writes.
    NotConfirmed,
    /// `lag` or `failed` with `--older-than` listed something, or `health` found a problem or a passed limit.
    Threshold,
    /// `--deadline` passed before the command ended.
    Deadline,
    /// SIGINT ended the command, after the current slice of a bulk action.
    Interrupted,
    /// SIGTERM or SIGHUP ended the command, after the current slice of a bulk action.
    Terminated,
}

impl Exit {
    /// The name of the code and its meaning, for `qless help exit-codes`.
    pub const fn name_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Exit::Ok => ("ok", "done; also an empty list, nothing to do"),
            Exit::Error => (
                "error",
                "any other error; a defect; a check of `doctor` failed",
            ),
            Exit::Usage => ("usage", "bad flags, arguments, config file, JSON or times"),
            Exit::Partial => ("partial", "some items of a bulk action failed"),
            Exit::NotFound => (
                "not found",
                "no such job, queue, group, worker, context or key; pop had no job",
            ),
            Exit::Conflict => (
                "conflict",
                "the job's state, lock or dependents forbid it; it exists already",
            ),
            Exit::Server => (
                "server",
                "cannot connect, TLS error, wrong password, no permission, out of memory, too old",
            ),
            Exit::Inconsistent => (
                "inconsistent",
                "`check` found problems that are still there",
            ),
            Exit::JobFailed => (
                "job failed",
                "a job that was waited for failed or was cancelled; one of `work --drain` or `--count` failed",
            ),
            Exit::NotConfirmed => (
                "not confirmed",
                "a confirmation was refused or could not be asked; `--read-only` or the context forbids writes",
            ),
            Exit::Threshold => (
                "threshold",
                "`lag --older-than` or `failed --older-than` lists something; `health` found a problem or a limit that is passed",
            ),
            Exit::Deadline => ("deadline", "`--deadline` passed first, as in timeout(1)"),
            Exit::Interrupted => ("interrupted", "SIGINT, after finishing the current slice"),
            Exit::Terminated => (
                "terminated",
                "SIGTERM or SIGHUP, after finishing the current slice",
            ),
        }
    }

    /// The exit code with this number, as a child process of `qless` returns it; `Error` for an unknown number.
    pub(crate) fn from_code(code: u8) -> Exit {
        let mut all = Exit::VARIANTS.iter();
        all.find(|exit| exit.code() == code)
            .copied()
            .unwrap_or(Exit::Error)
    }

    /// The number for the shell.
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
            Exit::JobFailed => 8,
            Exit::NotConfirmed => 9,
            Exit::Threshold => 10,
            Exit::Deadline => 124,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}
