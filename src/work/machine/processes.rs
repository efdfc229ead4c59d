//! The processes of a worker: when they start, get jobs and are signalled.

use super::event::{Action, Mode, Report, StartFailure, WorkResult};
use super::held::Phase;
use super::slots::{MAX_WAIT, Process, Slot};
use super::{Machine, Stage};
use crate::model::popped_job::PoppedJob;
use crate::name::Name;

/// After so many starts in a row that failed for want of the program, the work ends.
const MAX_START_FAILURES: u32 = 3;

/// Time until a process is started again that could not be started, in seconds.
const START_AGAIN: f64 = 1.0;

/// After so many starts of a slot in a row that failed for want of its directory, the work ends.
const MAX_DIRECTORY_FAILURES: u32 = 3;

impl Machine {
    /// Sends signals that are due, and ends the input of processes that stay at the end of the work.
    pub(super) fn signal_processes(&mut self, now: f64) {
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
    pub(super) fn start_processes(&mut self, now: f64) {
        match self.config.mode {
            Mode::Single | Mode::Batch(_) => self.start_with_jobs(now, self.config.mode.jobs()),
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

    pub(super) fn start_with_jobs(&mut self, now: f64, most: usize) {
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
    pub(super) fn next_ready(&mut self) -> Option<PoppedJob> {
        let is_free = |job: &PoppedJob| !self.lost().any(|jid| *jid == job.jid);
        let at = self.ready.iter().position(is_free)?;
        self.ready.remove(at)
    }

    /// Hands each job to the process that has the fewest.
    pub(super) fn send_jobs(&mut self, now: f64) {
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
    pub(super) fn begin(&mut self, now: f64, jid: &Name, slot: usize) {
        if let Some(job) = self.held.get_mut(jid) {
            job.phase = Phase::Running(slot);
            job.begun = now;
            let job = job.label.clone();
            if let Some(limit) = self.config.time_limit {
                self.limit_due = self.limit_due.min(now + limit);
            }
            self.report(Report::Started { job, slot });
        }
    }

    pub(super) fn not_started(&mut self, now: f64, slot: usize, why: StartFailure) {
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
                self.start_fault = Some(WorkResult::NoProgram(message.clone()));
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
            // The jobs are not at fault, so they keep their retries.
            StartFailure::Directory(message) => {
                self.directory_failures[slot] += 1;
                if self.directory_failures[slot] >= MAX_DIRECTORY_FAILURES {
                    self.start_fault = Some(WorkResult::NoDirectory(message.clone()));
                    self.drain();
                }
                self.report(Report::StartFailed { slot, message });
                self.slots[slot] = Slot::Down(now + START_AGAIN);
                self.slots_due = self.slots_due.min(now + START_AGAIN);
                self.released.extend(process.jobs);
            }
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
