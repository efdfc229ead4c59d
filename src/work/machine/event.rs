//! The events and the actions of a worker.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use crate::core::api::finish_and_pop::FinishAndPopReply;
use crate::error::{Error, Kind};
use crate::model::ending::{EndingRequest, LockExtensionOutcome};
use crate::model::popped_job::PoppedJob;
use crate::model::queue::{JobsLeftInQueue, ReadyQueues};
use crate::model::retry_cause::RetryCause;
use crate::model::work_event::WorkEventKind;
use crate::name::Name;
use crate::work::process::answer::AnswerContent;

/// How jobs reach the command, and how many at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchMode {
    /// A process for each job.
    Single,
    /// One process per batch of at most this number of jobs.
    Batch(usize),
    /// One process per slot, with at most this number of jobs at a time.
    Persistent(usize),
}

impl DispatchMode {
    /// How many jobs a slot can have at once.
    pub fn max_jobs_per_slot(self) -> usize {
        match self {
            DispatchMode::Single => 1,
            DispatchMode::Batch(jobs) | DispatchMode::Persistent(jobs) => jobs,
        }
    }
}

/// When a worker ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkLimit {
    Never,
    /// When nothing is left to do.
    Drain,
    /// After this number of jobs.
    Count(u64),
    /// After this number of jobs, or earlier if nothing is left to do.
    DrainUpTo(u64),
}

impl WorkLimit {
    /// Whether the worker ends when nothing is left to do.
    pub(crate) fn ends_worker_when_empty(self) -> bool {
        matches!(self, WorkLimit::Drain | WorkLimit::DrainUpTo(_))
    }

    /// The number of jobs after which it ends.
    pub(super) fn max_job_count(self) -> Option<u64> {
        match self {
            WorkLimit::Never | WorkLimit::Drain => None,
            WorkLimit::Count(count) | WorkLimit::DrainUpTo(count) => Some(count),
        }
    }
}

/// The settings of a worker. Times are in seconds.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    pub mode: DispatchMode,
    /// The number of processes at a time.
    pub slots: usize,
    pub limit: WorkLimit,
    /// Time between two pops while the queues are empty.
    pub poll: f64,
    /// Time from SIGTERM to SIGKILL.
    pub kill_after: f64,
    /// How long a stopped worker tries to release its jobs on a server that does not reply.
    pub timeout: f64,
    /// Time between two extensions of a lock. `None`: a third of the time that the lock lasts.
    pub heartbeat: Option<f64>,
    /// Time from the expiry of a lock until another worker may get the job (`grace-period`).
    pub grace: f64,
    /// How long a process may have a job.
    pub time_limit: Option<f64>,
    /// The exit codes, signals and other faults of a process after which its jobs are retried (`--retry-on`).
    pub retry_on: Vec<RetryCause>,
    pub retry_delay: Duration,
    /// Where completed jobs go.
    pub next: Option<Name>,
    /// Whether the server tells this worker which of its jobs are cancelled.
    pub hears_cancels: bool,
    /// A factor between 0.5 and 1 for the wait before a request is repeated, so that many workers do not repeat theirs
    /// at the same time.
    pub jitter: f64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessExit {
    Code(i32),
    /// The name of the signal that ended the process, without `SIG`, such as `KILL`. `?` if the signal has no name.
    Signal(&'static str),
}

/// How a process ended, and what it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedProcess {
    pub exit: ProcessExit,
    /// The end of what the process wrote to stderr, sanitized and trimmed.
    pub message: String,
    /// The stdout of the process, if it was captured and is JSON: the new data of the job.
    pub data: Option<Vec<u8>>,
    /// Why the captured stdout cannot be the data of the job, as the end of a sentence about it.
    pub unusable_output: Option<String>,
    /// How many lines a persistent process had been sent that it did not read completely. 0 if this program has
    /// closed its stdin.
    pub unread_lines: usize,
}

/// Why a process could not be started, which shows whether the next starts will probably fail, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFailure {
    /// The program does not exist or cannot be executed. Other jobs will fail to start, too.
    Program(String),
    /// The data of this job cannot be passed to the program.
    Job(String),
    /// The directory of the slot cannot be prepared. Other jobs of the slot will fail to start, too.
    Directory(String),
    /// The machine has no process, memory, descriptor or disk space left. A later start may succeed.
    Busy(String),
}

impl StartFailure {
    pub(in crate::work) fn exhausted_system(why: impl Display) -> StartFailure {
        StartFailure::Busy(format!("cannot start a program: {why}"))
    }

    /// The sentence, without a full stop.
    pub fn into_message(self) -> String {
        match self {
            StartFailure::Program(message)
            | StartFailure::Job(message)
            | StartFailure::Directory(message)
            | StartFailure::Busy(message) => message,
        }
    }
}

/// Why a line is not an answer about a job of the process that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLineKind {
    /// The answer cannot be read, or names no job.
    NoAnswer,
    /// The answer is about a job that the process does not have.
    OtherJob,
}

/// An event for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started {
        slot: usize,
        pid: u32,
    },
    NotStarted {
        slot: usize,
        why: StartFailure,
        /// The jobs for which the process was to start.
        jobs: Vec<PoppedJob>,
    },
    /// A process wrote a line as an answer. `jid` is `None` if the line names no job.
    Line {
        slot: usize,
        jid: Option<Name>,
        /// What the line says about the job, or why it is not an answer.
        content: Result<AnswerContent, String>,
    },
    /// A process wrote an answer to stdout, where no answers are read.
    AnswerOnStdout {
        slot: usize,
        jid: Name,
    },
    /// A persistent process has closed the pipes for its answers.
    Mute {
        slot: usize,
    },
    Ended {
        slot: usize,
        end: EndedProcess,
    },
    /// The reply to [`ServerRequest::FinishAndPop`].
    FinishAndPop(Result<FinishAndPopReply, Error>),
    /// The reply to [`ServerRequest::Recover`].
    Recovered(Result<FinishAndPopReply, Error>),
    /// The reply to [`ServerRequest::FindReadyQueues`].
    ReadyQueues(Result<ReadyQueues, Error>),
    /// The reply to [`ServerRequest::Extend`].
    Extended(Result<Vec<LockExtensionOutcome>, Error>),
    /// The reply to [`ServerRequest::Release`].
    Released(Result<Vec<Name>, Error>),
    /// The server says that a lock was lost or a job cancelled. The message may be about an earlier lock.
    Notice(Name),
    /// Notices may have been missed.
    Missed,
    /// A job was put into this queue. `None` if the queue is unknown.
    Put(Option<Name>),
    /// The queues whose names match.
    Queues(Vec<(Name, u32)>),
    /// Whether no further job may begin, since the output about the jobs cannot be written yet.
    Hold(bool),
    /// A signal asks the worker to end. The first one ends the popping. The second one stops the processes. The third
    /// one kills them and limits the wait for the server to a second.
    Stop,
}

/// A request to the server. At most one of each kind waits for a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerRequest {
    /// End jobs, then pop up to `total`.
    FinishAndPop {
        endings: Arc<Vec<EndingRequest>>,
        total: u64,
        queues: Vec<(Name, u64)>,
        /// Whether the worker ends if no job comes and none becomes ready without a put.
        is_last: bool,
    },
    /// The reply to a finish-and-pop call was lost: send its endings again, and find the jobs that the call popped.
    Recover {
        endings: Arc<Vec<EndingRequest>>,
        known: Vec<Name>,
    },
    /// Find the queues that may have jobs. Used if there are more queues than one call can pop from.
    FindReadyQueues,
    /// Extend locks.
    Extend(Vec<Name>),
    /// Release jobs, which uses no retry.
    Release(Vec<Name>),
    /// Add a text to the history of a job. There is no reply.
    Log { jid: Name, text: Name },
    /// Find the queues whose names match. The loop of the worker asks this from time to time, not the machine.
    FindQueues,
    /// Take the worker out of the list of workers, unless it holds jobs. Sent after the work, without a reply.
    Leave,
}

/// A signal to the processes of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationSignal {
    Term,
    Kill,
}

/// An action of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Start a process with these jobs.
    Start {
        slot: usize,
        jobs: Vec<PoppedJob>,
    },
    /// Hand a job to the process of a slot.
    Send {
        slot: usize,
        job: PoppedJob,
    },
    /// Tell the process of a slot to drop a job.
    Cancel {
        slot: usize,
        jid: Name,
    },
    /// End the input of a process.
    CloseInput {
        slot: usize,
    },
    Signal {
        slot: usize,
        signal: TerminationSignal,
    },
    Request(ServerRequest),
    Report(Report),
    /// The work is over.
    Finish(WorkerRunResult),
}

/// How the worker as a whole ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerRunResult {
    Done,
    /// This number of jobs failed for good. Only a worker with a limit ends so.
    JobsFailed(u64),
    /// With `--count 1`: the job was lost, or its result is not known.
    JobLost,
    /// The command cannot be started.
    NoProgram(String),
    /// The directory of a slot cannot be prepared.
    NoDirectory(String),
    /// The user lacks a right that the first finish-and-pop call needs, or the server is a replica.
    Forbidden(Kind, String),
    /// The number of running jobs that did not exist any more although nobody cancelled them.
    Vanished(u64),
    /// The server refused a call for good.
    Refused(String),
    /// Ended by a second signal.
    Stopped {
        /// The number of jobs that were released after the signal.
        released: u64,
        /// The number of jobs that keep their locks, because the server did not reply.
        left: u64,
    },
}

/// Whether a worker pops jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerReadiness {
    Ready,
    /// The server does not reply.
    ServerAway,
    /// The server replies, and refuses changes.
    ServerRefuses,
    /// Nothing more is popped: a signal came, or the limit is reached.
    Stopping,
}

/// A report to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    Started {
        job: ReportedJob,
        slot: usize,
    },
    Ended {
        job: ReportedJob,
        result: WorkEventKind,
        exit: Option<ProcessExit>,
        /// In seconds.
        elapsed: f64,
        /// More about the result, if there is anything to say.
        detail: String,
    },
    /// A line that was no answer.
    BadLine {
        slot: usize,
        jid: Option<Name>,
        reason: String,
    },
    /// A process wrote an answer about its job to stdout, where it has no effect. Reported once.
    AnswerOnStdout {
        slot: usize,
        jid: Name,
        /// Whether `qless` would read this answer if `--answers stdout` were given.
        has_flag: bool,
    },
    /// A process is stopped, because it had these jobs for longer than the limit.
    Overdue {
        slot: usize,
        jids: Vec<Name>,
        limit: String,
    },
    /// Further lines of a process that were no answers. Only their number is reported.
    MoreBadLines {
        slot: usize,
        kind: BadLineKind,
        count: u64,
    },
    /// A persistent process ended by itself, or was stopped because it could not answer any more. The next job of the
    /// slot starts the process again, at the earliest after `wait` seconds.
    Restart {
        slot: usize,
        exit: ProcessExit,
        was_mute: bool,
        wait: f64,
    },
    /// A process cannot be started now.
    StartFailed {
        slot: usize,
        message: String,
    },
    /// Nothing can be popped from this queue.
    QueueRefused {
        queue: Name,
        why: String,
    },
    /// The locks of a queue last only `lock` seconds, too short for the interval of heartbeats. They are extended after
    /// a third of `lock` instead.
    ShortLock {
        queue: Name,
        lock: f64,
    },
    /// The work ends although a queue still has these jobs.
    Left(JobsLeftInQueue),
    /// The worker does not end yet, because these jobs of a queue may become ready.
    Waiting(JobsLeftInQueue),
    /// A running job does not exist any more, and nobody cancelled it.
    Vanished,
    ConnectionLost {
        message: String,
    },
    ConnectionBack {
        /// How long the connection was lost, in seconds.
        after: f64,
        /// Whether the server replied all the time, but refused requests.
        was_refused: bool,
    },
    /// No further job is popped. `running` jobs are still running.
    Stopping {
        running: usize,
    },
}

/// The names of a job in reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedJob {
    pub jid: Name,
    pub queue: Name,
    pub klass: Name,
    pub attempt: i64,
}
