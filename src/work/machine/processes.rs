//! The processes of a worker: when they start, get jobs and are signalled.

use super::event::{Action, DispatchMode, Report, StartFailure, WorkerRunResult};
use super::held::JobPhase;
use super::slots::{MAX_WAIT, Slot, SlotProcess};
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

impl Machine {
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
