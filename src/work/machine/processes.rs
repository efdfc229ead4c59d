//! The slots of a worker, each with at most one process: when processes start, get jobs and are signalled.

use super::event::{
    Action, BadLineKind, DispatchMode, Report, StartFailure, TerminationSignal, WorkerRunResult,
};
use super::held::JobPhase;
use super::{Machine, WorkStage};
use crate::model::popped_job::PoppedJob;
use crate::name::Name;

/// The work ends when this number of consecutive starts has failed because the program cannot be started.
const MAX_START_FAILURES: u32 = 3;

/// How long a program that cannot be started is tried again before its jobs fail or are released, in seconds: a
/// deployment may be replacing it.
const PROGRAM_PATIENCE: f64 = 3.0;

/// A start that fails this many seconds after the first failed one is about another absence of the program.
const PROGRAM_ABSENCE: f64 = 60.0;

/// The shortest and the longest time between two attempts to start such a program in a slot, in seconds.
const PROGRAM_BACKOFF: (f64, f64) = (0.1, 1.0);

/// Time between a failed start of a process and the next attempt in its slot, in seconds.
const START_AGAIN: f64 = 1.0;

/// The work ends when this number of consecutive starts in a slot has failed because of the slot's directory.
const MAX_DIRECTORY_FAILURES: u32 = 3;

/// A process that ends within this time after its start, in seconds, before it has ended a job, is a quick death.
const QUICK_DEATH_SECONDS: f64 = 1.0;

/// Number of consecutive quick deaths in a slot after which the next start waits.
const QUICK_DEATHS: u32 = 3;

/// The longest wait before a process is started again, in seconds.
const MAX_WAIT: f64 = 60.0;

#[derive(Clone, Debug)]
pub(super) enum Slot {
    Free,
    /// No process is started before this time.
    Down(f64),
    Busy(SlotProcess),
}

#[derive(Clone, Debug)]
pub(super) struct SlotProcess {
    /// The jobs that the process has, in the order in which it received them.
    pub jobs: Vec<Name>,
    /// The job that the process was first started for.
    pub first: Option<Name>,
    /// The jobs that the process still has, although this worker has lost their locks.
    pub lost: Vec<Name>,
    /// Whether the process ever had such a job. Then it is unknown which jobs its unread lines are about.
    pub had_lost_jobs: bool,
    pub begun: f64,
    /// Whether the process has written an answer that ended a job.
    pub has_answered: bool,
    /// Whether this worker has closed the stdin of the process.
    pub is_closed: bool,
    /// When the process closed the pipes for its answers.
    pub mute_at: Option<f64>,
    /// The jobs that the process had for longer than the time limit when it was stopped for that, in their order.
    pub overdue: Vec<Name>,
    /// The number of lines, by kind, that were no answers.
    pub bad_lines: BadLineCounts,
    pub stop: Option<PlannedStop>,
}

/// Maximum number of bad lines of one kind that are reported for a process. Further ones are only counted.
const MAX_REPORTED_LINES: u64 = 5;

/// Lines of a process that are no answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BadLineCounts {
    no_answer: u64,
    other_job: u64,
}

impl BadLineCounts {
    /// Counts a bad line. Returns whether it may still be reported.
    pub(super) fn count_and_may_report(&mut self, kind: BadLineKind) -> bool {
        let count = match kind {
            BadLineKind::NoAnswer => &mut self.no_answer,
            BadLineKind::OtherJob => &mut self.other_job,
        };
        *count += 1;
        *count <= MAX_REPORTED_LINES
    }

    /// The number of lines, by kind, that were counted but not reported.
    pub(super) fn unreported_counts(self) -> impl Iterator<Item = (BadLineKind, u64)> {
        let kinds = [
            (BadLineKind::NoAnswer, self.no_answer),
            (BadLineKind::OtherJob, self.other_job),
        ];
        let more = kinds.map(|(kind, count)| (kind, count.saturating_sub(MAX_REPORTED_LINES)));
        more.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// How a process is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedStop {
    /// When the process gets SIGTERM. `None` if it has got it.
    term_at: Option<f64>,
    /// When the process gets SIGKILL. `None` if it has got it.
    kill_at: Option<f64>,
}

impl SlotProcess {
    pub(super) fn new(jobs: Vec<Name>, now: f64) -> SlotProcess {
        SlotProcess {
            first: jobs.first().cloned(),
            jobs,
            lost: Vec::new(),
            had_lost_jobs: false,
            begun: now,
            has_answered: false,
            is_closed: false,
            mute_at: None,
            overdue: Vec::new(),
            bad_lines: BadLineCounts::default(),
            stop: None,
        }
    }

    /// Plans SIGTERM and SIGKILL for these times. If the signals are already planned, the earlier times apply.
    pub(super) fn plan_stop(&mut self, term_at: f64, kill_at: f64) {
        let stop = self.stop.get_or_insert(PlannedStop {
            term_at: Some(term_at),
            kill_at: Some(kill_at),
        });
        stop.term_at = stop.term_at.map(|at| at.min(term_at));
        stop.kill_at = stop.kill_at.map(|at| at.min(kill_at));
    }

    /// Whether SIGTERM or SIGKILL was sent.
    pub(super) fn was_signalled(&self) -> bool {
        self.stop
            .is_some_and(|stop| stop.term_at.is_none() || stop.kill_at.is_none())
    }

    /// Adds actions for the signals that are due. Returns when the next signal is due.
    pub(super) fn send_due_signals(
        &mut self,
        slot: usize,
        now: f64,
        actions: &mut Vec<Action>,
    ) -> f64 {
        let Some(stop) = &mut self.stop else {
            return f64::INFINITY;
        };
        let mut send = |at: &mut Option<f64>, signal| {
            if at.is_some_and(|at| at <= now) {
                *at = None;
                actions.push(Action::Signal { slot, signal });
            }
        };
        send(&mut stop.term_at, TerminationSignal::Term);
        send(&mut stop.kill_at, TerminationSignal::Kill);
        let next = stop.kill_at.unwrap_or(f64::INFINITY);
        stop.term_at.map_or(next, |at| at.min(next))
    }

    /// The number of further jobs that the process can take.
    pub(super) fn free_capacity(&self, mode: DispatchMode) -> usize {
        match mode {
            DispatchMode::Persistent(in_flight) if !self.is_closed && self.stop.is_none() => {
                in_flight.saturating_sub(self.jobs.len() + self.lost.len())
            }
            _ => 0,
        }
    }
}

/// The number of consecutive quick deaths of processes in a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct QuickDeathBackoff(u32);

impl QuickDeathBackoff {
    /// Counts the end of a process. Returns how many seconds the next start must wait: 1 after [`QUICK_DEATHS`], twice
    /// as long after each further quick death, up to [`MAX_WAIT`].
    pub(super) fn delay_after_end(&mut self, lifetime: f64, has_answered: bool) -> f64 {
        self.0 = if lifetime < QUICK_DEATH_SECONDS && !has_answered {
            self.0.saturating_add(1)
        } else {
            0
        };
        match self.0.checked_sub(QUICK_DEATHS) {
            Some(more) => f64::from(2_u32.saturating_pow(more)).min(MAX_WAIT),
            None => 0.0,
        }
    }
}

impl Machine {
    /// The lost jobs that processes still have.
    pub(super) fn lost_jids_in_processes(&self) -> impl Iterator<Item = &Name> {
        self.slots.iter().flat_map(|slot| match slot {
            Slot::Busy(process) => process.lost.as_slice(),
            _ => &[],
        })
    }

    /// Sends the signals that are due. At the end of the work, also closes the stdin of persistent processes that have
    /// no job.
    pub(super) fn send_due_signals_and_end_idle_processes(&mut self, now: f64) {
        let ends = self.stage > WorkStage::Working && self.ready.is_empty();
        if now < self.slots_due && !ends {
            return;
        }
        let is_persistent = matches!(self.config.mode, DispatchMode::Persistent(_));
        let mut due = f64::INFINITY;
        for (at, slot) in self.slots.iter_mut().enumerate() {
            match slot {
                Slot::Busy(process) => {
                    let is_empty = process.jobs.is_empty() && process.lost.is_empty();
                    if is_persistent && ends && is_empty && !process.is_closed {
                        process.is_closed = true;
                        let term_at = now + self.config.kill_after;
                        process.plan_stop(term_at, term_at + self.config.kill_after);
                        self.actions.push(Action::CloseInput { slot: at });
                    }
                    due = due.min(process.send_due_signals(at, now, &mut self.actions));
                }
                Slot::Down(_) if ends => *slot = Slot::Free,
                Slot::Down(until) if *until <= now => *slot = Slot::Free,
                Slot::Down(until) => due = due.min(*until),
                Slot::Free => {}
            }
        }
        self.slots_due = due;
    }

    /// Starts processes for the jobs that wait for a slot, and hands jobs to persistent processes.
    pub(super) fn start_or_feed_processes(&mut self, now: f64) {
        let max_jobs = match self.config.mode {
            DispatchMode::Single => 1,
            DispatchMode::Batch(jobs) => jobs,
            // A persistent process starts with one job, and gets further jobs while it runs.
            DispatchMode::Persistent(_) => 1,
        };
        while !self.ready.is_empty() {
            let Some(at) = self.emptiest_slot(now) else {
                return;
            };
            let jobs: Vec<PoppedJob> = (0..max_jobs).map_while(|_| self.take_ready_job()).collect();
            if jobs.is_empty() {
                return;
            }
            let jids: Vec<Name> = jobs.iter().map(|job| job.jid.clone()).collect();
            for jid in &jids {
                self.note_job_started(now, jid, at);
            }
            if let Slot::Busy(process) = &mut self.slots[at] {
                process.jobs.extend(jids);
                let jobs = jobs.into_iter();
                self.actions
                    .extend(jobs.map(|job| Action::Send { slot: at, job }));
            } else {
                self.slots[at] = Slot::Busy(SlotProcess::new(jids, now));
                self.actions.push(Action::Start { slot: at, jobs });
            }
        }
    }

    /// The slot that gets the next job: the slot that can take the most jobs. Among equal slots, the first one with a
    /// running process, else the first one.
    fn emptiest_slot(&self, now: f64) -> Option<usize> {
        let slots = self.slots.iter().enumerate().rev();
        let free = slots.filter_map(|(at, slot)| match slot {
            Slot::Busy(process) => Some((process.free_capacity(self.config.mode), true, at)),
            Slot::Down(until) if *until > now => None,
            Slot::Free | Slot::Down(_) => Some((self.config.mode.max_jobs_per_slot(), false, at)),
        });
        // `max_by_key` returns the last of equal slots, which is the first slot in this reversed order.
        let best = free.max_by_key(|(free, is_running, _)| (*free, *is_running));
        best.filter(|(free, ..)| *free > 0).map(|(.., at)| at)
    }

    /// Takes a job that waits for a slot. A job that this worker lost and has popped again must wait until its earlier
    /// process has ended.
    pub(super) fn take_ready_job(&mut self) -> Option<PoppedJob> {
        let is_free = |job: &PoppedJob| !self.lost_jids_in_processes().any(|jid| *jid == job.jid);
        let at = self.ready.iter().position(is_free)?;
        self.ready.remove(at)
    }

    pub(super) fn note_job_started(&mut self, now: f64, jid: &Name, slot: usize) {
        if let Some(job) = self.held.get_mut(jid) {
            job.phase = JobPhase::Running(slot);
            job.begun = now;
            let was_reported = std::mem::replace(&mut job.is_start_reported, true);
            let job = job.label.clone();
            if let Some(limit) = self.config.time_limit {
                self.limit_due = self.limit_due.min(now + limit);
            }
            if !was_reported {
                self.add_report(Report::Started { job, slot });
            }
        }
    }

    /// Whether a program that cannot be started now is tried again for the same jobs.
    pub(super) fn may_program_come_back(&self, now: f64) -> bool {
        let since = self.present_absence_since(now).unwrap_or(now);
        now < since + PROGRAM_PATIENCE
    }

    fn present_absence_since(&self, now: f64) -> Option<f64> {
        self.unstartable_since
            .filter(|since| now < since + PROGRAM_ABSENCE)
    }

    /// Keeps the jobs of a program that could not be started, whose locks are extended meanwhile, for the next attempt
    /// to start it. Jobs that would have followed on its stdin are released.
    pub(super) fn keep_jobs_until_next_start(
        &mut self,
        now: f64,
        slot: usize,
        message: String,
        jobs: Vec<PoppedJob>,
    ) {
        let Slot::Busy(process) = std::mem::replace(&mut self.slots[slot], Slot::Free) else {
            return;
        };
        let since = self.present_absence_since(now);
        if since.is_none() {
            let message = format!("{message}; trying again for {PROGRAM_PATIENCE}s");
            self.add_report(Report::StartFailed { slot, message });
        }
        self.unstartable_since = since.or(Some(now));
        let failed_for = now - since.unwrap_or(now);
        let start_at = now + failed_for.clamp(PROGRAM_BACKOFF.0, PROGRAM_BACKOFF.1);
        self.slots[slot] = Slot::Down(start_at);
        self.slots_due = self.slots_due.min(start_at);
        let is_kept = |jid: &Name| jobs.iter().any(|job| job.jid == *jid);
        let others = process.jobs.into_iter().filter(|jid| !is_kept(jid));
        self.release_queue.extend(others);
        for job in jobs.into_iter().rev() {
            if let Some(held) = self.held.get_mut(&job.jid) {
                held.phase = JobPhase::Ready;
                self.ready.push_front(job);
            }
        }
    }

    pub(super) fn fail_or_release_unstarted_jobs(
        &mut self,
        now: f64,
        slot: usize,
        why: StartFailure,
    ) {
        let Slot::Busy(process) = std::mem::replace(&mut self.slots[slot], Slot::Free) else {
            return;
        };
        let is_persistent = matches!(self.config.mode, DispatchMode::Persistent(_));
        let was_enough = self.start_failures >= MAX_START_FAILURES;
        let is_fault_of_program = match &why {
            StartFailure::Program(_) => true,
            // The arguments of a persistent process do not depend on the job: a start for another job would fail, too.
            StartFailure::Job(_) => is_persistent,
            StartFailure::Directory(_) | StartFailure::Busy(_) => false,
        };
        if let StartFailure::Program(message) | StartFailure::Job(message) = &why
            && is_fault_of_program
        {
            self.start_failures += 1;
            if self.start_failures == MAX_START_FAILURES {
                self.start_fault = Some(WorkerRunResult::NoProgram(message.clone()));
                self.stop_popping();
            }
        }
        match why {
            StartFailure::Program(message) | StartFailure::Job(message) if is_persistent => {
                self.add_report(Report::StartFailed { slot, message });
                self.slots[slot] = Slot::Down(now + START_AGAIN);
                self.slots_due = self.slots_due.min(now + START_AGAIN);
                self.release_queue.extend(process.jobs);
            }
            StartFailure::Program(message) | StartFailure::Job(message) if !was_enough => {
                for jid in process.jobs {
                    self.fail_job(now, &jid, "exec", message.clone(), None);
                }
            }
            StartFailure::Program(_) | StartFailure::Job(_) => {
                self.release_queue.extend(process.jobs)
            }
            // The directory of the slot is at fault, not the jobs: release them, which uses no retry.
            StartFailure::Directory(message) => {
                self.directory_failures[slot] += 1;
                if self.directory_failures[slot] >= MAX_DIRECTORY_FAILURES {
                    self.start_fault = Some(WorkerRunResult::NoDirectory(message.clone()));
                    self.stop_popping();
                }
                self.add_report(Report::StartFailed { slot, message });
                self.slots[slot] = Slot::Down(now + START_AGAIN);
                self.slots_due = self.slots_due.min(now + START_AGAIN);
                self.release_queue.extend(process.jobs);
            }
            StartFailure::Busy(message) => {
                self.add_report(Report::StartFailed { slot, message });
                let wait = START_AGAIN * f64::from(2_u32.saturating_pow(self.busy_failures));
                let start_at = now + wait.min(MAX_WAIT);
                self.busy_failures += 1;
                self.slots[slot] = Slot::Down(start_at);
                self.slots_due = self.slots_due.min(start_at);
                self.release_queue.extend(process.jobs);
            }
        }
    }
}
