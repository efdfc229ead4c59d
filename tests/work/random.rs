//! A worker in a random world: processes end, are slow and lose their jobs, replies are lost, the
//! server is away. Whatever happens, each popped job has one end, no process outlives its lock, and the
//! work ends.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use qless::internals::ending::{EndingAction, EndingOutcome, EndingRequest, LockExtensionOutcome};
use qless::internals::machine::Machine;
use qless::internals::machine::event::{Action, Event, FinishAndPopRequest, Report, ServerRequest};
use qless::internals::options::DispatchMode;
use qless::internals::process::answer::{Answer, EndingOrProgress};
use qless::internals::process::{EndedProcess, StartFailure};
use qless::internals::queues::{QueueOrder, QueueRotation};
use qless::internals::work::{PoppedJob, ProcessExit, WorkEventKind};
use qless::internals::{Error, FinishAndPopReply, Kind, Name, ReadyQueues};
use rustix::process::Signal;

use super::machine::{facts, options};
use crate::support::random;

const LOCK: f64 = 60.0;
const GRACE: f64 = 10.0;
const KILL_AFTER: f64 = 4.0;

/// Something that happens to the worker.
#[derive(Clone, Debug)]
enum Step {
    /// Time passes.
    Wait(f64),
    /// The server carries out the oldest request, and replies.
    Reply,
    /// The server carries it out, and the reply is lost.
    Lose,
    /// The request does not reach the server.
    Refuse,
    /// The server refuses to write. It still answers a search.
    Forbid,
    /// The process of a slot ends.
    End(usize, i32),
    /// The process of a slot answers for its oldest job.
    Answer(usize),
    /// The process of a slot closes the pipe of its answers, if it is to stay.
    Mute(usize),
    /// A running job is cancelled, and the worker is notified or not.
    Cancel(usize, bool),
    Put,
    Stop,
}

fn step() -> impl Strategy<Value = Step> {
    let slot = 0..3_usize;
    prop_oneof![
        4 => prop_oneof![Just(0.01), Just(1.0), Just(7.0), Just(30.0)].prop_map(Step::Wait),
        8 => Just(Step::Reply),
        2 => Just(Step::Lose),
        2 => Just(Step::Refuse),
        2 => Just(Step::Forbid),
        4 => (slot.clone(), prop_oneof![Just(0), Just(1), Just(75)])
            .prop_map(|(slot, code)| Step::End(slot, code)),
        4 => slot.clone().prop_map(Step::Answer),
        1 => slot.clone().prop_map(Step::Mute),
        1 => (slot, any::<bool>()).prop_map(|(slot, told)| Step::Cancel(slot, told)),
        2 => Just(Step::Put),
        1 => Just(Step::Stop),
    ]
}

/// A process that runs.
#[derive(Debug, Default)]
struct Process {
    jobs: Vec<Name>,
    /// When it got each job.
    handed: BTreeMap<Name, f64>,
    /// Jobs that the worker told it are lost.
    cancelled: BTreeSet<Name>,
    is_mute: bool,
}

struct World {
    machine: Machine,
    mode: DispatchMode,
    time_limit: Option<f64>,
    now: f64,
    requests: Vec<ServerRequest>,
    processes: BTreeMap<usize, Process>,
    waiting: Vec<Name>,
    /// Jobs that this worker holds, with the end of their locks.
    locks: BTreeMap<Name, f64>,
    /// Jobs that ended in the name of this worker.
    done: BTreeSet<Name>,
    /// How often each job was popped, and how often its end was reported.
    popped: BTreeMap<Name, usize>,
    reported: BTreeMap<Name, usize>,
    starts: usize,
    /// The slots whose process could not be started just now.
    not_started: BTreeSet<usize>,
    next_jid: usize,
    /// Whether a request failed since the server last took an end or a job back, so that the worker does not know
    /// whether it would.
    is_away: bool,
    stops: usize,
    is_finished: bool,
}

fn check(holds: bool, why: impl Fn() -> String) -> Result<(), TestCaseError> {
    if holds {
        Ok(())
    } else {
        Err(TestCaseError::fail(why()))
    }
}

impl World {
    /// Jobs come into the last of the queues.
    fn new(mode: DispatchMode, queues: usize, time_limit: Option<f64>) -> World {
        let mode_flags = match mode {
            DispatchMode::Single => String::new(),
            DispatchMode::Batch(jobs) => format!("--batch {jobs}"),
            DispatchMode::Persistent(jobs) => format!("--persistent --in-flight {jobs}"),
        };
        let limit = time_limit.map_or(String::new(), |limit| format!("--time-limit {limit}s"));
        let flags = format!("--concurrency 3 --kill-after {KILL_AFTER}s {mode_flags} {limit}");
        let empty = (1..queues).map(|at| format!("empty-{at}"));
        let queues = empty.chain(["q".to_owned()]);
        let queues = queues.map(|queue| (Name::from(queue), 1)).collect();
        World {
            machine: Machine::new(
                options(&flags),
                facts(),
                QueueRotation::new(QueueOrder::Ordered, queues),
                0.0,
            ),
            mode,
            time_limit,
            now: 0.0,
            requests: Vec::new(),
            processes: BTreeMap::new(),
            waiting: Vec::new(),
            locks: BTreeMap::new(),
            done: BTreeSet::new(),
            popped: BTreeMap::new(),
            reported: BTreeMap::new(),
            starts: 0,
            not_started: BTreeSet::new(),
            next_jid: 0,
            is_away: false,
            stops: 0,
            is_finished: false,
        }
    }

    fn put(&mut self) {
        self.next_jid += 1;
        self.waiting.push(Name::from(format!("j{}", self.next_jid)));
        self.note(Event::Put(Some(Name::from("q"))));
    }

    fn note(&mut self, event: Event) {
        self.machine.handle_event(self.now, event);
    }

    /// Lets the worker act until it has nothing to do now.
    fn act(&mut self) -> Result<(), TestCaseError> {
        for action in self.machine.stop_overdue_processes(self.now) {
            self.perform(action)?;
        }
        loop {
            let actions = self.machine.decide_actions(self.now);
            if actions.is_empty() {
                self.check_time_limit()?;
                let due = self.machine.next_action_due();
                return check(due > self.now || self.is_finished, || {
                    format!("it wants to act at {due} and does nothing at {}", self.now)
                });
            }
            self.not_started.clear();
            for action in actions {
                self.perform(action)?;
            }
        }
    }

    /// No process has a job for longer than the limit and the time until SIGKILL.
    fn check_time_limit(&self) -> Result<(), TestCaseError> {
        let latest = self
            .time_limit
            .map_or(f64::INFINITY, |limit| limit + KILL_AFTER);
        for process in self.processes.values() {
            for jid in &process.jobs {
                let had = self.now - process.handed[jid];
                check(had <= latest, || format!("a process has {jid} for {had} s"))?;
            }
        }
        Ok(())
    }

    fn perform(&mut self, action: Action) -> Result<(), TestCaseError> {
        match action {
            Action::Start { slot, jobs } => {
                check(!self.processes.contains_key(&slot), || {
                    format!("slot {slot} is busy")
                })?;
                self.starts += 1;
                // Some starts fail for want of room, some because the program is missing for a moment.
                if self.starts.is_multiple_of(11) {
                    let why = if self.starts.is_multiple_of(2) {
                        StartFailure::Busy("no process".to_owned())
                    } else {
                        StartFailure::Program("no such file".to_owned())
                    };
                    self.note(Event::NotStarted { slot, why, jobs });
                    self.not_started.insert(slot);
                } else {
                    let jobs: Vec<Name> = jobs.into_iter().map(|job| job.jid).collect();
                    let process = Process {
                        handed: jobs.iter().map(|jid| (jid.clone(), self.now)).collect(),
                        jobs,
                        ..Process::default()
                    };
                    self.processes.insert(slot, process);
                    self.note(Event::Started { slot });
                }
            }
            Action::CheckProgram => self.note(Event::ProgramFound),
            // The worker did not know yet that there is no process.
            Action::Send { slot, .. } if self.not_started.contains(&slot) => {}
            Action::Send { slot, job } => {
                let process = self.processes.get_mut(&slot);
                let process =
                    process.ok_or_else(|| TestCaseError::fail("no process to send to"))?;
                process.handed.insert(job.jid.clone(), self.now);
                process.jobs.push(job.jid);
            }
            Action::Cancel { slot, jid } => {
                let process = self.processes.get_mut(&slot);
                let process = process.ok_or_else(|| TestCaseError::fail("no process to cancel"))?;
                process.cancelled.insert(jid);
            }
            // A process that reads no more ends by itself.
            Action::CloseInput { slot } => self.end(slot, 0),
            Action::Signal { slot, signal } => {
                if signal == Signal::KILL && self.processes.contains_key(&slot) {
                    self.end_by(slot, ProcessExit::Signal("KILL"));
                }
            }
            Action::Request(ServerRequest::Log { .. }) => {}
            Action::Request(request) => self.requests.push(request),
            Action::Report(Report::Job(event)) if event.event != WorkEventKind::Started => {
                *self.reported.entry(event.jid).or_default() += 1;
            }
            Action::Report(_) => {}
            Action::Finish(_) => self.is_finished = true,
        }
        Ok(())
    }

    fn end(&mut self, slot: usize, code: i32) {
        self.end_by(slot, ProcessExit::Code(code));
    }

    fn end_by(&mut self, slot: usize, exit: ProcessExit) {
        if self.processes.remove(&slot).is_some() {
            let end = EndedProcess {
                exit,
                message: String::new(),
                data: None,
                unusable_output: None,
                unread_lines: self.starts % 3,
            };
            self.note(Event::Ended { slot, end });
        }
    }

    fn answer(&mut self, slot: usize) {
        let Some(process) = self.processes.get_mut(&slot) else {
            return;
        };
        if process.jobs.is_empty() || process.is_mute || self.mode == DispatchMode::Single {
            return;
        }
        let jid = process.jobs.remove(0);
        let content = Ok(EndingOrProgress::Ending(EndingAction::Complete {
            data: None,
            next: None,
        }));
        let answer = Answer {
            jid: Some(jid),
            content,
            ignored: Vec::new(),
        };
        self.note(Event::Line { slot, answer });
    }

    /// Ends a job in the name of this worker.
    fn finish(&mut self, ending: &EndingRequest) -> EndingOutcome {
        if self.locks.remove(&ending.jid).is_none() {
            return EndingOutcome::NotHolder {
                state: Name::from("waiting"),
                worker: Name::default(),
            };
        }
        match &ending.action {
            EndingAction::Retry { .. } => self.waiting.push(ending.jid.clone()),
            _ => _ = self.done.insert(ending.jid.clone()),
        }
        EndingOutcome::Done {
            state: Name::from("complete"),
            remaining: None,
        }
    }

    fn popped_job(&mut self, jid: &Name) -> PoppedJob {
        PoppedJob {
            jid: jid.clone(),
            queue: Name::from("q"),
            expires: self.locks[jid],
            ..PoppedJob::default()
        }
    }

    /// Carries a request out and returns the reply.
    fn serve(&mut self, request: &ServerRequest) -> Event {
        match request {
            ServerRequest::FinishAndPop(FinishAndPopRequest {
                endings,
                total,
                queues,
                ..
            }) => {
                let endings = endings.iter().map(|ending| self.finish(ending)).collect();
                let mut jobs = Vec::new();
                let asks = queues.iter().any(|(queue, _)| queue.as_bytes() == b"q");
                while asks && (jobs.len() as u64) < *total && !self.waiting.is_empty() {
                    let jid = self.waiting.remove(0);
                    self.locks.insert(jid.clone(), self.now + LOCK);
                    *self.popped.entry(jid.clone()).or_default() += 1;
                    jobs.push(self.popped_job(&jid));
                }
                let emptied = if (jobs.len() as u64) < *total {
                    queues.iter().map(|(queue, _)| queue.clone()).collect()
                } else {
                    Vec::new()
                };
                Event::FinishAndPop(Ok(FinishAndPopReply {
                    endings,
                    jobs,
                    emptied,
                    ..FinishAndPopReply::default()
                }))
            }
            ServerRequest::Recover { endings, known } => {
                let endings = endings.iter().map(|ending| {
                    if self.done.contains(&ending.jid) {
                        EndingOutcome::Done {
                            state: Name::from("complete"),
                            remaining: None,
                        }
                    } else {
                        self.finish(ending)
                    }
                });
                let endings = endings.collect();
                let found: Vec<Name> = self.locks.keys().cloned().collect();
                let found = found.into_iter().filter(|jid| !known.contains(jid));
                let found: Vec<Name> = found.collect();
                let jobs = found.iter().map(|jid| {
                    self.locks.insert(jid.clone(), self.now + LOCK);
                    *self.popped.entry(jid.clone()).or_default() += 1;
                    self.popped_job(jid)
                });
                Event::Recovered(Ok(FinishAndPopReply {
                    endings,
                    jobs: jobs.collect(),
                    ..FinishAndPopReply::default()
                }))
            }
            ServerRequest::Extend(jids) => {
                let extended = jids.iter().map(|jid| match self.locks.get_mut(jid) {
                    Some(expires) => {
                        *expires = self.now + LOCK;
                        LockExtensionOutcome::Extended(*expires)
                    }
                    None => LockExtensionOutcome::Lost,
                });
                Event::Extended(Ok(extended.collect()))
            }
            ServerRequest::Release(jids) => {
                let held = jids.iter().filter(|jid| self.locks.contains_key(jid));
                let held: Vec<Name> = held.cloned().collect();
                for jid in &held {
                    self.locks.remove(jid);
                    self.waiting.push(jid.clone());
                }
                Event::Released(Ok(held))
            }
            ServerRequest::FindReadyQueues => Event::ReadyQueues(Ok(ReadyQueues {
                queues: if self.waiting.is_empty() {
                    Vec::new()
                } else {
                    vec![Name::from("q")]
                },
                due_in: None,
            })),
            ServerRequest::Log { .. } | ServerRequest::FindQueues | ServerRequest::Leave => {
                Event::Missed
            }
        }
    }

    /// The reply to a request that failed.
    fn failed(request: &ServerRequest, may_have_been_applied: bool, is_refusal: bool) -> Event {
        let kind = match (is_refusal, may_have_been_applied) {
            (true, _) => Kind::Oom,
            (false, true) => Kind::Timeout,
            (false, false) => Kind::Unreachable,
        };
        let failure = Error::new(kind, "away");
        match request {
            ServerRequest::FinishAndPop(_) => Event::FinishAndPop(Err(failure)),
            ServerRequest::Recover { .. } => Event::Recovered(Err(failure)),
            ServerRequest::Extend(_) => Event::Extended(Err(failure)),
            ServerRequest::Release(_) => Event::Released(Err(failure)),
            ServerRequest::FindReadyQueues => Event::ReadyQueues(Err(failure)),
            ServerRequest::Log { .. } | ServerRequest::FindQueues | ServerRequest::Leave => {
                Event::Missed
            }
        }
    }

    /// Lets time pass, while the worker acts when it wants to.
    fn wait(&mut self, seconds: f64) -> Result<(), TestCaseError> {
        let until = self.now + seconds;
        loop {
            let lock = self.locks.values().map(|expires| expires + GRACE);
            let next = lock.fold(self.machine.next_action_due(), f64::min);
            self.now = next.clamp(self.now, until);
            self.act()?;
            self.give_to_others()?;
            if self.now >= until || next > until {
                self.now = until;
                return self.act();
            }
        }
    }

    /// Gives jobs whose locks and grace have passed to another worker, which ends them.
    fn give_to_others(&mut self) -> Result<(), TestCaseError> {
        let over = self
            .locks
            .iter()
            .filter(|(_, expires)| **expires + GRACE <= self.now);
        let over: Vec<Name> = over.map(|(jid, _)| jid.clone()).collect();
        for jid in over {
            let runs = self
                .processes
                .values()
                .any(|process| process.jobs.contains(&jid));
            check(!runs, || {
                format!("{jid} still runs when another worker gets it")
            })?;
            self.locks.remove(&jid);
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Wait(seconds) => self.wait(*seconds)?,
            Step::Reply | Step::Lose | Step::Refuse | Step::Forbid if self.requests.is_empty() => {}
            Step::Reply => {
                let request = self.requests.remove(0);
                let reply = self.serve(&request);
                // A server that only extends locks and finds queues may still refuse to take jobs back.
                self.is_away &= matches!(
                    request,
                    ServerRequest::Extend(_) | ServerRequest::FindReadyQueues
                );
                self.note(reply);
            }
            Step::Lose => {
                let request = self.requests.remove(0);
                self.serve(&request);
                self.is_away = true;
                self.note(World::failed(&request, true, false));
            }
            Step::Refuse => {
                let request = self.requests.remove(0);
                self.is_away = true;
                self.note(World::failed(&request, false, false));
            }
            Step::Forbid => {
                let request = self.requests.remove(0);
                self.is_away = true;
                let reply = match &request {
                    ServerRequest::Recover { endings, .. } if endings.is_empty() => {
                        self.serve(&request)
                    }
                    _ => World::failed(&request, true, true),
                };
                self.note(reply);
            }
            Step::End(slot, code) => self.end(*slot, *code),
            Step::Answer(slot) => self.answer(*slot),
            Step::Mute(slot) => {
                if let (DispatchMode::Persistent(_), Some(process)) =
                    (self.mode, self.processes.get_mut(slot))
                {
                    process.is_mute = true;
                    self.note(Event::Mute { slot: *slot });
                }
            }
            Step::Cancel(slot, is_noticed) => {
                let process = self.processes.get(slot);
                let jid = process.and_then(|process| process.jobs.first().cloned());
                if let Some(jid) = jid {
                    self.locks.remove(&jid);
                    if *is_noticed {
                        self.note(Event::Notice(jid));
                    }
                }
            }
            Step::Put => self.put(),
            Step::Stop => {
                self.stops += 1;
                self.note(Event::Stop);
            }
        }
        self.act()
    }

    /// Ends everything: the server replies, and processes end.
    fn end_all(&mut self) -> Result<(), TestCaseError> {
        // A worker without jobs does not wait long for a server that is away: first, all is well.
        for round in 0..500 {
            if round == 50 {
                self.step(&Step::Stop)?;
            }
            if self.is_finished {
                break;
            }
            self.step(&Step::Reply)?;
            for slot in 0..3 {
                match self.mode {
                    DispatchMode::Persistent(_) => self.step(&Step::Answer(slot))?,
                    _ => self.step(&Step::End(slot, 0))?,
                }
            }
            self.wait(0.5)?;
        }
        let state = || self.machine.debug_lines(self.now).join("; ");
        check(self.is_finished, || {
            format!("the work does not end: {}", state())
        })?;
        check(self.processes.is_empty(), || "a process is left".to_owned())?;
        for (jid, count) in &self.reported {
            let popped = self.popped.get(jid).copied().unwrap_or_default();
            check(*count <= popped, || {
                format!("{jid}: {count} ends, popped {popped} times")
            })?;
        }
        // A worker that ends while the server is away, or by a third signal, leaves locks to their end.
        let may_leave = self.is_away || self.stops > 2;
        let is_locked = self.locks.values().any(|expires| *expires > self.now);
        check(!is_locked || may_leave, || {
            format!("still locked: {:?}", self.locks)
        })
    }
}

fn play(
    mode: DispatchMode,
    queues: usize,
    time_limit: Option<f64>,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut world = World::new(mode, queues, time_limit);
    for _ in 0..4 {
        world.put();
    }
    world.act()?;
    for step in steps {
        world.step(step)?;
        if world.is_finished {
            return Ok(());
        }
    }
    world.end_all()
}

#[test]
fn random_events_leave_no_job_and_no_process_behind() {
    let modes = [
        (DispatchMode::Single, 1, None, 60),
        (DispatchMode::Persistent(2), 1, None, 60),
        (DispatchMode::Persistent(2), 1, Some(8.0), 38),
        (DispatchMode::Batch(2), 1, Some(8.0), 38),
        (DispatchMode::Single, 501, None, 25),
    ];
    for (mode, queues, limit, cases) in modes {
        let steps = prop::collection::vec(step(), 1..80);
        random::property(random::more_in_soak(cases), steps, |steps: Vec<Step>| {
            play(mode, queues, limit, &steps)
        });
    }
}
