//! Why a program did not start, and what that says about the next ones.

/// Why a program did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFault {
    pub kind: StartFaultScope,
    /// The sentence, without a full stop.
    pub message: String,
}

/// The cause of a failed start, which shows whether the next starts will probably fail, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFaultScope {
    /// The program cannot be executed. A start for the next job will probably fail, too.
    Exec,
    /// The data of this job cannot be passed to the program.
    Job,
    /// The slot's directory cannot be prepared. The next start in the slot will probably fail, too.
    Sandbox,
    /// The system has no process, memory, descriptor or disk space left. A later start may succeed.
    Exhausted,
}

impl StartFault {
    pub(super) fn new(kind: StartFaultScope, message: impl Into<String>) -> StartFault {
        let message = message.into();
        StartFault { kind, message }
    }

    pub(super) fn unpassable_job(message: impl Into<String>) -> StartFault {
        StartFault::new(StartFaultScope::Job, message)
    }

    pub(super) fn unusable_sandbox(message: impl Into<String>) -> StartFault {
        StartFault::new(StartFaultScope::Sandbox, message)
    }

    /// The slot's directory cannot be prepared now, but perhaps later: the disk is full, or a program writes in it.
    pub(super) fn temporarily_unusable_sandbox(message: impl Into<String>) -> StartFault {
        StartFault::new(StartFaultScope::Exhausted, message)
    }

    pub(super) fn exhausted_system(why: impl std::fmt::Display) -> StartFault {
        let message = format!("cannot start a program: {why}");
        StartFault::new(StartFaultScope::Exhausted, message)
    }
}
