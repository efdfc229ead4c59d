//! The events and the actions of a worker.

use std::sync::Arc;

use rustix::process::Signal;

use crate::core::api::finish_and_pop::FinishAndPopReply;
use crate::error::{Error, Kind};
use crate::model::ending::{EndingRequest, LockExtensionOutcome};
use crate::model::queue::{JobsLeftInQueue, ReadyQueues};
use crate::model::work::{PoppedJob, WorkEvent};
use crate::name::Name;
use crate::work::process::answer::Answer;
use crate::work::process::{EndedProcess, StartFailure};

/// What a worker has learned at its start, besides its options. Times are in seconds.
#[derive(Clone, Debug)]
pub struct StartupFacts {
    pub worker: Name,
    /// How long a stopped worker tries to release its jobs on a server that does not reply.
    pub timeout: f64,
    /// Time from the expiry of a lock until another worker may get the job (`grace-period`).
    pub grace: f64,
    /// Whether the server tells this worker which of its jobs are cancelled.
    pub hears_cancels: bool,
    /// A factor between 0.5 and 1 for the wait before a request is repeated, so that many workers do not repeat theirs
    /// at the same time.
    pub jitter: f64,
}

/// An event for a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started {
        slot: usize,
    },
    NotStarted {
        slot: usize,
        why: StartFailure,
        /// The jobs for which the process was to start.
        jobs: Vec<PoppedJob>,
    },
    /// The file of the program is there, as [`Action::CheckProgram`] asks.
    ProgramFound,
    /// A process wrote a line as an answer.
    Line {
        slot: usize,
        answer: Answer,
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

/// The request to end jobs and then pop up to `total` others.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishAndPopRequest {
    pub endings: Arc<Vec<EndingRequest>>,
    pub total: u64,
    pub queues: Vec<(Name, u64)>,
    /// Whether the worker ends if no job comes and none becomes ready without a put.
    pub is_last: bool,
}

/// A request to the server. At most one of each kind waits for a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerRequest {
    FinishAndPop(FinishAndPopRequest),
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
    Log {
        jid: Name,
        text: Name,
    },
    /// Find the queues whose names match. The loop of the worker asks this from time to time, not the machine.
    FindQueues,
    /// Take the worker out of the list of workers, unless it holds jobs. Sent after the work, without a reply.
    Leave,
}

/// An action of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Start a process with these jobs.
    Start {
        slot: usize,
        jobs: Vec<PoppedJob>,
    },
    /// Check whether the file of the program is there. If so, [`Event::ProgramFound`] follows.
    CheckProgram,
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
        /// SIGTERM or SIGKILL.
        signal: Signal,
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
    /// The command could be started earlier, and cannot be started any more. Only a worker with a limit ends so.
    ProgramLost(String),
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
    /// The program is missing.
    ProgramMissing,
    /// Nothing more is popped: a signal came, or the limit is reached.
    Stopping,
}

/// A report to people and programs.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A job started or ended.
    Job(WorkEvent),
    /// A line for stderr.
    Warning(String),
    /// The work ends although a queue still has these jobs.
    Left(JobsLeftInQueue),
    /// The worker does not end yet, because these jobs of a queue may become ready.
    Waiting(JobsLeftInQueue),
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
