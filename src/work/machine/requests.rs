//! The requests of a worker to the server, and their times.

use std::sync::Arc;

use super::event::{Action, ServerRequest};
use super::{BACKOFF, Machine, RequestKind, SentFinishAndPop, ServerLink};
use crate::error::Error;
use crate::model::queue::ReadyQueues;
use crate::name::Name;

/// How long a worker with many queues waits before it asks again which of them have jobs: this multiple (the second
/// value) of the duration of the last such call, up to the poll interval, so that the server spends about a twentieth
/// of its time on them. While queues with jobs are known, it waits at least the first value, in seconds.
const QUEUE_SEARCH: (f64, f64) = (1.0, 20.0);

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
            _ if ended >= self.held.len() => f64::NEG_INFINITY,
            _ if ended >= self.held.len() - ended && !self.are_jobs_brief() => f64::NEG_INFINITY,
            _ if wanted > ended as u64 => pop_at.min(self.endings_due),
            _ => self.endings_due,
        }
    }

    /// Sends the requests that are due.
    pub(super) fn send_due_requests(&mut self, now: f64) {
        let mut is_silent = false;
        let mut may_ask = true;
        if let ServerLink::Away {
            retry_at, cause, ..
        } = self.link
        {
            is_silent = cause.blocks_extending();
            may_ask = !self.is_awaiting_reply() && now >= retry_at;
        }
        if is_silent {
            // A server that does not reply gets one request at a time: while jobs are held, the extension of all locks.
            if may_ask && !self.held.is_empty() {
                let jids = self.held.jids().cloned().collect();
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
            self.actions
                .push(Action::Request(ServerRequest::Release(jids)));
        }
        if self.sent.is_some() || self.is_recovering {
            return;
        }
        if now >= self.search_at && self.recovery.is_none() {
            self.recovery = Some(Arc::default());
        }
        if let Some(endings) = self.recovery.clone() {
            self.is_recovering = true;
            self.search_at = f64::INFINITY;
            // Lost jobs whose process has not ended are known, too: the search must not start them a second time.
            let known = self
                .held
                .jids()
                .chain(self.lost_jids_in_processes())
                .cloned()
                .collect();
            let request = ServerRequest::Recover { endings, known };
            return self.actions.push(Action::Request(request));
        }
        if self.is_queue_search_due(now) {
            self.queue_search_since = Some(now);
            self.is_queue_search_outdated = false;
            self.actions
                .push(Action::Request(ServerRequest::FindReadyQueues));
        }
        let wanted = self.wanted_job_count();
        let is_drain = self.config.limit.ends_worker_when_empty() && self.held.is_empty();
        if self.rotation.is_empty() && is_drain {
            self.stop_popping();
        }
        let is_away = !matches!(self.link, ServerLink::Up);
        let is_probe = is_away && (wanted > 0 || !self.endings.is_empty());
        if now < self.next_finish_and_pop_at() && !is_probe {
            return;
        }
        self.was_put = false;
        let is_last = self.config.limit.ends_worker_when_empty()
            && wanted > 0
            && !self.rotation.has_ready_queues()
            && self.queue_search_since.is_none()
            && self.held.len() == self.endings.len();
        let endings = Arc::new(std::mem::take(&mut self.endings));
        let queues = match wanted {
            0 => Vec::new(),
            _ => self.rotation.queues_to_pop(wanted),
        };
        self.sent = Some(SentFinishAndPop {
            endings: endings.clone(),
            total: wanted,
            is_last,
        });
        self.actions
            .push(Action::Request(ServerRequest::FinishAndPop {
                endings,
                total: wanted,
                queues,
                is_last,
            }));
    }

    /// Whether to ask the server now which queues have jobs: there are too many queues to pop from each, jobs are
    /// wanted, and the last reply is old, or its queues are empty by now.
    fn is_queue_search_due(&self, now: f64) -> bool {
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
                self.queue_search_from = now + (QUEUE_SEARCH.1 * elapsed).min(self.config.poll);
                self.queue_search_at = self.queue_search_from.max(now + QUEUE_SEARCH.0);
            }
        }
    }

    pub fn is_awaiting_reply(&self) -> bool {
        self.sent.is_some()
            || self.is_recovering
            || self.queue_search_since.is_some()
            || self.extending.is_some()
            || self.releasing.is_some()
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
        self.actions
            .push(Action::Request(ServerRequest::Extend(jids)));
    }
}
