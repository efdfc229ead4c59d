//! The state of a worker: what it holds, and what follows from each event. The time comes with each
//! event. Threads, processes and the server are elsewhere.

mod endings;
pub mod event;
mod held;
mod processes;
mod requests;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use self::event::{
    Action, Event, FinishAndPopRequest, Report, ServerRequest, StartupFacts, WorkerReadiness,
    WorkerRunResult,
};
use self::held::{HeldJob, HeldJobs};
use self::processes::{ProgramWait, QuickDeathBackoff, Slot};
use crate::clock::moment::Moment;
use crate::model::ending::EndingRequest;
use crate::model::work::{PoppedJob, WorkEvent, WorkEventKind};
use crate::name::Name;
use crate::text::{format_count, with_thousands_separators};
use crate::work::options::{DispatchMode, WorkOptions};
use crate::work::process::StartFailure;
use crate::work::queues::QueueRotation;

/// Maximum number of jobs that one call pops.
const MAX_POPPED: u64 = 500;

/// How long a worker that found no job waits at least before it pops again, in seconds, even if a job becomes due
/// earlier: several jobs may become due one after the other, and other workers pop them, too.
const DUE_WAIT: f64 = 0.05;

/// The first and the longest wait before a request is repeated, in seconds.
const BACKOFF: (f64, f64) = (0.05, 2.0);

/// How long a worker waits for the server after a third signal, in seconds. It does not wait if the server is away.
const LAST_CALL: f64 = 1.0;

/// How long a worker that has no job left waits for a server that is away, in seconds. Locks then expire by themselves.
const PATIENCE: f64 = 10.0;

/// Whether the server replies.
#[derive(Clone, Debug)]
enum ServerLink {
    Up,
    Away {
        since: f64,
        attempts: u32,
        retry_at: f64,
        /// The kind of request that the server refuses. `None` if it does not reply.
        refused: Option<RequestKind>,
    },
}

/// The search for what a finish-and-pop call changed whose reply was lost. It begins with the endings of the call.
#[derive(Clone, Debug)]
enum Recovery {
    None,
    /// At this time, search once more for jobs that a call popped which reached the server late.
    PlannedAt(f64),
    Wanted(Arc<Vec<EndingRequest>>),
    /// The search waits for its reply.
    Sent(Arc<Vec<EndingRequest>>),
}

/// The kind of a request that has succeeded or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestKind {
    FinishAndPop,
    /// A search only reads, so its reply shows nothing about a server that refuses to write.
    Search,
    Extend,
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WorkStage {
    Working,
    /// Nothing more is popped.
    Draining,
    /// A second signal came: the worker stops the processes and releases their jobs.
    Stopping,
}

#[derive(Debug)]
pub struct Machine {
    options: WorkOptions,
    facts: StartupFacts,
    rotation: QueueRotation,
    slots: Vec<Slot>,
    /// One per slot.
    quick_deaths: Vec<QuickDeathBackoff>,
    held: HeldJobs,
    /// How many seconds the server's clock is ahead of the worker's clock, by which `now` is given.
    server_ahead: f64,
    /// Jobs that wait for a slot.
    ready: VecDeque<PoppedJob>,
    /// Endings that are still to be written.
    endings: Vec<EndingRequest>,
    /// When the queued `endings` are sent at the latest, even if they are few.
    endings_due: f64,
    /// How long a job usually runs, in seconds: a moving average.
    usual_time: f64,
    /// The jobs of the next release call.
    release_queue: Vec<Name>,
    /// The jobs that are released because their recycled process did not read them, in the order in which it got them.
    /// The next pop follows their release at once, since no event announces them, and hands them out in this order.
    unread: Vec<Name>,
    /// Jobs that were given up when their locks expired. A slow server may still extend these locks.
    given_up: HashSet<Name>,
    /// The finish-and-pop call that waits for its reply.
    sent: Option<FinishAndPopRequest>,
    recovery: Recovery,
    /// When the worker asked the server which queues have jobs. `None` after the reply.
    queue_search_since: Option<f64>,
    /// When to ask next which queues have jobs: `queue_search_at` while some are known to have jobs, but already
    /// `queue_search_from` once none is.
    queue_search_from: f64,
    queue_search_at: f64,
    /// Whether queues may have jobs that the last search did not see.
    is_queue_search_outdated: bool,
    extending: Option<Vec<Name>>,
    /// The jobs of the release call that waits for its reply.
    releasing: Option<Vec<Name>>,
    link: ServerLink,
    stage: WorkStage,
    /// Whether no further job may begin for now.
    is_on_hold: bool,
    /// Whether a signal has asked for the end.
    was_asked: bool,
    /// When to pop next. An event that may bring a job makes this earlier.
    poll_at: f64,
    /// When the next job of the queues becomes due without a put, as the server last said.
    due_at: f64,
    /// Whether a job may have been put into a queue since the last finish-and-pop call was sent.
    was_put: bool,
    popped: u64,
    /// When the first of the latest starts failed, if the program cannot be started and all of them failed for that.
    unstartable_since: Option<f64>,
    /// Whether the program was started once.
    was_started: bool,
    program_wait: Option<ProgramWait>,
    start_failures: u32,
    /// The number of consecutive starts that failed because the machine could not start a process.
    busy_failures: u32,
    /// Per slot, the number of consecutive starts that failed because of the slot's directory.
    directory_failures: Vec<u32>,
    /// The result of work that ends before it is done.
    early_result: Option<WorkerRunResult>,
    /// When a stopped worker stops trying to release its jobs, and leaves their locks to expire.
    give_up_at: Option<f64>,
    /// Whether a third signal has asked for the end.
    is_forced: bool,
    /// The number of jobs that were released since the second signal.
    released_since_stop: u64,
    /// Whether a finish-and-pop call of this worker has succeeded.
    was_pop_accepted: bool,
    /// Whether a call that could have been the last one found jobs that will become ready.
    has_rested: bool,
    /// Whether the jobs for which a worker with `--drain` still waits were reported.
    has_noted_rest: bool,
    /// How many jobs failed for good.
    failed: u64,
    /// Whether a job was lost, or its end is not known.
    has_lost: bool,
    /// The number of running jobs that did not exist any more although nobody cancelled them.
    vanished: u64,
    /// The queues whose refusal was reported.
    refused: HashSet<Name>,
    /// The queues whose locks were reported as too short for the interval of heartbeats.
    short_locks: HashSet<Name>,
    is_finished: bool,
    /// No slot needs anything before this time.
    slots_due: f64,
    /// No time limit passes before this time.
    limit_due: f64,
    /// Whether an answer on stdout was reported.
    has_stdout_answer: bool,
    actions: Vec<Action>,
}

impl Machine {
    pub fn new(
        options: WorkOptions,
        facts: StartupFacts,
        rotation: QueueRotation,
        now: f64,
    ) -> Machine {
        let slots = options.concurrency;
        Machine {
            slots: vec![Slot::Free; slots],
            quick_deaths: vec![QuickDeathBackoff::default(); slots],
            rotation,
            held: HeldJobs::new(),
            server_ahead: 0.0,
            ready: VecDeque::new(),
            endings: Vec::new(),
            endings_due: f64::INFINITY,
            usual_time: 0.0,
            release_queue: Vec::new(),
            unread: Vec::new(),
            given_up: HashSet::new(),
            sent: None,
            recovery: Recovery::None,
            queue_search_since: None,
            queue_search_from: now,
            queue_search_at: now,
            is_queue_search_outdated: false,
            extending: None,
            releasing: None,
            link: ServerLink::Up,
            stage: WorkStage::Working,
            is_on_hold: false,
            was_asked: false,
            poll_at: now,
            due_at: f64::INFINITY,
            was_put: false,
            popped: 0,
            unstartable_since: None,
            was_started: false,
            program_wait: None,
            start_failures: 0,
            busy_failures: 0,
            directory_failures: vec![0; slots],
            early_result: None,
            give_up_at: None,
            is_forced: false,
            released_since_stop: 0,
            was_pop_accepted: false,
            has_rested: false,
            has_noted_rest: false,
            failed: 0,
            has_lost: false,
            vanished: 0,
            refused: HashSet::new(),
            short_locks: HashSet::new(),
            is_finished: false,
            slots_due: now,
            limit_due: f64::INFINITY,
            has_stdout_answer: false,
            actions: Vec::new(),
            options,
            facts,
        }
    }

    /// Sets how many seconds the server's clock is ahead of the worker's clock, by which `now` is given. The locks in
    /// replies expire by the server's clock.
    pub fn set_server_ahead(&mut self, seconds: f64) {
        self.server_ahead = seconds;
    }

    /// Updates the state by an event, and adds the actions that follow from it.
    pub fn handle_event(&mut self, now: f64, event: Event) {
        match event {
            Event::Started { slot } => {
                (self.start_failures, self.busy_failures) = (0, 0);
                self.note_program_started(now);
                self.directory_failures[slot] = 0;
            }
            Event::NotStarted {
                slot,
                why: StartFailure::Program(message) | StartFailure::Missing(message),
                jobs,
            } if self.may_retry_unstartable_program(now) => {
                self.keep_jobs_until_next_start(now, slot, message, jobs)
            }
            Event::NotStarted { slot, why, .. } => {
                self.fail_or_release_unstarted_jobs(now, slot, why)
            }
            Event::ProgramFound => self.try_program_again(now),
            Event::Line { slot, answer } => self.handle_answer_line(now, slot, answer),
            Event::AnswerOnStdout { slot, jid } => self.warn_once_of_stdout_answer(slot, jid),
            Event::Mute { slot } => self.plan_stop_after_answers_closed(now, slot),
            Event::Ended { slot, end } => self.free_slot_and_end_jobs(now, slot, end),
            Event::FinishAndPop(reply) => self.note_finish_and_pop_reply(now, reply),
            Event::Recovered(reply) => self.note_recovery_of_lost_reply(now, reply),
            Event::ReadyQueues(reply) => self.note_ready_queues(now, reply),
            Event::Extended(reply) => self.note_extend_reply(now, reply),
            Event::Released(reply) => self.note_release_reply(now, reply),
            // The server also announces a lock that this worker itself releases. That lock is not lost.
            Event::Notice(jid) => {
                if !self.releasing.iter().flatten().any(|one| *one == jid) {
                    self.held.mark_lock_doubtful_and_due(now, &jid);
                }
            }
            Event::Missed => self.held.make_all_extensions_due(now),
            Event::Put(queue) => {
                match &queue {
                    Some(queue) => self.rotation.add_ready_queue(queue),
                    None => self.is_queue_search_outdated = true,
                }
                if queue.is_none_or(|queue| self.rotation.contains_queue(&queue)) {
                    self.poll_at = self.poll_at.min(now);
                    self.was_put = true;
                }
            }
            Event::Queues(queues) => {
                if self.rotation.set_queues_if_changed(queues) {
                    self.queue_search_at = self.queue_search_from;
                }
                self.poll_at = self.poll_at.min(now);
            }
            Event::Hold(is_on_hold) => {
                self.is_on_hold = is_on_hold;
                self.poll_at = self.poll_at.min(now);
            }
            Event::Stop => self.begin_or_escalate_stop(now),
        }
    }

    /// Decides what to do now, and returns the actions for it. Call this after all events were handled.
    pub fn decide_actions(&mut self, now: f64) -> Vec<Action> {
        self.give_up_expired_locks(now);
        self.send_due_signals_and_end_idle_processes(now);
        self.start_or_feed_processes(now);
        self.check_program_if_due(now);
        self.send_due_requests(now);
        self.postpone_server_retry_if_nothing_sent(now);
        self.stop_once_counted_jobs_ended();
        self.finish_if_done(now);
        std::mem::take(&mut self.actions)
    }

    /// Gives up the jobs whose locks have expired and stops their programs. Returns the actions for that.
    pub fn stop_programs_with_expired_lock(&mut self, now: f64) -> Vec<Action> {
        self.give_up_expired_locks(now);
        self.send_due_signals_and_end_idle_processes(now);
        std::mem::take(&mut self.actions)
    }

    /// Whether the lock of a held job is over.
    pub fn is_lock_expired(&self, now: f64, jid: &Name) -> bool {
        self.held
            .jobs
            .get(jid)
            .is_some_and(|job| job.expires <= now)
    }

    /// When to call `decide_actions` next, if no event comes before.
    pub fn next_action_due(&self) -> f64 {
        let mut due = self.held.due.min(self.slots_due).min(self.limit_due);
        due = due.min(self.give_up_at.unwrap_or(f64::INFINITY));
        due = due.min(self.next_program_check_at().unwrap_or(f64::INFINITY));
        if let ServerLink::Away { retry_at, .. } = self.link {
            return if self.is_awaiting_reply() {
                due
            } else {
                due.min(retry_at)
            };
        }
        let next = due.min(self.next_finish_and_pop_at());
        match self.recovery {
            Recovery::None if self.sent.is_none() => next,
            Recovery::PlannedAt(at) if self.sent.is_none() => next.min(at),
            _ => due,
        }
    }

    /// Whether the worker waits for jobs.
    pub fn is_waiting_for_jobs(&self, now: f64) -> bool {
        self.wanted_job_count() > 0 && now < self.poll_at && self.sent.is_none()
    }

    /// The number of jobs that are with a process.
    pub fn running_job_count(&self) -> usize {
        let jobs = self.slots.iter().map(|slot| match slot {
            Slot::Busy(process) => process.jobs.len(),
            _ => 0,
        });
        jobs.sum()
    }

    /// The number of slots whose process has a job.
    pub fn count_slots_with_jobs(&self) -> usize {
        let is_busy =
            |slot: &&Slot| matches!(slot, Slot::Busy(process) if !process.jobs.is_empty());
        self.slots.iter().filter(is_busy).count()
    }

    pub fn readiness(&self) -> WorkerReadiness {
        match self.link {
            _ if self.stage > WorkStage::Working => WorkerReadiness::Stopping,
            ServerLink::Up if self.next_program_check_at().is_some() => {
                WorkerReadiness::ProgramMissing
            }
            ServerLink::Up => WorkerReadiness::Ready,
            ServerLink::Away { refused: None, .. } => WorkerReadiness::ServerAway,
            ServerLink::Away { .. } => WorkerReadiness::ServerRefuses,
        }
    }

    /// The jobs that the process of a slot has, with the jobs that this worker has lost meanwhile. A process for a
    /// single job has that job until the process ends.
    pub fn jids_in_slot(&self, slot: usize) -> Vec<&Name> {
        match self.slots.get(slot) {
            Some(Slot::Busy(process)) if self.options.mode() == DispatchMode::Single => {
                process.first.iter().collect()
            }
            Some(Slot::Busy(process)) => process.jobs.iter().chain(&process.lost).collect(),
            _ => Vec::new(),
        }
    }

    /// Lines for debugging: the state of each slot, and the jobs and endings that wait.
    pub fn debug_lines(&self, now: f64) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, slot) in self.slots.iter().enumerate() {
            let text = match slot {
                Slot::Free => "free".to_owned(),
                Slot::Down(until) => {
                    format!("starts no process for {:.1}s", (until - now).max(0.0))
                }
                Slot::Busy(process) if process.jobs.is_empty() => {
                    "process without a job".to_owned()
                }
                Slot::Busy(process) => {
                    let job = |jid: &Name| match self.held.jobs.get(jid) {
                        Some(job) => format!(
                            "`{jid}` of queue `{}` for {:.1}s, lock expires in {:.1}s",
                            job.queue,
                            now - job.begun,
                            job.expires - now
                        ),
                        None => format!("`{jid}`"),
                    };
                    process.jobs.iter().map(job).collect::<Vec<_>>().join(", ")
                }
            };
            lines.push(format!("slot {}: {text}", at + 1));
        }
        let ending = self.endings.len() + self.sent.as_ref().map_or(0, |sent| sent.endings.len());
        let count = |count: usize, one, many| match count {
            0 => format!("no {many}"),
            _ => format_count(count as u64, one, many),
        };
        lines.push(format!(
            "{} running, {} waiting to be written, {} popped so far",
            count(self.running_job_count(), "job", "jobs"),
            count(ending, "result", "results"),
            with_thousands_separators(self.popped)
        ));
        lines
    }

    /// The number of jobs that the processes can have at the same time.
    fn max_jobs_in_processes(&self) -> usize {
        self.slots.len() * self.options.mode().max_jobs_per_slot()
    }

    /// The number of jobs to pop: how many the processes can take, within the limit of the work and of one call.
    fn wanted_job_count(&self) -> u64 {
        if self.stage > WorkStage::Working
            || self.is_on_hold
            || self.rotation.is_empty()
            || self.next_program_check_at().is_some()
        {
            return 0;
        }
        let free = self.slots.iter().map(|slot| match slot {
            Slot::Free => self.options.mode().max_jobs_per_slot(),
            Slot::Busy(process) => process.free_capacity_of_process(self.options.mode()),
            Slot::Down(_) => 0,
        });
        let free = free.sum::<usize>().saturating_sub(self.ready.len()) as u64;
        match self.options.count {
            Some(count) => free.min(count.saturating_sub(self.popped)),
            None => free,
        }
        // One job shows whether a program that was missing can be started again.
        .min(if self.program_wait.is_some() {
            1
        } else {
            MAX_POPPED
        })
    }

    /// Stops more at each signal.
    fn begin_or_escalate_stop(&mut self, now: f64) {
        match (self.was_asked, self.stage) {
            // The first signal only stops popping. Programs go on, even if the worker was about to end anyway.
            (false, _) => {
                self.was_asked = true;
                self.stop_popping();
                let running = self.running_job_count();
                self.add_report(Report::Stopping { running });
            }
            (true, WorkStage::Working | WorkStage::Draining) => {
                self.stage = WorkStage::Stopping;
                for slot in &mut self.slots {
                    if let Slot::Busy(process) = slot {
                        process.plan_stop(now, now + self.options.kill_after.as_secs_f64());
                    }
                }
            }
            (true, WorkStage::Stopping) => {
                self.is_forced = true;
                for slot in &mut self.slots {
                    if let Slot::Busy(process) = slot {
                        process.plan_stop(now, now);
                    }
                }
                // Wait only for a last call, which releases the jobs if the server replies.
                let wait = match self.link {
                    ServerLink::Up => LAST_CALL,
                    ServerLink::Away { .. } => 0.0,
                };
                let give_up_at = self.give_up_at.unwrap_or(f64::INFINITY);
                self.give_up_at = Some(give_up_at.min(now + wait));
            }
        }
        self.queue_release_of_ready_jobs();
        self.slots_due = now;
    }

    fn add_report(&mut self, report: Report) {
        self.actions.push(Action::Report(report));
    }

    fn add_request(&mut self, request: ServerRequest) {
        self.actions.push(Action::Request(request));
    }

    fn warn(&mut self, text: &str) {
        self.add_report(Report::Warning(format!("warning: {text}")));
    }

    fn warn_about_slot(&mut self, slot: usize, text: &str) {
        self.warn(&format!("slot {}: {text}", slot + 1));
    }

    /// An event of a job that this worker holds, without what only an end has.
    fn work_event(&self, now: f64, event: WorkEventKind, jid: Name, job: &HeldJob) -> WorkEvent {
        let at = Moment::from_seconds(now + self.server_ahead);
        WorkEvent {
            at: at.unwrap_or(Moment::from_micros(0)),
            event,
            jid,
            queue: Some(job.queue.clone()),
            klass: job.klass.clone(),
            worker: self.facts.worker.clone(),
            attempt: job.attempt,
            exit: None,
            signal: None,
            elapsed_s: None,
            message: None,
        }
    }

    /// Ends the work once the number of jobs of the limit has ended. A released job does not count.
    fn stop_once_counted_jobs_ended(&mut self) {
        if let Some(count) = self.options.count
            && self.popped >= count
            && self.held.jobs.is_empty()
        {
            self.stop_popping();
        }
    }

    /// Pops nothing more, without a signal.
    fn stop_popping(&mut self) {
        if self.stage == WorkStage::Working {
            self.stage = WorkStage::Draining;
            // Check the slots now, to close the stdin of persistent processes that have no job.
            self.slots_due = f64::NEG_INFINITY;
        }
    }

    /// Ends the work once nothing is left to do, or once a stopped worker gives up the attempts to release its jobs.
    fn finish_if_done(&mut self, now: f64) {
        if self.is_finished {
            return;
        }
        let is_busy = self.slots.iter().any(|slot| matches!(slot, Slot::Busy(_)));
        if self.stage == WorkStage::Stopping && !is_busy && self.give_up_at.is_none() {
            self.give_up_at = Some(now + self.facts.timeout);
        }
        let gives_up = self.give_up_at.is_some_and(|at| at <= now);
        let must_recover = matches!(self.recovery, Recovery::Wanted(_));
        let has_requests = must_recover || !self.release_queue.is_empty();
        // If no job is left, do not wait much longer for a server that is away: locks expire by themselves. But wait
        // for a server that only refuses finish-and-pop calls, since it may still accept releases.
        let is_gone = matches!(
            self.link,
            ServerLink::Away { since, refused, .. }
                if !matches!(refused, Some(RequestKind::FinishAndPop | RequestKind::Search))
                    && now - since > PATIENCE
        );
        let has_more = is_busy
            || !self.held.jobs.is_empty()
            || self.is_awaiting_reply()
            || has_requests && !is_gone
            || !self.endings.is_empty();
        if self.stage == WorkStage::Working || has_more && !gives_up {
            return;
        }
        self.is_finished = true;
        self.give_up_at = None;
        let left = self.held.jobs.len() as u64;
        let result = match self.early_result.take() {
            Some(fault) if left == 0 => fault,
            _ if self.stage == WorkStage::Stopping => WorkerRunResult::Stopped {
                released: self.released_since_stop,
                left,
            },
            Some(fault) => fault,
            None if !self.options.has_limit() => WorkerRunResult::Done,
            None if self.vanished > 0 => WorkerRunResult::Vanished(self.vanished),
            None if self.failed > 0 => WorkerRunResult::JobsFailed(self.failed),
            // With `--count 1`, the loss of the only job is the result. With more jobs, a lost job is ignored, since
            // another worker completes it.
            None if self.has_lost && self.options.count == Some(1) => WorkerRunResult::JobLost,
            None => WorkerRunResult::Done,
        };
        self.actions.push(Action::Finish(result));
    }
}
