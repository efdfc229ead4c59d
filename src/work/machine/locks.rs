//! Locks that have expired, and the jobs that are released.

use super::slots::Slot;
use super::{Machine, ServerLink};
use crate::model::ending::EndingRequest;
use crate::name::Name;

impl Machine {
    /// Gives up the jobs whose locks have expired.
    pub(super) fn give_up_expired_locks(&mut self, now: f64) {
        if now < self.held.due {
            return;
        }
        let mut over = Vec::new();
        for (jid, job) in self.held.iter_mut() {
            if job.expires <= now {
                over.push((jid.clone(), job.expires));
            }
        }
        for (jid, expires) in over {
            let names = |endings: &[EndingRequest]| endings.iter().any(|one| one.jid == jid);
            let recovery = self.recovery.as_deref().filter(|_| self.is_recovering);
            let is_sent = self.sent.iter().any(|sent| names(&sent.endings))
                || recovery.is_some_and(|endings| names(endings))
                || self.releasing.iter().flatten().any(|one| *one == jid);
            if is_sent {
                // A call about this job waits for its reply, which says what became of the job: keep it for a second.
                if let Some(job) = self.held.get_mut(&jid) {
                    job.expires = now + 1.0;
                }
            } else {
                // Stop the process at the latest one second before the grace period ends: then another worker gets the
                // job.
                self.given_up.insert(jid.clone());
                let latest = expires + self.config.grace - 1.0;
                // The text names no cause, since there are several: the server did not reply, or this program stood
                // still, such as on a host that slept.
                let why = "its lock expired before it was extended";
                self.give_up_lost_job(now, &jid, latest, why);
                // Release the job: its lock may still be valid, if the reply to an extension was lost.
                self.queue_release_if_given_up_unless_running(&jid);
            }
        }
        let is_silent =
            matches!(self.link, ServerLink::Away { cause, .. } if cause.blocks_extending());
        self.held
            .update_next_due(is_silent || self.extending.is_some());
    }

    /// Queues the release of a job that was given up, in case this worker still has its lock. As long as a process has
    /// the job, does nothing: the end of the process calls this again.
    pub(super) fn queue_release_if_given_up_unless_running(&mut self, jid: &Name) {
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
        self.queue_release_if_given_up_unless_running(jid);
    }

    /// The lost jobs that processes still have.
    pub(super) fn lost_jids_in_processes(&self) -> impl Iterator<Item = &Name> {
        self.slots.iter().flat_map(|slot| match slot {
            Slot::Busy(process) => process.lost.as_slice(),
            _ => &[],
        })
    }

    /// Releases the jobs that no process has.
    pub(super) fn queue_release_of_ready_jobs(&mut self) {
        for job in std::mem::take(&mut self.ready) {
            self.release_queue.push(job.jid);
        }
    }
}
