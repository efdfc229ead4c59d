//! The jobs that a worker holds, and their locks: extended in time, given up when they have expired, and released.

use std::collections::HashMap;

use super::{Machine, Recovery, RequestKind, ServerLink};
use crate::model::ending::EndingRequest;
use crate::model::work::{PoppedJob, ProcessExit};
use crate::name::Name;

/// A call that extends a lock also extends the locks that are due within this part of their interval.
const SHARED_EXTENSION_PART: f64 = 0.2;

/// The shortest time between two extensions of a lock, in seconds, even if the lock itself is shorter.
const MIN_INTERVAL: f64 = 0.1;

/// The longest default time until a lock is extended, in seconds: a worker that is silent for longer than an hour is
/// reported.
const MAX_DEFAULT_INTERVAL: f64 = 1_800.0;

/// Where a job is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JobPhase {
    /// Popped, and not handed to a process yet.
    Ready,
    /// With the process of a slot.
    Running(usize),
    /// The job has ended, and the core has not confirmed that yet.
    Ending {
        /// How the process ended, if that decided how the job ends.
        exit: Option<ProcessExit>,
        /// Since when the job has ended.
        at: f64,
    },
}

/// A job that this worker holds. Its data is not kept while it runs.
#[derive(Clone, Debug)]
pub(super) struct HeldJob {
    pub queue: Name,
    pub klass: Name,
    pub attempt: i64,
    pub phase: JobPhase,
    /// When the lock of the job expires.
    pub expires: f64,
    /// When the lock is to be extended.
    pub extend_at: f64,
    interval: f64,
    /// Whether the lock may have been lost since its extension was last requested.
    is_doubtful: bool,
    /// Why the core refused the last extension. `None` if it did not.
    refusal: Option<String>,
    /// Whether the server announced that the lock was lost or the job was cancelled.
    pub was_noticed: bool,
    /// When the job was handed to a process.
    pub begun: f64,
    /// Whether the start of the job was reported.
    pub is_start_reported: bool,
    /// When the progress of the job was last written.
    pub progress_at: f64,
}

/// The jobs by jid.
#[derive(Debug, Default)]
pub(super) struct HeldJobs {
    pub jobs: HashMap<Name, HeldJob>,
    /// No lock needs anything before this time.
    pub due: f64,
}

impl HeldJobs {
    pub(super) fn new() -> HeldJobs {
        HeldJobs {
            jobs: HashMap::new(),
            due: f64::INFINITY,
        }
    }

    /// Adds a popped job, whose lock expires at `expires`. The lock is extended every `interval` seconds, or after a
    /// third of its duration if no interval shorter than the lock is given.
    pub(super) fn add_popped_job(
        &mut self,
        now: f64,
        job: &PoppedJob,
        expires: f64,
        interval: Option<f64>,
    ) {
        let interval = extension_interval(interval, expires - now);
        let held = HeldJob {
            queue: job.queue.clone(),
            klass: job.klass.clone(),
            attempt: job.attempt_number(),
            phase: JobPhase::Ready,
            expires,
            extend_at: now + interval,
            interval,
            is_doubtful: false,
            refusal: None,
            was_noticed: false,
            begun: now,
            is_start_reported: false,
            progress_at: f64::NEG_INFINITY,
        };
        self.due = self.due.min(held.extend_at).min(held.expires);
        self.jobs.insert(job.jid.clone(), held);
    }

    pub(super) fn note_extended(&mut self, now: f64, jid: &Name, expires: f64) {
        if let Some(job) = self.jobs.get_mut(jid) {
            job.expires = expires;
            job.refusal = None;
            // Compute the interval again: the locks of the queue may be shorter by now.
            let interval = extension_interval(Some(job.interval), expires - now);
            job.extend_at = if job.is_doubtful { now } else { now + interval };
            self.due = self.due.min(job.extend_at).min(expires);
        }
    }

    /// Tries again later to extend a lock, which is valid until it expires: the key that the core refused may be
    /// repaired by then. The result is whether this is the first refusal since the lock was extended.
    pub(super) fn note_extension_refused(&mut self, now: f64, jid: &Name, why: String) -> bool {
        let Some(job) = self.jobs.get_mut(jid) else {
            return false;
        };
        let wait = if job.is_doubtful {
            MIN_INTERVAL
        } else {
            job.interval
        };
        job.extend_at = now + wait;
        job.refusal.replace(why).is_none()
    }

    /// Forgets that locks could not be extended: an extension without a reply may have succeeded.
    pub(super) fn forget_refusals(&mut self, jids: &[Name]) {
        for jid in jids {
            if let Some(job) = self.jobs.get_mut(jid) {
                job.refusal = None;
            }
        }
    }

    /// Leaves a lock to its end.
    pub(super) fn stop_extending(&mut self, jid: &Name) {
        if let Some(job) = self.jobs.get_mut(jid) {
            job.extend_at = f64::INFINITY;
        }
    }

    /// Makes the extension of a lock due now, because the lock may be lost: the reply shows whether it is.
    pub(super) fn mark_lock_doubtful_and_due(&mut self, now: f64, jid: &Name) {
        if let Some(job) = self.jobs.get_mut(jid) {
            job.is_doubtful = true;
            job.was_noticed = true;
            job.extend_at = now;
            self.due = self.due.min(now);
        }
    }

    /// Makes the extension of all locks due now.
    pub(super) fn make_all_extensions_due(&mut self, now: f64) {
        for job in self.jobs.values_mut() {
            job.extend_at = now;
        }
        self.due = self.due.min(now);
    }

    /// The jobs whose locks the next call extends: if any lock is due, also the locks that are due soon.
    pub(super) fn select_extensions_due_or_soon(&mut self, now: f64) -> Vec<Name> {
        if !self.jobs.values().any(|job| job.extend_at <= now) {
            return Vec::new();
        }
        let soon = |job: &HeldJob| job.extend_at <= now + SHARED_EXTENSION_PART * job.interval;
        let jobs = self.jobs.iter_mut().filter(|(_, job)| soon(job));
        let due = jobs.map(|(jid, job)| {
            job.is_doubtful = false;
            jid.clone()
        });
        due.collect()
    }

    /// Updates `due`, the time at which the next lock must be extended or expires. If no extension can be sent now,
    /// only expiry counts.
    pub(super) fn update_next_due(&mut self, is_extending_blocked: bool) {
        let due = |job: &HeldJob| {
            if is_extending_blocked {
                job.expires
            } else {
                job.extend_at.min(job.expires)
            }
        };
        self.due = self.jobs.values().map(due).fold(f64::INFINITY, f64::min);
    }
}

/// Whether no lock can be extended at a server that refuses requests of this kind, or does not reply.
pub(super) fn blocks_extending(refused: Option<RequestKind>) -> bool {
    matches!(refused, None | Some(RequestKind::Extend))
}

/// The time until the extension of a lock, in seconds: the interval, or if no interval shorter than the lock is given, a
/// third of the lock, at most [`MAX_DEFAULT_INTERVAL`].
fn extension_interval(interval: Option<f64>, lock_seconds: f64) -> f64 {
    interval
        .filter(|interval| *interval < lock_seconds)
        .unwrap_or((lock_seconds / 3.0).min(MAX_DEFAULT_INTERVAL))
        .max(MIN_INTERVAL)
}

impl Machine {
    /// Gives up the jobs whose locks have expired.
    pub(super) fn give_up_expired_locks(&mut self, now: f64) {
        if now < self.held.due {
            return;
        }
        let mut over = Vec::new();
        for (jid, job) in self.held.jobs.iter_mut() {
            if job.expires <= now {
                over.push((jid.clone(), job.expires, job.refusal.clone()));
            }
        }
        for (jid, expires, refusal) in over {
            let names = |endings: &[EndingRequest]| endings.iter().any(|one| one.jid == jid);
            let is_sent = self.sent.iter().any(|sent| names(&sent.endings))
                || matches!(&self.recovery, Recovery::Sent(endings) if names(endings))
                || self.releasing.iter().flatten().any(|one| *one == jid);
            if is_sent {
                // A call about this job waits for its reply, which says what became of the job: keep it for a second.
                if let Some(job) = self.held.jobs.get_mut(&jid) {
                    job.expires = now + 1.0;
                }
                continue;
            }
            // Stop the process at the latest one second before the grace period ends: then another worker gets the job.
            let latest = expires + self.facts.grace - 1.0;
            if let Some(refusal) = refusal {
                // Do not release the job: the core would refuse that for the same key.
                let why = format!("its lock could not be extended: {refusal}");
                self.give_up_lost_job(now, &jid, latest, &why);
            } else {
                self.given_up.insert(jid.clone());
                // The text names no cause, since there are several: the server did not reply, or this program stood
                // still, such as on a host that slept.
                let why = "its lock expired before it was extended";
                self.give_up_lost_job(now, &jid, latest, why);
                // Release the job: its lock may still be valid, if the reply to an extension was lost.
                self.queue_release_if_lock_expired_unless_running(&jid);
            }
        }
        let is_silent =
            matches!(self.link, ServerLink::Away { refused, .. } if blocks_extending(refused));
        self.held
            .update_next_due(is_silent || self.extending.is_some());
    }

    /// Queues the release of a job that was given up, in case this worker still has its lock. As long as a process has
    /// the job, does nothing: the end of the process calls this again.
    pub(super) fn queue_release_if_lock_expired_unless_running(&mut self, jid: &Name) {
        let mut lost = self.lost_jids_in_processes();
        if !lost.any(|one| one == jid) && self.given_up.contains(jid) {
            drop(lost);
            self.given_up.remove(jid);
            let mut under_way = self.releasing.iter().flatten().chain(&self.release_queue);
            if !under_way.any(|one| one == jid) {
                self.release_queue.push(jid.clone());
            }
        }
    }

    /// Releases a job whose lock was extended after it was given up.
    pub(super) fn queue_release_of_late_extended_job(&mut self, jid: &Name) {
        self.given_up.insert(jid.clone());
        self.queue_release_if_lock_expired_unless_running(jid);
    }

    /// Releases the jobs that no process has.
    pub(super) fn queue_release_of_ready_jobs(&mut self) {
        for job in std::mem::take(&mut self.ready) {
            self.release_queue.push(job.jid);
        }
    }
}
