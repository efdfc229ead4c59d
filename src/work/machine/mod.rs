//! The state of a worker: what it holds, and what follows from each event. It knows no time but what it
//! is told, no threads, no processes and no server.

mod endings;
pub mod event;
mod held;
pub mod rotation;
mod slots;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use self::event::{
    Action, Config, Event, Failure, JobResult, Limit, Mode, Report, Request, StartFailure,
    TurnReply, WorkResult,
};
use self::held::{HeldJobs, Phase};
use self::rotation::Rotation;
use self::slots::{MAX_WAIT, Process, QuickDeaths, Slot};
use crate::model::ending::{JobEnding, LockOutcome};
use crate::model::popped_job::PoppedJob;
use crate::name::Name;

/// The most jobs of one turn (`core.md` 9.1).
const MAX_POPPED: u64 = 500;

/// After so many starts in a row that failed for want of the program, the work ends.
const MAX_START_FAILURES: u32 = 3;

/// Time until a process is started again that could not be started, in seconds.
const START_AGAIN: f64 = 1.0;

/// The first and the longest wait before a request is repeated, in seconds (`reliability.md` 4.2).
const BACKOFF: (f64, f64) = (0.05, 2.0);

/// How long an ending waits at most for others to share its call, in seconds, and at most which part of
/// the usual time of a job.
const HOLD: (f64, f64) = (0.005, 0.1);

/// Time between two entries about the progress of a job, in seconds.
const PROGRESS: f64 = 10.0;

/// How long a worker that has no job left waits for a server that is away, in seconds.
const PATIENCE: f64 = 10.0;

/// A pop whose reply was lost may still reach the server: its jobs are searched for again after this
/// time, in seconds.
const SEARCH_AGAIN: f64 = 5.0;

/// Whether the server replies.
#[derive(Clone, Debug)]
enum Link {
    Up,
    Away {
        since: f64,
        attempts: u32,
        retry_at: f64,
    },
}

/// How far the work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Working,
    /// Nothing more is popped.
    Draining,
    /// Processes are stopped and their jobs given back.
    Stopping,
}

/// A turn that was asked for.
#[derive(Debug)]
struct SentTurn {
    endings: Arc<Vec<JobEnding>>,
    /// How many jobs it may bring.
    total: u64,
}

/// A worker.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    rotation: Rotation,
    slots: Vec<Slot>,
    /// One per slot.
    quick_deaths: Vec<QuickDeaths>,
    held: HeldJobs,
    /// Jobs that wait for a slot.
    ready: VecDeque<PoppedJob>,
    /// Endings that are still to be written.
    endings: Vec<JobEnding>,
    /// When they are written, also if there are few.
    endings_due: f64,
    /// How long a job usually takes, in seconds.
    usual_time: f64,
    /// Jobs that are to be given back.
    released: Vec<Name>,
    /// Jobs that were given up when their locks expired. A slow server may still extend these locks.
    given_up: HashSet<Name>,
    turn: Option<SentTurn>,
    /// The endings of a turn whose reply was lost.
    recovery: Option<Arc<Vec<JobEnding>>>,
    is_recovering: bool,
    search_at: f64,
    extending: Option<Vec<Name>>,
    releasing: Option<Vec<Name>>,
    link: Link,
    stage: Stage,
    /// Whether a signal has asked for the end.
    was_asked: bool,
    /// When to pop next, if nothing else asks for it.
    poll_at: f64,
    /// Whether a job may have come into a queue after the turn that is under way.
    was_put: bool,
    popped: u64,
    start_failures: u32,
    /// How many starts in a row failed for want of room.
    busy_failures: u32,
    /// Why the command cannot be started.
    no_program: Option<String>,
    has_failed: bool,
    /// The queues whose refusal was reported.
    refused: HashSet<Name>,
    is_finished: bool,
    /// No slot needs anything before this time.
    slots_due: f64,
    actions: Vec<Action>,
}

impl Machine {
    pub fn new(config: Config, rotation: Rotation, now: f64) -> Machine {
        let slot = match config.mode {
            Mode::Persistent(_) => Slot::Down(now),
            _ => Slot::Free,
        };
        Machine {
            slots: vec![slot; config.slots],
            quick_deaths: vec![QuickDeaths::default(); config.slots],
            config,
            rotation,
            held: HeldJobs::new(),
            ready: VecDeque::new(),
            endings: Vec::new(),
            endings_due: f64::INFINITY,
            usual_time: 0.0,
            released: Vec::new(),
            given_up: HashSet::new(),
            turn: None,
            recovery: None,
            is_recovering: false,
            search_at: f64::INFINITY,
            extending: None,
            releasing: None,
            link: Link::Up,
            stage: Stage::Working,
            was_asked: false,
            poll_at: now,
            was_put: false,
            popped: 0,
            start_failures: 0,
            busy_failures: 0,
            no_program: None,
            has_failed: false,
            refused: HashSet::new(),
            is_finished: false,
            slots_due: now,
            actions: Vec::new(),
        }
    }

    /// Notes what happened.
    pub fn note(&mut self, now: f64, event: Event) {
        match event {
            Event::Started { .. } => (self.start_failures, self.busy_failures) = (0, 0),
            Event::NotStarted { slot, why } => self.not_started(now, slot, why),
            Event::Line { slot, jid, content } => self.line(now, slot, jid, content),
            Event::Ended { slot, end } => self.process_ended(now, slot, end),
            Event::Turn(reply) => self.turn_replied(now, reply),
            Event::Recovered(reply) => self.recovered(now, reply),
            Event::Extended(reply) => self.extended(now, reply),
            Event::Released(reply) => self.released(now, reply),
            // The server also announces what this worker gives back.
            Event::Notice(jid) => {
                if !self.releasing.iter().flatten().any(|one| *one == jid) {
                    self.held.doubt(now, &jid);
                }
            }
            Event::Missed => self.held.extend_all_at(now),
            Event::Put(queue) => {
                if queue.is_none_or(|queue| self.rotation.contains(&queue)) {
                    self.poll_at = self.poll_at.min(now);
                    self.was_put = true;
                }
            }
            Event::Queues(queues) => {
                self.rotation.set(queues);
                self.poll_at = self.poll_at.min(now);
            }
            Event::Stop => self.stop(now),
        }
    }

    /// Returns what to do now, after all events were noted.
    pub fn act(&mut self, now: f64) -> Vec<Action> {
        self.check_locks(now);
        self.signal_processes(now);
        self.start_processes(now);
        self.request(now);
        self.postpone(now);
        self.end_count();
        self.finish(now);
        std::mem::take(&mut self.actions)
    }

    /// Returns when to act next, if nothing happens until then.
    pub fn due(&self) -> f64 {
        let mut due = self.held.due.min(self.slots_due);
        if let Link::Away { retry_at, .. } = self.link {
            return match self.is_asking() {
                true => due,
                false => due.min(retry_at),
            };
        }
        if self.turn.is_none() && self.recovery.is_none() {
            due = due.min(self.search_at);
            due = due.min(self.turn_due());
        }
        due
    }

    /// Returns when the next turn is to be made. Few endings wait a moment for others, and so does the
    /// pop for the room that they leave.
    fn turn_due(&self) -> f64 {
        let ended = self.endings.len();
        let wanted = self.wanted();
        let pop_at = match wanted {
            0 => f64::INFINITY,
            _ => self.poll_at,
        };
        match ended {
            0 => pop_at,
            _ if ended >= self.held.len().saturating_sub(ended) => f64::NEG_INFINITY,
            _ if wanted > ended as u64 => pop_at.min(self.endings_due),
            _ => self.endings_due,
        }
    }

    /// Whether the worker waits for jobs.
    pub fn is_idle(&self, now: f64) -> bool {
        self.wanted() > 0 && now < self.poll_at && self.turn.is_none()
    }

    /// Returns the number of jobs that are with a process.
    pub fn running(&self) -> usize {
        let jobs = self.slots.iter().map(|slot| match slot {
            Slot::Busy(process) => process.jobs.len(),
            _ => 0,
        });
        jobs.sum()
    }

    /// Describes each slot, and what waits.
    pub fn dump(&self, now: f64) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, slot) in self.slots.iter().enumerate() {
            let text = match slot {
                Slot::Free => "free".to_owned(),
                Slot::Down(until) => format!("starts a process in {:.1}s", (until - now).max(0.0)),
                Slot::Busy(process) if process.jobs.is_empty() => {
                    "process without a job".to_owned()
                }
                Slot::Busy(process) => {
                    let job = |jid: &Name| match self.held.get(jid) {
                        Some(job) => format!(
                            "`{jid}` of queue `{}` for {:.1}s, lock expires in {:.1}s",
                            job.label.queue,
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
        let ending = self.endings.len() + self.turn.as_ref().map_or(0, |turn| turn.endings.len());
        lines.push(format!(
            "{ending} ended and not written, {} held, {} popped",
            self.held.len(),
            self.popped
        ));
        lines
    }

    /// How many further jobs there is room for.
    fn wanted(&self) -> u64 {
        if self.stage > Stage::Working || self.rotation.is_empty() {
            return 0;
        }
        let per_slot = match self.config.mode {
            Mode::Single => 1,
            Mode::Batch(jobs) => jobs,
            Mode::Persistent(_) => 0,
        };
        let free = self.slots.iter().map(|slot| match slot {
            Slot::Free => per_slot,
            Slot::Busy(process) => process.free(self.config.mode),
            Slot::Down(_) => 0,
        });
        let free = free.sum::<usize>().saturating_sub(self.ready.len()) as u64;
        match self.config.limit {
            Limit::Count(count) => free.min(count.saturating_sub(self.popped)),
            _ => free,
        }
        .min(MAX_POPPED)
    }

    /// Stops more at each signal.
    fn stop(&mut self, now: f64) {
        match (self.was_asked, self.stage) {
            // Also if the limit has been reached: only a second signal stops programs.
            (false, _) => {
                self.was_asked = true;
                self.drain();
                let running = self.held.len();
                self.report(Report::Stopping { running });
            }
            (true, Stage::Working | Stage::Draining) => {
                self.stage = Stage::Stopping;
                for slot in &mut self.slots {
                    if let Slot::Busy(process) = slot {
                        process.stop(now, now + self.config.kill_after);
                    }
                }
            }
            (true, Stage::Stopping) => {}
        }
        self.give_back_ready();
        self.slots_due = now;
    }

    /// Gives a job back that was given up, in case that its lock is still ours. As long as a process has
    /// the job, that waits for its end.
    fn give_back_given_up(&mut self, jid: &Name) {
        let mut lost = self.lost();
        if !lost.any(|one| one == jid) && self.given_up.contains(jid) {
            drop(lost);
            self.given_up.remove(jid);
            if !self.released.contains(jid) {
                self.released.push(jid.clone());
            }
        }
    }

    /// Gives a job back whose lock was extended after it was given up.
    fn give_back_late(&mut self, jid: &Name) {
        self.given_up.insert(jid.clone());
        self.give_back_given_up(jid);
    }

    /// Returns the lost jobs that processes still have.
    fn lost(&self) -> impl Iterator<Item = &Name> {
        self.slots.iter().flat_map(|slot| match slot {
            Slot::Busy(process) => process.lost.as_slice(),
            _ => &[],
        })
    }

    /// Gives the jobs back that no process has.
    fn give_back_ready(&mut self) {
        for job in std::mem::take(&mut self.ready) {
            self.released.push(job.jid);
        }
    }

    fn report(&mut self, report: Report) {
        self.actions.push(Action::Report(report));
    }

    /// Adds popped jobs.
    fn add(&mut self, now: f64, jobs: Vec<PoppedJob>) {
        for job in jobs {
            // The server gave it once more, so it took the earlier lock away.
            self.lose(now, &job.jid, f64::INFINITY, "its lock was taken away");
            if self.held.get(&job.jid).is_some() {
                continue;
            }
            self.popped += 1;
            self.held.add(now, &job, self.config.heartbeat);
            self.given_up.remove(&job.jid);
            self.ready.push_back(job);
        }
        if self.stage > Stage::Working {
            self.give_back_ready();
        }
    }

    /// Ends the locks that are over, and writes the progress that is due.
    fn check_locks(&mut self, now: f64) {
        if now < self.held.due {
            return;
        }
        let mut over = Vec::new();
        for (jid, job) in self.held.iter_mut() {
            if job.expires <= now {
                over.push((jid.clone(), job.expires));
            }
        }
        for (jid, expires) in over {
            let names = |endings: &[JobEnding]| endings.iter().any(|one| one.jid == jid);
            let recovery = self.recovery.as_deref().filter(|_| self.is_recovering);
            let is_sent = self.turn.iter().any(|turn| names(&turn.endings))
                || recovery.is_some_and(|endings| names(endings))
                || self.releasing.iter().flatten().any(|one| *one == jid);
            match is_sent {
                // The reply says what became of it.
                true => {
                    if let Some(job) = self.held.get_mut(&jid) {
                        job.expires = now + 1.0;
                    }
                }
                // The process is gone one second before another worker gets the job.
                false => {
                    self.given_up.insert(jid.clone());
                    let latest = expires + self.config.grace - 1.0;
                    self.lose(
                        now,
                        &jid,
                        latest,
                        "its lock expired while the server was away",
                    );
                }
            }
        }
        let is_away = !matches!(self.link, Link::Up);
        self.held.schedule(is_away || self.extending.is_some());
    }

    /// Sends signals that are due, and ends the input of processes that stay at the end of the work.
    fn signal_processes(&mut self, now: f64) {
        let ends = self.stage > Stage::Working && self.ready.is_empty();
        if now < self.slots_due && !ends {
            return;
        }
        let is_persistent = matches!(self.config.mode, Mode::Persistent(_));
        let mut due = f64::INFINITY;
        for (at, slot) in self.slots.iter_mut().enumerate() {
            match slot {
                Slot::Busy(process) => {
                    let is_empty = process.jobs.is_empty() && process.lost.is_empty();
                    if is_persistent && ends && is_empty && !process.is_closed {
                        process.is_closed = true;
                        let term_at = now + self.config.kill_after;
                        process.stop(term_at, term_at + self.config.kill_after);
                        self.actions.push(Action::CloseInput { slot: at });
                    }
                    due = due.min(process.signal(at, now, &mut self.actions));
                }
                Slot::Down(_) if ends => *slot = Slot::Free,
                Slot::Down(until) if *until <= now && !is_persistent => *slot = Slot::Free,
                Slot::Down(until) => due = due.min(*until),
                Slot::Free => {}
            }
        }
        self.slots_due = due;
    }

    /// Starts processes, and hands jobs to those that stay.
    fn start_processes(&mut self, now: f64) {
        match self.config.mode {
            Mode::Single => self.start_with_jobs(now, 1),
            Mode::Batch(jobs) => self.start_with_jobs(now, jobs),
            Mode::Persistent(_) => {
                for at in 0..self.slots.len() {
                    if matches!(self.slots[at], Slot::Down(until) if until <= now) {
                        self.slots[at] = Slot::Busy(Process::new(Vec::new(), now));
                        let jobs = Vec::new();
                        self.actions.push(Action::Start { slot: at, jobs });
                    }
                }
                self.send_jobs(now);
            }
        }
    }

    fn start_with_jobs(&mut self, now: f64, most: usize) {
        for at in 0..self.slots.len() {
            if self.ready.is_empty() {
                return;
            }
            match self.slots[at] {
                Slot::Down(until) if until > now => continue,
                Slot::Busy(_) => continue,
                _ => {}
            }
            let jobs: Vec<PoppedJob> = (0..most).map_while(|_| self.next_ready()).collect();
            if jobs.is_empty() {
                return;
            }
            let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
            for jid in &jids {
                self.begin(now, jid, at);
            }
            self.slots[at] = Slot::Busy(Process::new(jids, now));
            self.actions.push(Action::Start { slot: at, jobs });
        }
    }

    /// Takes a job that waits for a slot. A job that the server gave once more waits for the end of its
    /// earlier process.
    fn next_ready(&mut self) -> Option<PoppedJob> {
        let is_free = |job: &PoppedJob| !self.lost().any(|jid| *jid == job.jid);
        let at = self.ready.iter().position(is_free)?;
        self.ready.remove(at)
    }

    /// Hands each job to the process that has the fewest.
    fn send_jobs(&mut self, now: f64) {
        while !self.ready.is_empty() {
            let free = self
                .slots
                .iter()
                .enumerate()
                .filter_map(|(at, slot)| match slot {
                    Slot::Busy(process) if process.free(self.config.mode) > 0 => {
                        Some((process.free(self.config.mode), at))
                    }
                    _ => None,
                });
            let Some((_, at)) = free.max_by_key(|(free, at)| (*free, usize::MAX - at)) else {
                return;
            };
            let (Some(job), Slot::Busy(process)) = (self.next_ready(), &mut self.slots[at]) else {
                return;
            };
            process.jobs.push(job.jid.clone());
            self.begin(now, &job.jid.clone(), at);
            self.actions.push(Action::Send { slot: at, job });
        }
    }

    /// Notes that a job is with the process of a slot.
    fn begin(&mut self, now: f64, jid: &Name, slot: usize) {
        if let Some(job) = self.held.get_mut(jid) {
            job.phase = Phase::Running(slot);
            job.begun = now;
            let job = job.label.clone();
            self.report(Report::Started { job, slot });
        }
    }

    /// Asks the server what is to be asked now.
    fn request(&mut self, now: f64) {
        if let Link::Away { retry_at, .. } = self.link {
            // One request at a time, the extension of all locks first.
            if self.is_asking() || now < retry_at {
                return;
            }
            if !self.held.is_empty() {
                let jids = self.held.jids().cloned().collect();
                return self.extend(jids);
            }
        } else if self.extending.is_none() && now >= self.held.due {
            let jids = self.held.take_due(now);
            if !jids.is_empty() {
                self.extend(jids);
            }
            self.held.schedule(self.extending.is_some());
        }
        if self.releasing.is_none() && !self.released.is_empty() {
            let jids = std::mem::take(&mut self.released);
            self.releasing = Some(jids.clone());
            self.actions.push(Action::Request(Request::Release(jids)));
        }
        if self.turn.is_some() || self.is_recovering {
            return;
        }
        if now >= self.search_at && self.recovery.is_none() {
            self.recovery = Some(Arc::default());
        }
        if let Some(endings) = self.recovery.clone() {
            self.is_recovering = true;
            self.search_at = f64::INFINITY;
            // A lost job whose process still ends must not run beside it.
            let known = self.held.jids().chain(self.lost()).cloned().collect();
            let request = Request::Recover { endings, known };
            return self.actions.push(Action::Request(request));
        }
        let wanted = self.wanted();
        let is_drain = self.config.limit == Limit::Drain && self.held.is_empty();
        if self.rotation.is_empty() && is_drain {
            self.drain();
        }
        let is_away = !matches!(self.link, Link::Up);
        let is_probe = is_away && (wanted > 0 || !self.endings.is_empty());
        if now < self.turn_due() && !is_probe {
            return;
        }
        self.was_put = false;
        let endings = Arc::new(std::mem::take(&mut self.endings));
        let queues = match wanted {
            0 => Vec::new(),
            _ => self.rotation.request(wanted),
        };
        self.turn = Some(SentTurn {
            endings: endings.clone(),
            total: wanted,
        });
        self.actions.push(Action::Request(Request::Turn {
            endings,
            total: wanted,
            queues,
        }));
    }

    /// Whether a reply is awaited.
    fn is_asking(&self) -> bool {
        self.turn.is_some()
            || self.is_recovering
            || self.extending.is_some()
            || self.releasing.is_some()
    }

    /// Ends the work after the last job of the limit. One that was given back does not count.
    fn end_count(&mut self) {
        if let Limit::Count(count) = self.config.limit
            && self.popped >= count
            && self.held.is_empty()
        {
            self.drain();
        }
    }

    /// Postpones the next attempt if there is nothing to ask of a server that is away.
    fn postpone(&mut self, now: f64) {
        let is_asking = self.is_asking();
        if let Link::Away { retry_at, .. } = &mut self.link
            && *retry_at <= now
            && !is_asking
        {
            *retry_at = now + BACKOFF.1;
        }
    }

    fn extend(&mut self, jids: Vec<Name>) {
        self.extending = Some(jids.clone());
        self.actions.push(Action::Request(Request::Extend(jids)));
    }

    fn turn_replied(&mut self, now: f64, reply: Result<TurnReply, Failure>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) => {
                match failure.may_be_applied {
                    true => self.recovery = Some(turn.endings),
                    false => {
                        let newer = std::mem::take(&mut self.endings);
                        self.endings = turn.endings.iter().cloned().chain(newer).collect();
                    }
                }
                return self.away(now, failure);
            }
        };
        self.back(now);
        let count = reply.jobs.len() as u64;
        self.rotation
            .advance(reply.jobs.iter().map(|job| &job.queue));
        self.settle(now, &turn.endings, reply);
        if turn.total == 0 {
            return;
        }
        // In turns, a queue that has more jobs may have stood behind one that has none.
        let is_empty = count == 0 || count < turn.total && self.rotation.is_ordered();
        self.poll_at = match is_empty && !self.was_put {
            true => now + self.config.poll,
            false => now,
        };
        let is_idle = self.held.is_empty() && self.endings.is_empty();
        if count == 0 && is_idle && self.config.limit == Limit::Drain {
            self.drain();
        }
    }

    fn recovered(&mut self, now: f64, reply: Result<TurnReply, Failure>) {
        self.is_recovering = false;
        match reply {
            Err(failure) => self.away(now, failure),
            Ok(reply) => {
                self.back(now);
                let Some(endings) = self.recovery.take() else {
                    return;
                };
                // The search after a search finds what came late.
                if !endings.is_empty() || !reply.jobs.is_empty() {
                    self.search_at = now + SEARCH_AGAIN;
                }
                self.settle(now, &endings, reply);
                self.poll_at = now;
            }
        }
    }

    /// Notes what became of endings, and the new jobs.
    fn settle(&mut self, now: f64, endings: &[JobEnding], reply: TurnReply) {
        for (ending, outcome) in endings.iter().zip(reply.endings) {
            self.job_ended(now, ending, outcome);
        }
        for (queue, why) in reply.refused {
            if self.refused.insert(queue.clone()) {
                self.report(Report::QueueRefused { queue, why });
            }
        }
        self.add(now, reply.jobs);
    }

    /// Pops nothing more, without a signal.
    fn drain(&mut self) {
        self.stage = self.stage.max(Stage::Draining);
    }

    fn extended(&mut self, now: f64, reply: Result<Vec<LockOutcome>, Failure>) {
        let jids = self.extending.take().unwrap_or_default();
        match reply {
            Err(failure) => self.away(now, failure),
            Ok(outcomes) => {
                self.back(now);
                for (jid, outcome) in jids.iter().zip(outcomes) {
                    match outcome {
                        LockOutcome::Extended(expires) if self.held.get(jid).is_some() => {
                            self.held.extended(now, jid, expires);
                        }
                        // The server was slow: the job was given up meanwhile.
                        LockOutcome::Extended(_) => self.give_back_late(jid),
                        // The end of a job was written meanwhile, or its reply will say what happened.
                        _ if self.is_ending(jid) => self.held.extend_no_more(jid),
                        LockOutcome::Gone => self.lose(now, jid, f64::INFINITY, "cancelled"),
                        LockOutcome::Lost => {
                            self.lose(now, jid, f64::INFINITY, "another worker may have it");
                        }
                    }
                }
            }
        }
        self.held.schedule(false);
    }

    fn is_ending(&self, jid: &Name) -> bool {
        let job = self.held.get(jid);
        job.is_none_or(|job| matches!(job.phase, Phase::Ending { .. }))
            || self.releasing.iter().flatten().any(|one| one == jid)
    }

    fn released(&mut self, now: f64, reply: Result<Vec<Name>, Failure>) {
        let jids = self.releasing.take().unwrap_or_default();
        match reply {
            Err(failure) => {
                self.released.splice(0..0, jids);
                self.away(now, failure);
            }
            Ok(released) => {
                self.back(now);
                for jid in jids {
                    let result = match released.contains(&jid) {
                        true => {
                            let is_held = self.held.get(&jid).is_some();
                            self.popped -= u64::from(is_held && self.popped > 0);
                            JobResult::Released
                        }
                        false => JobResult::Lost,
                    };
                    self.forget(&jid, now, result, String::new());
                }
            }
        }
    }

    /// Notes that the server does not reply.
    fn away(&mut self, now: f64, failure: Failure) {
        let (since, attempts) = match self.link {
            Link::Up => {
                let message = failure.message;
                self.report(Report::ConnectionLost { message });
                (now, 0)
            }
            Link::Away {
                since, attempts, ..
            } => (since, attempts + 1),
        };
        let wait = BACKOFF.0 * f64::from(2_u32.saturating_pow(attempts));
        self.link = Link::Away {
            since,
            attempts,
            retry_at: now + wait.min(BACKOFF.1) * self.config.jitter,
        };
    }

    /// Notes that the server replies.
    fn back(&mut self, now: f64) {
        if let Link::Away { since, .. } = self.link {
            self.link = Link::Up;
            let after = now - since;
            self.report(Report::ConnectionBack { after });
            self.held.extend_all_at(now);
        }
    }

    /// Ends the work once nothing is left.
    fn finish(&mut self, now: f64) {
        let is_busy = self.slots.iter().any(|slot| matches!(slot, Slot::Busy(_)));
        let has_requests = self.recovery.is_some() || !self.released.is_empty();
        // When no job is left, a server that is away is not waited for much longer: locks expire.
        let is_gone = matches!(self.link, Link::Away { since, .. } if now - since > PATIENCE);
        if self.stage == Stage::Working
            || self.is_finished
            || is_busy
            || !self.held.is_empty()
            || self.is_asking()
            || has_requests && !is_gone
            || !self.endings.is_empty()
        {
            return;
        }
        self.is_finished = true;
        let is_only = self.config.limit == Limit::Count(1);
        let result = match self.no_program.take() {
            Some(message) => WorkResult::NoProgram(message),
            None if self.stage == Stage::Stopping => WorkResult::Stopped,
            None if is_only && self.has_failed => WorkResult::JobFailed,
            None => WorkResult::Done,
        };
        self.actions.push(Action::Finish(result));
    }

    fn not_started(&mut self, now: f64, slot: usize, why: StartFailure) {
        let Slot::Busy(process) = std::mem::replace(&mut self.slots[slot], Slot::Free) else {
            return;
        };
        let is_persistent = matches!(self.config.mode, Mode::Persistent(_));
        if is_persistent {
            self.slots[slot] = Slot::Down(now + START_AGAIN);
            self.slots_due = self.slots_due.min(now + START_AGAIN);
        }
        let was_enough = self.start_failures >= MAX_START_FAILURES;
        if let StartFailure::Program(message) = &why {
            self.start_failures += 1;
            if self.start_failures == MAX_START_FAILURES {
                self.no_program = Some(message.clone());
                self.drain();
            }
        }
        match why {
            StartFailure::Program(message) | StartFailure::Job(message) if !was_enough => {
                if process.jobs.is_empty() {
                    self.report(Report::StartFailed {
                        slot,
                        message: message.clone(),
                    });
                }
                for jid in process.jobs {
                    self.fail(now, &jid, "exec", message.clone(), None);
                }
            }
            StartFailure::Program(_) | StartFailure::Job(_) => self.released.extend(process.jobs),
            StartFailure::Busy(message) => {
                self.report(Report::StartFailed { slot, message });
                let wait = START_AGAIN * f64::from(2_u32.saturating_pow(self.busy_failures));
                let start_at = now + wait.min(MAX_WAIT);
                self.busy_failures += 1;
                self.slots[slot] = Slot::Down(start_at);
                self.slots_due = self.slots_due.min(start_at);
                self.released.extend(process.jobs);
            }
        }
    }
}
