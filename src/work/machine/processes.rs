//! The slots of a worker, each with at most one process: when processes start, get jobs and are signalled. The time
//! limit of a job counts from when it was handed to its process.

use rustix::process::Signal;

use super::event::{Action, Report, WorkerRunResult};
use super::held::JobPhase;
use super::{Machine, WorkStage};
use crate::model::work::{PoppedJob, RetryCause, WorkEventKind};
use crate::name::Name;
use crate::text::{Sanitized, format_count, format_duration};
use crate::work::options::DispatchMode;
use crate::work::process::{EndedProcess, StartFailure};

/// The work ends when this number of consecutive starts has failed because the program cannot be started.
const MAX_START_FAILURES: u32 = 3;

/// How long a program that cannot be started is tried again before its jobs fail or are released, in seconds: a
/// deployment may be replacing it.
const PROGRAM_PATIENCE: f64 = 3.0;

/// A start that fails this many seconds after the first failed one is about another absence of the program.
const PROGRAM_ABSENCE: f64 = 60.0;

/// The shortest and the longest time between two attempts to start such a program in a slot, in seconds.
const PROGRAM_BACKOFF: (f64, f64) = (0.1, 1.0);

/// Time between two checks whether a missing program is there, in seconds. It doubles, up to [`MAX_WAIT`], each time that
/// the program is there and still cannot be started.
const PROGRAM_CHECK: f64 = 1.0;

/// Time between a failed start of a process and the next attempt in its slot, in seconds.
const START_AGAIN: f64 = 1.0;

/// The work ends when this number of consecutive starts in a slot has failed because of the slot's directory.
const MAX_DIRECTORY_FAILURES: u32 = 3;

/// A worker pops nothing until a program that it could start before can be started again.
#[derive(Clone, Debug)]
pub(super) struct ProgramWait {
    since: f64,
    pause: f64,
    /// When to check next whether the program is there. `None` once it is: then the next job is to start it.
    check_at: Option<f64>,
}

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
    pub stop: Option<TermAndKillTimes>,
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
    /// Counts a bad line, which names a job or none. Returns whether it may still be reported.
    pub(super) fn count_and_may_report(&mut self, names_job: bool) -> bool {
        let count = if names_job {
            &mut self.other_job
        } else {
            &mut self.no_answer
        };
        *count += 1;
        *count <= MAX_REPORTED_LINES
    }

    /// Texts about the lines that were counted but not reported, such as `3 further lines that were no answers`.
    pub(super) fn describe_unreported_lines(self) -> impl Iterator<Item = String> {
        let kinds = [
            (self.no_answer, "that were no answers"),
            (self.other_job, "about jobs that it did not have"),
        ];
        let more = kinds.map(|(count, what)| (count.saturating_sub(MAX_REPORTED_LINES), what));
        let more = more.into_iter().filter(|(count, _)| *count > 0);
        more.map(|(count, what)| {
            let lines = format_count(count, "further line", "further lines");
            format!("{lines} {what}")
        })
    }
}

/// How a process is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermAndKillTimes {
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
        let stop = self.stop.get_or_insert(TermAndKillTimes {
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
        send(&mut stop.term_at, Signal::TERM);
        send(&mut stop.kill_at, Signal::KILL);
        let next = stop.kill_at.unwrap_or(f64::INFINITY);
        stop.term_at.map_or(next, |at| at.min(next))
    }

    /// The number of further jobs that the process can take.
    pub(super) fn free_capacity_of_process(&self, mode: DispatchMode) -> usize {
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
        let is_persistent = self.options.persistent;
        let mut due = f64::INFINITY;
        for (at, slot) in self.slots.iter_mut().enumerate() {
            match slot {
                Slot::Busy(process) => {
                    let is_empty = process.jobs.is_empty() && process.lost.is_empty();
                    if is_persistent && ends && is_empty && !process.is_closed {
                        process.is_closed = true;
                        let term_at = now + self.options.kill_after.as_secs_f64();
                        process.plan_stop(term_at, term_at + self.options.kill_after.as_secs_f64());
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
        let max_jobs = match self.options.mode() {
            DispatchMode::Single => 1,
            DispatchMode::Batch(jobs) => jobs,
            // A persistent process starts with one job, and gets further jobs while it runs.
            DispatchMode::Persistent(_) => 1,
        };
        while !self.ready.is_empty() {
            let Some(at) = self.slot_for_next_job(now) else {
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
    fn slot_for_next_job(&self, now: f64) -> Option<usize> {
        let slots = self.slots.iter().enumerate().rev();
        let free = slots.filter_map(|(at, slot)| match slot {
            Slot::Busy(process) => Some((
                process.free_capacity_of_process(self.options.mode()),
                true,
                at,
            )),
            Slot::Down(until) if *until > now => None,
            Slot::Free | Slot::Down(_) => {
                Some((self.options.mode().max_jobs_per_slot(), false, at))
            }
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

    fn note_job_started(&mut self, now: f64, jid: &Name, slot: usize) {
        if let Some(limit) = self.options.time_limit {
            self.limit_due = self.limit_due.min(now + limit.as_secs_f64());
        }
        let Some(job) = self.held.jobs.get_mut(jid) else {
            return;
        };
        job.phase = JobPhase::Running(slot);
        job.begun = now;
        if !std::mem::replace(&mut job.is_start_reported, true)
            && let Some(job) = self.held.jobs.get(jid)
        {
            let event = self.work_event(now, WorkEventKind::Started, jid.clone(), job);
            self.add_report(Report::Job(event));
        }
    }

    /// Whether a program that cannot be started now is tried again for the same jobs.
    pub(super) fn may_retry_unstartable_program(&self, now: f64) -> bool {
        let since = self.unstartable_since_if_recent(now).unwrap_or(now);
        self.program_wait.is_none() && now < since + PROGRAM_PATIENCE
    }

    fn unstartable_since_if_recent(&self, now: f64) -> Option<f64> {
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
        let since = self.unstartable_since_if_recent(now);
        if since.is_none() {
            let message = format!(
                "{}; trying again for {PROGRAM_PATIENCE}s",
                Sanitized(message)
            );
            self.warn_about_slot(slot, &message);
        }
        self.unstartable_since = since.or(Some(now));
        let failed_for = now - since.unwrap_or(now);
        let start_at = now + failed_for.clamp(PROGRAM_BACKOFF.0, PROGRAM_BACKOFF.1);
        self.close_slot_until(slot, start_at);
        let is_kept = |jid: &Name| jobs.iter().any(|job| job.jid == *jid);
        let others = process.jobs.into_iter().filter(|jid| !is_kept(jid));
        self.release_queue.extend(others);
        for job in jobs.into_iter().rev() {
            if let Some(held) = self.held.jobs.get_mut(&job.jid) {
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
        if let StartFailure::Program(message) | StartFailure::Missing(message) = &why
            && (self.was_started || matches!(why, StartFailure::Missing(_)))
        {
            self.release_queue.extend(process.jobs);
            return self.stop_popping_until_program_is_back(now, slot, message);
        }
        let is_persistent = self.options.persistent;
        let was_enough = self.start_failures >= MAX_START_FAILURES;
        let is_fault_of_program = match &why {
            StartFailure::Program(_) | StartFailure::Missing(_) => true,
            // The arguments of a persistent process do not depend on the job: a start for another job would fail, too.
            StartFailure::Job(_) => is_persistent,
            StartFailure::Directory(_) | StartFailure::Busy(_) => false,
        };
        if let StartFailure::Program(message) | StartFailure::Job(message) = &why
            && is_fault_of_program
        {
            self.start_failures += 1;
            if self.start_failures == MAX_START_FAILURES {
                self.early_result = Some(WorkerRunResult::NoProgram(message.clone()));
                self.stop_popping();
            }
        }
        let wait = match &why {
            StartFailure::Program(message) | StartFailure::Job(message) if !is_persistent => {
                if was_enough {
                    self.release_queue.extend(process.jobs);
                } else {
                    for jid in process.jobs {
                        self.fail_job(now, &jid, "exec", message.clone(), None);
                    }
                }
                return;
            }
            StartFailure::Program(_) | StartFailure::Missing(_) | StartFailure::Job(_) => {
                START_AGAIN
            }
            StartFailure::Directory(message) => {
                self.directory_failures[slot] += 1;
                if self.directory_failures[slot] >= MAX_DIRECTORY_FAILURES {
                    self.early_result = Some(WorkerRunResult::NoDirectory(message.clone()));
                    self.stop_popping();
                }
                START_AGAIN
            }
            StartFailure::Busy(_) => {
                let wait = START_AGAIN * f64::from(2_u32.saturating_pow(self.busy_failures));
                self.busy_failures += 1;
                wait.min(MAX_WAIT)
            }
        };
        // The jobs are not at fault: release them, which uses no retry.
        self.release_queue.extend(process.jobs);
        self.warn_about_slot(slot, &Sanitized(why.into_message()).to_string());
        self.close_slot_until(slot, now + wait);
    }

    /// Releases the jobs that wait for a program that is missing, and pops none until it is back. A worker with a limit,
    /// which others wait for, ends instead.
    fn stop_popping_until_program_is_back(&mut self, now: f64, slot: usize, message: &str) {
        self.queue_release_of_ready_jobs();
        if self.options.has_limit() {
            let fault = WorkerRunResult::ProgramLost(message.to_owned());
            self.early_result.get_or_insert(fault);
            return self.stop_popping();
        }
        let Some(wait) = &mut self.program_wait else {
            self.program_wait = Some(ProgramWait {
                since: self.unstartable_since.unwrap_or(now),
                pause: PROGRAM_CHECK,
                check_at: Some(now + PROGRAM_CHECK),
            });
            let message = Sanitized(message);
            let text =
                format!("{message}; its jobs are given back, and none is popped until it starts");
            return self.warn_about_slot(slot, &text);
        };
        // A job that was popped before the wait began shows nothing new.
        if wait.check_at.is_none() {
            wait.pause = (2.0 * wait.pause).min(MAX_WAIT);
            wait.check_at = Some(now + wait.pause);
        }
    }

    /// When to check next whether a missing program is there. Until then, nothing is popped.
    pub(super) fn next_program_check_at(&self) -> Option<f64> {
        let wait = self.program_wait.as_ref();
        wait.filter(|_| self.stage == WorkStage::Working)?.check_at
    }

    pub(super) fn check_program_if_due(&mut self, now: f64) {
        if self.next_program_check_at().is_some_and(|at| at <= now)
            && let Some(wait) = &mut self.program_wait
        {
            wait.check_at = Some(now + PROGRAM_CHECK);
            self.actions.push(Action::CheckProgram);
        }
    }

    pub(super) fn try_program_again(&mut self, now: f64) {
        let Some(wait) = &mut self.program_wait else {
            return;
        };
        wait.check_at = None;
        self.poll_at = now;
        // A process that stays takes the next job without a start, which would show nothing of the program.
        let stays = matches!(self.options.mode(), DispatchMode::Persistent(_));
        if stays && self.slots.iter().any(|slot| matches!(slot, Slot::Busy(_))) {
            self.program_wait = None;
            self.unstartable_since = None;
        }
    }

    pub(super) fn note_program_started(&mut self, now: f64) {
        self.was_started = true;
        self.unstartable_since = None;
        if let Some(wait) = self.program_wait.take() {
            let absence = format_duration((now - wait.since).round());
            let line = format!("the command can be started again, after {absence}");
            self.add_report(Report::Warning(line));
            self.poll_at = now;
        }
    }

    /// Starts no process in a slot before this time.
    pub(super) fn close_slot_until(&mut self, slot: usize, at: f64) {
        self.slots[slot] = Slot::Down(at);
        self.slots_due = self.slots_due.min(at);
    }

    /// Stops the processes that have had a job for too long, and returns the actions for that. Call this after all
    /// events were handled: if this program stood still, one of them may be an answer that the process wrote in time.
    pub fn stop_overdue_processes(&mut self, now: f64) -> Vec<Action> {
        let Some(limit) = self.options.time_limit.filter(|_| now >= self.limit_due) else {
            return Vec::new();
        };
        let limit = limit.as_secs_f64();
        self.limit_due = f64::INFINITY;
        let mut warnings = Vec::new();
        for (slot, held_by) in self.slots.iter_mut().enumerate() {
            let Slot::Busy(process) = held_by else {
                continue;
            };
            if process.was_signalled() {
                continue;
            }
            // The jobs are in the order in which the process got them: after the first job in time, none is overdue.
            for jid in &process.jobs {
                let due = self
                    .held
                    .jobs
                    .get(jid)
                    .map_or(f64::INFINITY, |job| job.begun)
                    + limit;
                if now < due {
                    self.limit_due = self.limit_due.min(due);
                    break;
                }
                process.overdue.push(jid.clone());
            }
            if !process.overdue.is_empty() {
                process.plan_stop(now, now + self.options.kill_after.as_secs_f64());
                self.slots_due = now;
                let jobs = match process.overdue.as_slice() {
                    [jid] => format!("job `{jid}`"),
                    jids => format!("{} jobs", jids.len()),
                };
                let limit = describe_limit(limit);
                let text = format!("{jobs} ran longer than {limit}, so the command gets SIGTERM");
                warnings.push((slot, text));
            }
        }
        for (slot, text) in warnings {
            self.warn_about_slot(slot, &text);
        }
        self.send_due_signals_and_end_idle_processes(now);
        std::mem::take(&mut self.actions)
    }

    /// Ends the jobs that a stopped process had for longer than the time limit. Jobs that it had for a shorter time, or
    /// did not read, are left in `process.jobs`. The first job is ended even if unread: otherwise a program that never
    /// reads would be started for it again and again.
    pub(super) fn end_overdue_jobs(
        &mut self,
        now: f64,
        process: &mut SlotProcess,
        end: &EndedProcess,
    ) {
        let (Some(limit), Some(first)) = (self.options.time_limit, process.overdue.first()) else {
            return;
        };
        let least = usize::from(process.jobs.first() == Some(first));
        let read = self.count_jobs_read(process, end).max(least);
        let is_overdue = |jid: &&Name| process.overdue.contains(jid);
        let count = process.jobs[..read].iter().take_while(is_overdue).count();
        let mut message = format!(
            "the job ran longer than {}",
            describe_limit(limit.as_secs_f64())
        );
        if !end.message.is_empty() {
            message = format!("{message}: {}", end.message);
        }
        for jid in process.jobs.drain(..count) {
            let action = self.retry_or_fail(
                "time-limit".to_owned(),
                message.clone(),
                RetryCause::retries_after_time_limit,
            );
            self.queue_ending(now, &jid, action, Some(end.exit));
        }
    }
}

/// A limit as text, such as `1m 30s`, also if it is shorter than a second: `0.3s`.
fn describe_limit(limit: f64) -> String {
    if limit.fract() == 0.0 || limit > 60.0 {
        format_duration(limit)
    } else {
        format!("{limit}s")
    }
}
