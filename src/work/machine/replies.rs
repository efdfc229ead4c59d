//! The steps after replies of the server.

use super::event::{Report, WorkerRunResult};
use super::held::JobPhase;
use super::{BACKOFF, DUE_WAIT, Machine, RequestKind, ServerAwayCause, ServerLink, WorkStage};
use crate::core::api::finish_and_pop::FinishAndPopReply;
use crate::error::{Error, Kind};
use crate::model::ending::{EndingRequest, LockExtensionOutcome};
use crate::model::popped_job::PoppedJob;
use crate::model::work_event::WorkEventKind;
use crate::name::Name;

/// A finish-and-pop call whose reply was lost may reach the server late. So the worker searches for its jobs a second
/// time, after this time in seconds.
const SEARCH_AGAIN: f64 = 5.0;

impl Machine {
    pub(super) fn note_finish_and_pop_reply(
        &mut self,
        now: f64,
        reply: Result<FinishAndPopReply, Error>,
    ) {
        let Some(sent) = self.sent.take() else {
            return;
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(error)
                if matches!(error.kind(), Kind::NoPerm | Kind::ReadOnly)
                    && !self.was_pop_accepted
                    && self.held.is_empty()
                    && sent.endings.is_empty() =>
            {
                self.start_fault =
                    Some(WorkerRunResult::Forbidden(error.kind(), error_text(&error)));
                return self.stop_popping();
            }
            Err(error) if is_usage_error(&error) => {
                self.stop_popping_after_final_error(&error);
                // The server may have refused the call for its queues, so the next call sends the endings alone.
                let newer = std::mem::take(&mut self.endings);
                if sent.total > 0 {
                    self.endings = sent.endings.iter().cloned().chain(newer).collect();
                    return;
                }
                self.endings = newer;
                for ending in sent.endings.iter() {
                    let why = error_text(&error);
                    self.remove_and_report_ended_job(&ending.jid, now, WorkEventKind::Unknown, why);
                }
                return;
            }
            Err(error) => {
                if may_have_been_applied(&error) {
                    self.recovery = Some(sent.endings)
                } else {
                    let newer = std::mem::take(&mut self.endings);
                    self.endings = sent.endings.iter().cloned().chain(newer).collect();
                }
                return self.back_off_after_failed_request(now, error, RequestKind::FinishAndPop);
            }
        };
        self.was_pop_accepted = true;
        self.mark_server_up_if_cause_lifted(now, RequestKind::FinishAndPop);
        // If jobs are brief, delay the next call: the new jobs end soon, and their endings can share it.
        self.delay_endings_of_brief_jobs(now);
        let count = reply.jobs.len() as u64;
        let (has_rest, left) = (reply.has_rest, reply.left.clone());
        let due_in = reply.due_in;
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
            // Keep an earlier due time: it may be that of a queue from which this call did not pop.
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
            due_at.min(now + self.config.poll)
        } else {
            now
        };
        let is_idle = self.held.is_empty() && self.endings.is_empty();
        if count == 0 && is_idle && self.config.limit.ends_worker_when_empty() {
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

    pub(super) fn note_finish_and_pop_recovery(
        &mut self,
        now: f64,
        reply: Result<FinishAndPopReply, Error>,
    ) {
        match reply {
            Err(error) => {
                self.is_recovering = false;
                self.back_off_after_failed_request(now, error, RequestKind::FinishAndPop);
            }
            Ok(reply) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Search);
                let Some(endings) = self.recovery.take() else {
                    self.is_recovering = false;
                    return;
                };
                // Search once more later: if the call reaches the server late, it pops more jobs.
                if !endings.is_empty() || !reply.jobs.is_empty() {
                    self.search_at = now + SEARCH_AGAIN;
                }
                self.note_endings_and_popped_jobs(now, &endings, reply);
                self.is_recovering = false;
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
                self.add_report(Report::QueueRefused { queue, why });
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
            Err(error) => self.back_off_after_failed_request(now, error, RequestKind::Extend),
            Ok(outcomes) => {
                self.mark_server_up_if_cause_lifted(now, RequestKind::Extend);
                for (jid, outcome) in jids.iter().zip(outcomes) {
                    match outcome {
                        LockExtensionOutcome::Extended(expires) if self.held.get(jid).is_some() => {
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
                        LockExtensionOutcome::Lost => {
                            self.give_up_lost_job(
                                now,
                                jid,
                                f64::INFINITY,
                                "another worker may have it",
                            );
                        }
                    }
                }
            }
        }
        self.held.update_next_due(false);
    }

    pub(super) fn is_ending_or_releasing(&self, jid: &Name) -> bool {
        let job = self.held.get(jid);
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
                if std::mem::take(&mut self.pops_after_release) {
                    self.poll_at = self.poll_at.min(now);
                }
                for jid in jids {
                    let result = if released.contains(&jid) {
                        let is_held = self.held.get(&jid).is_some();
                        self.popped -= u64::from(is_held && self.popped > 0);
                        self.released_since_stop += u64::from(self.stage == WorkStage::Stopping);
                        WorkEventKind::Released
                    } else {
                        WorkEventKind::Lost
                    };
                    // If this worker has popped the job again, the call released the new lock instead of the earlier
                    // one: drop the job.
                    match self.held.get(&jid).map(|job| &job.phase) {
                        Some(JobPhase::Running(slot)) => {
                            self.stop_process_of_lost_job(now, &jid, *slot, f64::INFINITY);
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
        let fault = WorkerRunResult::Refused(error_text(error));
        self.start_fault.get_or_insert(fault);
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
                let message = error_text(&error);
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
            retry_at: now + wait.min(BACKOFF.1) * self.config.jitter,
            cause: match (is_write_refusal(&error), request) {
                (false, _) => ServerAwayCause::NoReply,
                (true, RequestKind::Extend) => ServerAwayCause::ExtendRefused,
                (true, RequestKind::Release) => ServerAwayCause::ReleaseRefused,
                (true, RequestKind::FinishAndPop | RequestKind::Search) => {
                    ServerAwayCause::FinishAndPopRefused
                }
            },
        };
    }

    /// Notes that the server replies.
    pub(super) fn mark_server_up_if_cause_lifted(&mut self, now: f64, request: RequestKind) {
        let away = match self.link {
            ServerLink::Up => None,
            ServerLink::Away { since, cause, .. } if cause.is_lifted_by(request) => {
                Some((since, cause))
            }
            ServerLink::Away { .. } => return,
        };
        if let Some(at) = &mut self.give_up_at
            && !self.is_forced
        {
            *at = now + self.config.timeout;
        }
        if let Some((since, cause)) = away {
            self.link = ServerLink::Up;
            self.add_report(Report::ConnectionBack {
                after: now - since,
                was_refused: cause != ServerAwayCause::NoReply,
            });
            self.held.make_all_extensions_due(now);
        }
    }

    pub(super) fn add_popped_jobs(&mut self, now: f64, jobs: Vec<PoppedJob>) {
        for job in jobs {
            // A job that this worker holds already has lost its earlier lock, since the server granted a new one.
            self.give_up_lost_job(now, &job.jid, f64::INFINITY, "its lock was taken away");
            if self.held.get(&job.jid).is_some() {
                continue;
            }
            self.popped += 1;
            let expires = job.expires - self.server_ahead;
            let lock = expires - now;
            if self
                .config
                .heartbeat
                .is_some_and(|interval| interval >= lock)
                && self.short_locks.insert(job.queue.clone())
            {
                let queue = job.queue.clone();
                self.add_report(Report::ShortLock { queue, lock });
            }
            self.held
                .add_popped_job(now, &job, expires, self.config.heartbeat);
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

fn error_text(error: &Error) -> String {
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
