//! The requests of a worker to the server, their times, and the steps after their replies.

use std::sync::Arc;

use super::event::{FinishAndPopRequest, Report, ServerRequest, WorkerRunResult};
use super::held::{JobPhase, blocks_extending};
use super::{BACKOFF, DUE_WAIT, Machine, Recovery, RequestKind, ServerLink, WorkStage};
use crate::core::api::finish_and_pop::FinishAndPopReply;
use crate::error::{Error, Kind};
use crate::model::ending::{EndingRequest, LockExtensionOutcome};
use crate::model::queue::ReadyQueues;
use crate::model::work::{PoppedJob, WorkEventKind};
use crate::name::Name;
use crate::text::{Sanitized, format_duration};

/// How long a worker with many queues waits before it asks again which of them have jobs, as a multiple of the duration
/// of the last such call: the server spends about a twentieth of its time on them. The poll interval limits this wait.
const QUEUE_SEARCH_WAIT: f64 = 20.0;

/// The shortest wait before that call while queues with jobs are known, in seconds.
const MIN_WAIT_WITH_READY_QUEUES: f64 = 1.0;

/// A finish-and-pop call whose reply was lost may reach the server late. So the worker searches for its jobs a second
/// time, after this time in seconds.
const SEARCH_AGAIN: f64 = 5.0;

/// Maximum number of jobs that are remembered because a recycled process left them unread.
const MAX_REMEMBERED_UNREAD: usize = 1000;

impl Machine {
    /// When to send the next finish-and-pop call. A few endings wait a moment for further endings, and so does the pop
    /// for the slots that became free.
    pub(super) fn next_finish_and_pop_at(&self) -> f64 {
        let ended = self.endings.len();
        let wanted = self.wanted_job_count();
        let pop_at = match wanted {
            0 => f64::INFINITY,
            _ if self.queue_search_since.is_some() => f64::INFINITY,
            _ => self.poll_at,
        };
        match ended {
            0 => pop_at,
            _ if ended >= self.held.jobs.len() => f64::NEG_INFINITY,
            _ if ended >= self.held.jobs.len() - ended && !self.are_jobs_brief() => {
                f64::NEG_INFINITY
            }
            _ if wanted > ended as u64 => pop_at.min(self.endings_due),
            _ => self.endings_due,
        }
    }

    /// Sends the requests that are due.
    pub(super) fn send_due_requests(&mut self, now: f64) {
        let mut is_silent = false;
        let mut may_ask = true;
        if let ServerLink::Away {
            retry_at, refused, ..
        } = self.link
        {
            is_silent = blocks_extending(refused);
            may_ask = !self.is_awaiting_reply() && now >= retry_at;
        }
        if is_silent {
            // A server that does not reply gets one request at a time: while jobs are held, the extension of all locks.
            if may_ask && !self.held.jobs.is_empty() {
                let jids = self.held.jobs.keys().cloned().collect();
                return self.request_extensions(jids);
            }
        } else if self.extending.is_none() && now >= self.held.due {
            let jids = self.held.select_extensions_due_or_soon(now);
            if !jids.is_empty() {
                self.request_extensions(jids);
            }
            self.held.update_next_due(self.extending.is_some());
        }
        if !may_ask {
            return;
        }
        if self.releasing.is_none() && !self.release_queue.is_empty() {
            let jids = std::mem::take(&mut self.release_queue);
            self.releasing = Some(jids.clone());
            self.add_request(ServerRequest::Release(jids));
        }
        if self.sent.is_some() || self.is_recovering() {
            return;
        }
        let endings_to_recover = match &self.recovery {
            Recovery::PlannedAt(at) if now >= *at => Some(Arc::default()),
            Recovery::Wanted(endings) => Some(endings.clone()),
            _ => None,
        };
        if let Some(endings) = endings_to_recover {
            self.recovery = Recovery::Sent(endings.clone());
            // Lost jobs whose process has not ended are known, too: the search must not start them a second time.
            let known = self
                .held
                .jobs
                .keys()
                .chain(self.lost_jids_in_processes())
                .cloned()
                .collect();
            return self.add_request(ServerRequest::Recover { endings, known });
        }
        if self.is_ready_queue_search_due(now) {
            self.queue_search_since = Some(now);
            self.is_queue_search_outdated = false;
            self.add_request(ServerRequest::FindReadyQueues);
        }
        let wanted = self.wanted_job_count();
        let is_drain = self.options.drain && self.held.jobs.is_empty();
        if self.rotation.is_empty() && is_drain {
            self.stop_popping();
        }
        let is_away = !matches!(self.link, ServerLink::Up);
        let is_probe = is_away && (wanted > 0 || !self.endings.is_empty());
        if now < self.next_finish_and_pop_at() && !is_probe {
            return;
        }
        self.was_put = false;
        let is_last = self.options.drain
            && wanted > 0
            && !self.rotation.has_ready_queues()
            && self.queue_search_since.is_none()
            && self.held.jobs.len() == self.endings.len();
        let queues = match wanted {
            0 => Vec::new(),
            _ => self.rotation.queues_to_pop(wanted),
        };
        let request = FinishAndPopRequest {
            endings: Arc::new(std::mem::take(&mut self.endings)),
            total: wanted,
            queues,
            is_last,
        };
        self.sent = Some(request.clone());
        self.add_request(ServerRequest::FinishAndPop(request));
    }

    /// Whether to ask the server now which queues have jobs: there are too many queues to pop from each, jobs are
    /// wanted, and the last reply is old, or its queues are empty by now.
    fn is_ready_queue_search_due(&self, now: f64) -> bool {
        let is_old = if self.rotation.has_ready_queues() {
            now >= self.queue_search_at
        } else {
            now >= self.queue_search_from
        };
        let is_wanted = self.wanted_job_count() > 0 && now >= self.poll_at;
        let may_ask = self.queue_search_since.is_none() && matches!(self.link, ServerLink::Up);
        self.rotation.is_limited_to_ready_queues() && is_old && is_wanted && may_ask
    }

    /// Notes which queues have jobs. Even if none has, a finish-and-pop call follows: it keeps the worker listed.
    pub(super) fn note_ready_queues(&mut self, now: f64, reply: Result<ReadyQueues, Error>) {
        let elapsed = now - self.queue_search_since.take().unwrap_or(now);
        match reply {
            Err(error) => self.back_off_after_failed_request(now, error, RequestKind::Search),
            Ok(ready) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Search);
                self.rotation.set_ready_queues(&ready.queues);
                self.due_at = ready.due_in.map_or(f64::INFINITY, |left| now + left);
                self.queue_search_from =
                    now + (QUEUE_SEARCH_WAIT * elapsed).min(self.options.poll.as_secs_f64());
                self.queue_search_at = self.queue_search_from.max(now + MIN_WAIT_WITH_READY_QUEUES);
            }
        }
    }

    pub fn is_awaiting_reply(&self) -> bool {
        self.sent.is_some()
            || self.is_recovering()
            || self.queue_search_since.is_some()
            || self.extending.is_some()
            || self.releasing.is_some()
    }

    pub(super) fn is_recovering(&self) -> bool {
        matches!(self.recovery, Recovery::Sent(_))
    }

    /// Postpones the next attempt to reach a server that is away, if no request is due.
    pub(super) fn postpone_server_retry_if_nothing_sent(&mut self, now: f64) {
        let is_asking = self.is_awaiting_reply();
        if let ServerLink::Away { retry_at, .. } = &mut self.link
            && *retry_at <= now
            && !is_asking
        {
            *retry_at = now + BACKOFF.1;
        }
    }

    pub(super) fn request_extensions(&mut self, jids: Vec<Name>) {
        self.extending = Some(jids.clone());
        self.add_request(ServerRequest::Extend(jids));
    }

    pub(super) fn note_finish_and_pop_reply(
        &mut self,
        now: f64,
        reply: Result<FinishAndPopReply, Error>,
    ) {
        let Some(sent) = self.sent.take() else {
            return;
        };
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(error)
                if matches!(error.kind(), Kind::NoPerm | Kind::ReadOnly)
                    && !self.was_pop_accepted
                    && self.held.jobs.is_empty()
                    && sent.endings.is_empty() =>
            {
                self.early_result = Some(WorkerRunResult::Forbidden(
                    error.kind(),
                    error_text_without_hint(&error),
                ));
                return self.stop_popping();
            }
            Err(error) if is_usage_error(&error) => {
                self.stop_popping_after_final_error(&error);
                // The server may have refused the call for its queues, so the next call sends the endings alone.
                if sent.total > 0 {
                    return self.requeue_endings(&sent.endings);
                }
                for ending in sent.endings.iter() {
                    let why = error_text_without_hint(&error);
                    self.remove_and_report_ended_job(&ending.jid, now, WorkEventKind::Unknown, why);
                }
                return;
            }
            Err(error) => {
                if may_have_been_applied(&error) {
                    self.recovery = Recovery::Wanted(sent.endings)
                } else {
                    self.requeue_endings(&sent.endings);
                }
                return self.back_off_after_failed_request(now, error, RequestKind::FinishAndPop);
            }
        };
        self.was_pop_accepted = true;
        self.mark_server_up_if_cause_lifted(now, RequestKind::FinishAndPop);
        // If jobs are brief, delay the next call: the new jobs end soon, and their endings can share it.
        self.delay_endings_of_brief_jobs(now);
        let count = reply.jobs.len() as u64;
        let (has_rest, due_in) = (reply.has_rest, reply.due_in);
        let left = std::mem::take(&mut reply.left);
        self.rotation
            .advance_past(reply.jobs.iter().map(|job| &job.queue));
        if !self.was_put {
            self.rotation.remove_ready_queues(&reply.emptied);
        }
        // The endings may have made jobs ready in queues from which this call did not pop: search the queues again.
        self.is_queue_search_outdated |= !sent.endings.is_empty();
        self.note_endings_and_popped_jobs(now, &sent.endings, reply);
        if sent.total == 0 {
            // The endings may have made other jobs ready: pop as soon as a slot is free.
            if !sent.endings.is_empty() {
                self.poll_at = self.poll_at.min(now);
            }
            return;
        }
        let due_at = due_in.map_or(f64::INFINITY, |left| now + left);
        self.due_at = if self.rotation.is_limited_to_ready_queues() {
            // Keep an earlier due time: it may belong to a queue that this call did not pop from.
            self.due_at.min(due_at)
        } else {
            due_at
        };
        // In round-robin order, a call pops only a share from each queue. So a queue may have more jobs, even if the
        // call brought fewer than wanted.
        let is_empty = count == 0 || count < sent.total && !self.rotation.is_round_robin();
        self.poll_at = if self.rotation.has_ready_queues() {
            now
        } else if self.rotation.is_limited_to_ready_queues() && self.is_queue_search_outdated {
            self.queue_search_from
        } else if is_empty && !self.was_put {
            let due_at = self.due_at.max(now + DUE_WAIT).max(self.queue_search_from);
            due_at.min(now + self.options.poll.as_secs_f64())
        } else {
            now
        };
        let is_idle = self.held.jobs.is_empty() && self.endings.is_empty();
        if count == 0 && is_idle && self.options.drain {
            if !sent.is_last {
                // The worker held jobs when it sent the call, so the call did not check what is left: pop again.
                self.poll_at = now
            } else if !has_rest {
                self.stop_popping();
                left.into_iter()
                    .for_each(|left| self.add_report(Report::Left(left)));
            } else if !self.has_rested && left.iter().all(|left| left.locks.stalled == 0) {
                // Report the jobs that are left only after a second call without jobs: at the first one, a job may
                // just have become ready. If a lock has expired, report at the first call, since only time ends its
                // grace period.
                self.has_rested = true
            } else if !self.has_noted_rest && !left.is_empty() {
                self.has_noted_rest = true;
                left.into_iter()
                    .for_each(|left| self.add_report(Report::Waiting(left)));
            }
        }
    }

    /// Sends endings of a call that changed nothing again, before newer ones.
    fn requeue_endings(&mut self, sent: &[EndingRequest]) {
        self.endings.splice(0..0, sent.iter().cloned());
    }

    pub(super) fn note_recovery_of_lost_reply(
        &mut self,
        now: f64,
        reply: Result<FinishAndPopReply, Error>,
    ) {
        let Recovery::Sent(endings) = &self.recovery else {
            return;
        };
        let endings = endings.clone();
        match reply {
            Err(error) => {
                self.recovery = Recovery::Wanted(endings);
                self.back_off_after_failed_request(now, error, RequestKind::FinishAndPop);
            }
            Ok(reply) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Search);
                let has_found = !endings.is_empty() || !reply.jobs.is_empty();
                self.note_endings_and_popped_jobs(now, &endings, reply);
                // Search once more later: if the call reaches the server late, it pops more jobs.
                self.recovery = if has_found {
                    Recovery::PlannedAt(now + SEARCH_AGAIN)
                } else {
                    Recovery::None
                };
                self.poll_at = now;
            }
        }
    }

    /// Notes the outcome of each ending, reports queues that refused the pop, and adds the popped jobs.
    pub(super) fn note_endings_and_popped_jobs(
        &mut self,
        now: f64,
        endings: &[EndingRequest],
        reply: FinishAndPopReply,
    ) {
        for (ending, outcome) in endings.iter().zip(reply.endings) {
            self.note_ending_outcome(now, ending, outcome);
        }
        for (queue, why) in reply.refused {
            if self.refused.insert(queue.clone()) {
                let why = Sanitized(why);
                self.warn(&format!(
                    "cannot pop from queue `{queue}`: {why}; `qless check` may show why"
                ));
            }
        }
        self.add_popped_jobs(now, reply.jobs);
    }

    pub(super) fn note_extend_reply(
        &mut self,
        now: f64,
        reply: Result<Vec<LockExtensionOutcome>, Error>,
    ) {
        let jids = self.extending.take().unwrap_or_default();
        match reply {
            Err(error) => {
                self.held.forget_refusals(&jids);
                self.back_off_after_failed_request(now, error, RequestKind::Extend);
            }
            Ok(outcomes) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Extend);
                for (jid, outcome) in jids.iter().zip(outcomes) {
                    match outcome {
                        LockExtensionOutcome::Extended(expires)
                            if self.held.jobs.contains_key(jid) =>
                        {
                            let expires = expires - self.server_ahead;
                            self.held.note_extended(now, jid, expires);
                        }
                        // The job was given up before this late reply: release the lock that the call extended.
                        LockExtensionOutcome::Extended(_) => {
                            self.queue_release_of_late_extended_job(jid)
                        }
                        // The job has ended or is being released. The reply to that call says what became of it.
                        _ if self.is_ending_or_releasing(jid) => self.held.stop_extending(jid),
                        LockExtensionOutcome::Gone => {
                            let why = self.explain_and_count_missing_job(jid);
                            self.give_up_lost_job(now, jid, f64::INFINITY, why);
                        }
                        LockExtensionOutcome::Invalid(why) => {
                            let warning =
                                format!("cannot extend the lock of `{jid}`: {}", Sanitized(&why));
                            if self.held.note_extension_refused(now, jid, why) {
                                self.add_report(Report::Warning(warning));
                            }
                        }
                        LockExtensionOutcome::Lost => {
                            let why = "another worker may have it";
                            self.give_up_lost_job(now, jid, f64::INFINITY, why);
                        }
                    }
                }
            }
        }
        self.held.update_next_due(false);
    }

    pub(super) fn is_ending_or_releasing(&self, jid: &Name) -> bool {
        let job = self.held.jobs.get(jid);
        job.is_none_or(|job| matches!(job.phase, JobPhase::Ending { .. }))
            || self.releasing.iter().flatten().any(|one| one == jid)
    }

    pub(super) fn note_release_reply(&mut self, now: f64, reply: Result<Vec<Name>, Error>) {
        let jids = self.releasing.take().unwrap_or_default();
        match reply {
            Err(error) => {
                self.release_queue.splice(0..0, jids);
                self.back_off_after_failed_request(now, error, RequestKind::Release);
            }
            Ok(released) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Release);
                if jids.iter().any(|jid| self.unread.contains(jid)) {
                    self.poll_at = self.poll_at.min(now);
                }
                for jid in jids {
                    let result = if released.contains(&jid) {
                        let is_held = self.held.jobs.contains_key(&jid);
                        self.popped -= u64::from(is_held && self.popped > 0);
                        self.released_since_stop += u64::from(self.stage == WorkStage::Stopping);
                        WorkEventKind::Released
                    } else {
                        WorkEventKind::Lost
                    };
                    // If this worker has popped the job again, the call released the new lock instead of the earlier
                    // one: drop the job.
                    match self.held.jobs.get(&jid).map(|job| &job.phase) {
                        Some(JobPhase::Running(slot)) => {
                            self.drop_lost_job_and_plan_stop(now, &jid, *slot, f64::INFINITY);
                        }
                        Some(JobPhase::Ending { .. }) => _ = self.drop_ending_if_unsent(&jid),
                        Some(JobPhase::Ready) => self.ready.retain(|job| job.jid != jid),
                        None => {}
                    }
                    self.remove_and_report_ended_job(&jid, now, result, String::new());
                }
            }
        }
    }

    /// Ends the work after the running jobs, because every repetition of the failed call would fail, too.
    fn stop_popping_after_final_error(&mut self, error: &Error) {
        let fault = WorkerRunResult::Refused(error_text_without_hint(error));
        self.early_result.get_or_insert(fault);
        self.stop_popping();
        self.queue_release_of_ready_jobs();
    }

    /// Notes that the server does not reply or refuses a request, and plans the next attempt.
    pub(super) fn back_off_after_failed_request(
        &mut self,
        now: f64,
        error: Error,
        request: RequestKind,
    ) {
        if is_usage_error(&error) {
            self.stop_popping_after_final_error(&error);
        }
        let (since, attempts) = match self.link {
            ServerLink::Up => {
                let message = error_text_without_hint(&error);
                self.add_report(Report::ConnectionLost { message });
                (now, 0)
            }
            ServerLink::Away {
                since, attempts, ..
            } => (since, attempts + 1),
        };
        let wait = BACKOFF.0 * f64::from(2_u32.saturating_pow(attempts));
        self.link = ServerLink::Away {
            since,
            attempts,
            retry_at: now + wait.min(BACKOFF.1) * self.facts.jitter,
            refused: is_write_refusal(&error).then_some(request),
        };
    }

    /// Notes that the server replies.
    pub(super) fn mark_server_up_if_cause_lifted(&mut self, now: f64, request: RequestKind) {
        let away = match self.link {
            ServerLink::Up => None,
            ServerLink::Away { since, refused, .. } if is_loss_lifted_by(request, refused) => {
                Some((since, refused.is_some()))
            }
            ServerLink::Away { .. } => return,
        };
        if let Some(at) = &mut self.give_up_at
            && !self.is_forced
        {
            *at = now + self.facts.timeout;
        }
        if let Some((since, was_refused)) = away {
            self.link = ServerLink::Up;
            self.add_report(Report::ConnectionBack {
                after: now - since,
                was_refused,
            });
            self.held.make_all_extensions_due(now);
        }
    }

    pub(super) fn add_popped_jobs(&mut self, now: f64, mut jobs: Vec<PoppedJob>) {
        if !self.unread.is_empty() && !jobs.is_empty() {
            // The core pops released jobs in descending order of their jids: the lowest one could wait for ever.
            let order = |jid: &Name| self.unread.iter().position(|unread| unread == jid);
            jobs.sort_by_key(|job| order(&job.jid).unwrap_or(usize::MAX));
            self.unread
                .retain(|jid| jobs.iter().all(|job| job.jid != *jid));
            // Of the others, some wait for a later pop, and another worker may have popped some.
            let excess = self.unread.len().saturating_sub(MAX_REMEMBERED_UNREAD);
            self.unread.drain(..excess);
        }
        for job in jobs {
            // A job that this worker holds already has lost its earlier lock, since the server granted a new one.
            self.give_up_lost_job(now, &job.jid, f64::INFINITY, "its lock was taken away");
            if self.held.jobs.contains_key(&job.jid) {
                continue;
            }
            self.popped += 1;
            let expires = job.expires - self.server_ahead;
            let lock = expires - now;
            let interval = self.options.heartbeat.map(|every| every.as_secs_f64());
            if interval.is_some_and(|interval| interval >= lock)
                && self.short_locks.insert(job.queue.clone())
            {
                self.warn(&format!(
                    "a lock of queue `{}` lasts {}, so `--heartbeat` is too long for its jobs; \
                     their locks are extended three times before they expire",
                    job.queue,
                    format_duration(lock.round())
                ));
            }
            self.held.add_popped_job(now, &job, expires, interval);
            // Forget a planned release of the job's earlier lock, which would now release the new one.
            self.given_up.remove(&job.jid);
            self.release_queue.retain(|one| *one != job.jid);
            self.ready.push_back(job);
        }
        if self.stage > WorkStage::Working {
            self.queue_release_of_ready_jobs();
        }
    }
}

/// Whether a reply to `request` shows that a server is no longer away that refused requests of the kind `refused`, or
/// did not reply.
fn is_loss_lifted_by(request: RequestKind, refused: Option<RequestKind>) -> bool {
    match refused {
        None => true,
        // The worker still extends locks. Only a successful finish-and-pop call shows that the server accepts them again.
        Some(RequestKind::FinishAndPop | RequestKind::Search) => {
            request == RequestKind::FinishAndPop
        }
        Some(RequestKind::Release) => {
            matches!(request, RequestKind::FinishAndPop | RequestKind::Release)
        }
        Some(RequestKind::Extend) => request != RequestKind::Search,
    }
}

fn error_text_without_hint(error: &Error) -> String {
    error.message().into_owned()
}

/// Whether the server may have made the changes of a failed call, so that the worker searches for their results. This
/// search is always safe. It is needless only if there was no connection.
fn may_have_been_applied(error: &Error) -> bool {
    !matches!(
        error.kind(),
        Kind::Unreachable | Kind::NoMaster | Kind::ClusterDown
    )
}

/// Whether the server replied and refused to write. Reads may still succeed.
fn is_write_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        Kind::Oom
            | Kind::Misconf
            | Kind::NoReplicas
            | Kind::ReadOnly
            | Kind::NoPerm
            | Kind::Server
            | Kind::WrongKeyType
            | Kind::Internal
    )
}

/// Whether the call itself is at fault, so that every repetition fails. Nothing was changed.
fn is_usage_error(error: &Error) -> bool {
    error.kind() == Kind::Usage
}
