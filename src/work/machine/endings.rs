//! How jobs end: by a line of their process, by its end, or because their lock is lost.

use std::sync::Arc;

use super::event::{Action, Report, ServerRequest};
use super::held::JobPhase;
use super::processes::{Slot, SlotProcess};
use super::{Machine, Recovery, WorkStage};
use crate::model::ending::{
    EndingAction, EndingOutcome, EndingRequest, FailureReason, NextQueue, exhausted_retries_group,
};
use crate::model::queue::RoundedSeconds;
use crate::model::work::{ProcessExit, RetryCause, WorkEventKind};
use crate::name::Name;
use crate::text::{Sanitized, format_duration};
use crate::work::options::DispatchMode;
use crate::work::process::EndedProcess;
use crate::work::process::answer::{Answer, EndingOrProgress};

/// The longest time that the ending of a job waits for other endings to share its call, in seconds.
const MAX_ENDING_WAIT: f64 = 0.005;

/// The longest time that the ending of a job waits for other endings, as a part of the usual run time of a job.
const ENDING_WAIT_PART: f64 = 0.1;

/// Jobs are brief if their usual run time is less than this, in seconds per job that the processes can have at once.
/// With brief jobs, the calls and the processor cores limit the rate, not the number of processes.
const BRIEF: f64 = 62.5e-6;

/// How long the endings of brief jobs wait for further endings, in seconds per job that the processes can have at once:
/// about the time of a call. The larger call saves more time than the wait costs.
const SHARE: f64 = 25e-6;

/// How long a process may go on after it has closed the pipes for its answers, in seconds.
const MUTE_TIME: f64 = 1.0;

/// The failure message of jobs whose process closed the pipes for its answers before it answered.
const CLOSED_UNANSWERED: &str = "the command closed descriptor 3 before it answered";

/// The failure group of jobs whose process gave no valid answer.
const BAD_ANSWER: &str = "bad-answer";

/// Time between two entries about the progress of a job, in seconds.
const PROGRESS: f64 = 10.0;

impl Machine {
    /// Handles a line that a process wrote as an answer: ends its job, stores progress, or reports the line.
    pub(super) fn handle_answer_line(&mut self, now: f64, slot: usize, answer: Answer) {
        let Answer { jid, content, .. } = answer;
        let Some(jid) = jid else {
            if let Err(reason) = content {
                self.report_or_count_bad_line(slot, jid, reason);
            }
            return;
        };
        let Slot::Busy(process) = &mut self.slots[slot] else {
            return;
        };
        if let Some(at) = process.lost.iter().position(|lost| *lost == jid) {
            // An answer about a lost job does not change the job, but the process can now take another job.
            if !matches!(content, Ok(EndingOrProgress::Progress(_))) {
                process.lost.swap_remove(at);
            }
            if process.lost.is_empty()
                && !process.was_signalled()
                && self.stage < WorkStage::Stopping
            {
                process.stop = None;
            }
            return self.queue_release_if_lock_expired_unless_running(&jid);
        }
        if !process.jobs.contains(&jid) {
            let reason = "the process does not have this job".to_owned();
            return self.report_or_count_bad_line(slot, Some(jid), reason);
        }
        match content {
            Ok(EndingOrProgress::Progress(text)) => {
                self.log_progress_unless_logged_recently(now, &jid, text)
            }
            Ok(EndingOrProgress::Ending(mut action)) => {
                process.has_answered = true;
                if let EndingAction::Complete { next, .. } = &mut action
                    && next.is_none()
                {
                    *next = self.configured_next_queue();
                }
                self.queue_ending(now, &jid, action, None);
            }
            Err(reason) => {
                let message = format!("the answer is not valid: {reason}");
                self.fail_job(now, &jid, BAD_ANSWER, message, None);
            }
        }
    }

    /// Reports a line that is not an answer about a job of the process. If the process has written many lines with the
    /// same kind of fault, the line is only counted.
    fn report_or_count_bad_line(&mut self, slot: usize, jid: Option<Name>, reason: String) {
        if let Slot::Busy(process) = &mut self.slots[slot]
            && process.bad_lines.count_and_may_report(jid.is_some())
        {
            let about = jid.map_or(String::new(), |jid| format!(" about `{jid}`"));
            let reason = Sanitized(reason);
            let text = format!("the command wrote a line{about} that is no answer: {reason}");
            self.warn_about_slot(slot, &text);
        }
    }

    /// Reports, once per worker, that a process wrote an answer about its job to stdout, where it has no effect.
    pub(super) fn warn_once_of_stdout_answer(&mut self, slot: usize, jid: Name) {
        let has_job = match &self.slots[slot] {
            Slot::Busy(process) => process.jobs.contains(&jid),
            _ => false,
        };
        if has_job && !std::mem::replace(&mut self.has_stdout_answer, true) {
            let flag = if self.options.persistent {
                ", or use `--answers stdout`"
            } else {
                ""
            };
            let text = format!(
                "the command wrote an answer for `{jid}` to stdout, where it has no effect: write \
                 answers to descriptor 3{flag}"
            );
            self.warn_about_slot(slot, &text);
        }
    }

    /// Adds progress to the history of a job, at most once in [`PROGRESS`] seconds.
    fn log_progress_unless_logged_recently(&mut self, now: f64, jid: &Name, text: Name) {
        let Some(job) = self.held.jobs.get_mut(jid) else {
            return;
        };
        if now < job.progress_at + PROGRESS {
            return;
        }
        job.progress_at = now;
        let jid = jid.clone();
        self.add_request(ServerRequest::Log { jid, text });
    }

    /// Plans to stop a process that can no longer answer. In the [`MUTE_TIME`] until then, it may end by itself.
    pub(super) fn plan_stop_after_answers_closed(&mut self, now: f64, slot: usize) {
        if let Some(Slot::Busy(process)) = self.slots.get_mut(slot)
            && process.stop.is_none()
        {
            process.mute_at = Some(now);
            process.plan_stop(
                now + MUTE_TIME,
                now + MUTE_TIME + self.options.kill_after.as_secs_f64(),
            );
            self.slots_due = self.slots_due.min(now + MUTE_TIME);
        }
    }

    /// How many of its jobs an ended process has read: the other ones are at the end of its list.
    pub(super) fn count_jobs_read(&self, process: &SlotProcess, end: &EndedProcess) -> usize {
        let unread = match self.options.mode() {
            DispatchMode::Persistent(_) if !process.had_lost_jobs => end.unread_lines,
            _ => 0,
        };
        process.jobs.len().saturating_sub(unread)
    }

    pub(super) fn free_slot_and_end_jobs(&mut self, now: f64, slot: usize, end: EndedProcess) {
        let Slot::Busy(mut process) = std::mem::replace(&mut self.slots[slot], Slot::Free) else {
            return;
        };
        for lines in process.bad_lines.describe_unreported_lines() {
            self.warn_about_slot(slot, &format!("the command wrote {lines}"));
        }
        if self.options.persistent && !process.is_closed {
            let lived = process.mute_at.unwrap_or(now) - process.begun;
            let has_worked = process.has_answered || !process.overdue.is_empty();
            let wait = self.quick_deaths[slot].delay_after_end(lived, has_worked);
            self.close_slot_until(slot, now + wait);
            let was_mute = process.mute_at.is_some() && process.was_signalled();
            if was_mute || !process.was_signalled() {
                let what = if was_mute {
                    "the command closed descriptor 3, so it was stopped".to_owned()
                } else {
                    format!("the command ended with {}", end.exit)
                };
                let when = if wait > 0.0 {
                    format!("in {} at the earliest", format_duration(wait))
                } else {
                    "with the next job".to_owned()
                };
                self.warn_about_slot(slot, &format!("{what}; it starts again {when}"));
            }
        }
        for jid in &process.lost {
            self.queue_release_if_lock_expired_unless_running(jid);
        }
        if self.stage < WorkStage::Stopping {
            self.end_overdue_jobs(now, &mut process, &end);
        }
        // If this worker stopped the process, its jobs have not failed: release them, so that they run again.
        if self.stage == WorkStage::Stopping || process.was_signalled() && process.mute_at.is_none()
        {
            return self.release_queue.extend(process.jobs);
        }
        let was_stopped = process.was_signalled();
        // A program may end after a number of jobs, to be started afresh. One that has answered none would be started
        // for the same job again and again.
        if !was_stopped && process.has_answered && end.exit == ProcessExit::Code(0) {
            let read = self.count_jobs_read(&process, &end);
            let unread = process.jobs.split_off(read);
            self.release_queue.extend(unread.iter().cloned());
            self.unread.extend(unread);
        }
        for jid in process.jobs {
            let exit = Some(end.exit);
            if was_stopped {
                self.fail_job(now, &jid, BAD_ANSWER, CLOSED_UNANSWERED.to_owned(), exit)
            } else {
                self.queue_ending(now, &jid, self.ending_for_process_end(&end), exit)
            }
        }
    }

    /// Where completed jobs go.
    fn configured_next_queue(&self) -> Option<NextQueue> {
        let queue = self.options.next.clone()?;
        Some(NextQueue {
            queue,
            ..NextQueue::default()
        })
    }

    /// The ending of a job whose process ended before it answered about the job: the exit code or the signal decides.
    fn ending_for_process_end(&self, end: &EndedProcess) -> EndingAction {
        let is_persistent = self.options.persistent;
        if end.exit == ProcessExit::Code(0) && !is_persistent {
            return EndingAction::Complete {
                data: end.data.clone(),
                next: self.configured_next_queue(),
            };
        }
        let message = if end.message.is_empty() {
            format!(
                "the command ended with {} and wrote nothing to stderr",
                end.exit
            )
        } else {
            end.message.clone()
        };
        self.retry_or_fail(end.exit.failure_group(), message, |cause| {
            cause.retries_after_exit(end.exit, is_persistent)
        })
    }

    /// The ending of a job that its process did not finish: a retry if a value of `--retry-on` applies, else a failure.
    pub(super) fn retry_or_fail(
        &self,
        group: String,
        message: String,
        applies: impl Fn(&RetryCause) -> bool,
    ) -> EndingAction {
        let message = Name::from(message);
        if self.options.retry_on.iter().any(applies) {
            // Name no group, so that the core chooses it.
            let why = Some(FailureReason {
                message,
                ..FailureReason::default()
            });
            return EndingAction::Retry {
                delay: self.options.retry_delay,
                why,
            };
        }
        EndingAction::Fail {
            why: FailureReason {
                group: Name::from(group),
                message,
            },
            data: None,
        }
    }

    pub(super) fn fail_job(
        &mut self,
        now: f64,
        jid: &Name,
        group: &str,
        message: String,
        exit: Option<ProcessExit>,
    ) {
        let why = FailureReason {
            group: Name::from(group.to_owned()),
            message: Name::from(message),
        };
        self.queue_ending(now, jid, EndingAction::Fail { why, data: None }, exit);
    }

    /// Ends a job in this worker, and queues its ending for the next finish-and-pop call.
    pub(super) fn queue_ending(
        &mut self,
        now: f64,
        jid: &Name,
        mut action: EndingAction,
        exit: Option<ProcessExit>,
    ) {
        let Some(job) = self.held.jobs.get_mut(jid) else {
            return;
        };
        action.set_missing_retry_group(&job.queue);
        let queue = job.queue.clone();
        let code = match exit {
            Some(ProcessExit::Code(code)) => Some(code),
            _ => None,
        };
        let phase = JobPhase::Ending { exit, at: now };
        if let JobPhase::Running(slot) = std::mem::replace(&mut job.phase, phase)
            && let Slot::Busy(process) = &mut self.slots[slot]
        {
            process.jobs.retain(|one| one != jid);
        }
        self.usual_time += (now - job.begun - self.usual_time) / 10.0;
        if self.endings.is_empty() {
            self.endings_due =
                now + (self.usual_time * ENDING_WAIT_PART).clamp(0.0, MAX_ENDING_WAIT);
            self.delay_endings_of_brief_jobs(now);
        }
        let jid = jid.clone();
        self.endings.push(EndingRequest {
            jid,
            queue,
            action,
            exit: code,
        });
    }

    pub(super) fn are_jobs_brief(&self) -> bool {
        self.usual_time < BRIEF * self.max_jobs_in_processes() as f64
    }

    /// If jobs are brief, delays the queued endings from now on, so that further endings share their call.
    pub(super) fn delay_endings_of_brief_jobs(&mut self, now: f64) {
        if self.are_jobs_brief() {
            self.endings_due =
                now + (SHARE * self.max_jobs_in_processes() as f64).min(MAX_ENDING_WAIT);
        }
    }

    /// Notes what became of the end of a job.
    pub(super) fn note_ending_outcome(
        &mut self,
        now: f64,
        ending: &EndingRequest,
        outcome: EndingOutcome,
    ) {
        let (result, detail) = match (outcome, &ending.action) {
            (EndingOutcome::Done { state, .. }, _) if state.as_bytes() == b"complete" => {
                (WorkEventKind::Completed, None)
            }
            (EndingOutcome::Done { .. }, EndingAction::Complete { .. }) => {
                (WorkEventKind::Advanced, None)
            }
            (EndingOutcome::Done { .. }, EndingAction::Fail { .. }) => {
                (WorkEventKind::Failed, None)
            }
            (EndingOutcome::Done { remaining, .. }, EndingAction::Retry { .. }) => {
                match remaining {
                    Some(left) if left < 0 => (
                        WorkEventKind::Failed,
                        Some(exhausted_retries_reason(ending)),
                    ),
                    Some(left) => (WorkEventKind::Retried, Some(format!("{left} left"))),
                    None => (WorkEventKind::Retried, None),
                }
            }
            (EndingOutcome::Gone, _) => {
                let why = self.explain_and_count_missing_job(&ending.jid).to_owned();
                (WorkEventKind::Lost, Some(why))
            }
            (EndingOutcome::NotHolder { state, worker }, _) => {
                let why = match worker.as_bytes() {
                    b"" => format!("its state is {state} now"),
                    _ => format!("worker {worker} has it now"),
                };
                (WorkEventKind::Lost, Some(why))
            }
            (EndingOutcome::Invalid(text), EndingAction::Fail { why, .. })
                if why.group.as_bytes() == BAD_ANSWER.as_bytes() =>
            {
                (WorkEventKind::Unknown, Some(text))
            }
            (EndingOutcome::Invalid(text), _) => {
                // The core refused what the program answered, such as its data: fail the job.
                return self.fail_job(now, &ending.jid, BAD_ANSWER, text, None);
            }
            (EndingOutcome::Unknown, _) => {
                let text = "the reply was lost; the job does not show what happened";
                (WorkEventKind::Unknown, Some(text.to_owned()))
            }
        };
        let detail = detail.unwrap_or_else(|| match &ending.action {
            EndingAction::Fail { why, .. } => group_and_message(why),
            EndingAction::Complete {
                next: Some(next), ..
            } => format!("to queue {}", next.queue),
            _ => String::new(),
        });
        self.remove_and_report_ended_job(&ending.jid, now, result, detail);
    }

    /// Why a job that this worker held does not exist any more, as a text: it was cancelled, or it vanished. Counts the
    /// jobs that vanished.
    pub(super) fn explain_and_count_missing_job(&mut self, jid: &Name) -> &'static str {
        let job = self.held.jobs.get(jid);
        // The search after a lost reply also misses jobs that ended and were deleted later. They have not vanished.
        let is_sure = self.facts.hears_cancels && !self.is_recovering();
        if !is_sure || job.is_none_or(|job| job.was_noticed) {
            return "cancelled";
        }
        self.vanished += 1;
        if self.vanished == 1 {
            self.warn(
                "a running job does not exist any more, and nobody cancelled it: \
                 the data of the server was deleted or lost",
            );
        }
        "it does not exist any more"
    }

    /// Forgets a job whose end is known.
    pub(super) fn remove_and_report_ended_job(
        &mut self,
        jid: &Name,
        now: f64,
        result: WorkEventKind,
        detail: String,
    ) {
        let Some(job) = self.held.jobs.remove(jid) else {
            return;
        };
        let (exit, ended_at) = match job.phase {
            JobPhase::Ending { exit, at } => (exit, at),
            _ => (None, now),
        };
        self.failed += u64::from(result == WorkEventKind::Failed);
        self.has_lost |= matches!(result, WorkEventKind::Lost | WorkEventKind::Unknown);
        let mut event = self.work_event(now, result, jid.clone(), &job);
        match exit {
            Some(ProcessExit::Code(code)) => event.exit = Some(code),
            Some(ProcessExit::Signal(name)) => event.signal = Some(name.to_owned()),
            None => {}
        }
        event.elapsed_s = Some(RoundedSeconds((ended_at - job.begun).max(0.0)));
        event.message = Some(detail).filter(|detail| !detail.is_empty());
        self.add_report(Report::Job(event));
    }

    /// Gives up a job that this worker has lost: writes no result, and stops the process of the job, with SIGKILL at
    /// `kill_at` at the latest. A job whose ending was sent is kept until the reply.
    pub(super) fn give_up_lost_job(&mut self, now: f64, jid: &Name, kill_at: f64, why: &str) {
        let Some(job) = self.held.jobs.get(jid) else {
            return;
        };
        match job.phase {
            JobPhase::Ready => {
                self.ready.retain(|job| job.jid != *jid);
                self.release_queue.retain(|one| one != jid);
            }
            // If the ending was sent, keep the job: the reply says what happened to it.
            JobPhase::Ending { .. } => {
                if !self.drop_ending_if_unsent(jid) {
                    return;
                }
            }
            JobPhase::Running(slot) => self.drop_lost_job_and_plan_stop(now, jid, slot, kill_at),
        }
        self.remove_and_report_ended_job(jid, now, WorkEventKind::Lost, why.to_owned());
    }

    /// Drops the ending of a job, unless it was sent. Returns whether it was dropped.
    pub(super) fn drop_ending_if_unsent(&mut self, jid: &Name) -> bool {
        let before = self.endings.len();
        self.endings.retain(|ending| ending.jid != *jid);
        let mut is_pending = self.endings.len() < before;
        if let Recovery::Wanted(endings) = &mut self.recovery {
            let before = endings.len();
            Arc::make_mut(endings).retain(|ending| ending.jid != *jid);
            is_pending |= endings.len() < before;
        }
        is_pending
    }

    pub(super) fn drop_lost_job_and_plan_stop(
        &mut self,
        now: f64,
        jid: &Name,
        slot: usize,
        kill_at: f64,
    ) {
        let Slot::Busy(process) = &mut self.slots[slot] else {
            return self.release_queue.retain(|one| one != jid);
        };
        let Some(at) = process.jobs.iter().position(|one| one == jid) else {
            return;
        };
        process.jobs.remove(at);
        process.lost.push(jid.clone());
        process.had_lost_jobs = true;
        let kill_at = (now + self.options.kill_after.as_secs_f64())
            .min(kill_at)
            .max(now);
        let term_at = match self.options.mode() {
            // Tell a persistent process to drop this job. If it answers before SIGTERM, it goes on with its other jobs.
            DispatchMode::Persistent(_) => {
                let jid = jid.clone();
                self.actions.push(Action::Cancel { slot, jid });
                (now + kill_at) / 2.0
            }
            _ => now,
        };
        process.plan_stop(term_at, kill_at);
        self.slots_due = now;
        // If SIGTERM is due now, send it with the actions of this event, not of the next event.
        if term_at <= now {
            let due = process.send_due_signals(slot, now, &mut self.actions);
            self.slots_due = self.slots_due.min(due);
        }
    }
}

fn group_and_message(why: &FailureReason) -> String {
    let message = why.message.lossless_text();
    format!("{}: {message}", why.group.lossless_text())
}

/// The group and the message that the core stores if no retry is left.
fn exhausted_retries_reason(ending: &EndingRequest) -> String {
    match &ending.action {
        EndingAction::Retry { why: Some(why), .. } => group_and_message(why),
        _ => format!(
            "{}: no retry is left",
            exhausted_retries_group(&ending.queue).lossless_text()
        ),
    }
}
