//! The time limit of jobs: it counts from when a job was handed to its process.

use super::Machine;
use super::event::{Action, EndedProcess, Report};
use super::processes::{Slot, SlotProcess};
use crate::model::retry_cause::ProcessFault;
use crate::name::Name;
use crate::text::format_duration;

impl Machine {
    /// Stops the processes that have had a job for too long, and returns the actions for that. Call this after all
    /// events were handled: if this program stood still, one of them may be an answer that the process wrote in time.
    pub fn stop_overdue_processes(&mut self, now: f64) -> Vec<Action> {
        let Some(limit) = self.config.time_limit.filter(|_| now >= self.limit_due) else {
            return Vec::new();
        };
        self.limit_due = f64::INFINITY;
        let mut reports = Vec::new();
        for (slot, held_by) in self.slots.iter_mut().enumerate() {
            let Slot::Busy(process) = held_by else {
                continue;
            };
            if process.was_signalled() {
                continue;
            }
            // The jobs are in the order in which the process got them: after the first job in time, none is overdue.
            for jid in &process.jobs {
                let due = self.held.get(jid).map_or(f64::INFINITY, |job| job.begun) + limit;
                if now < due {
                    self.limit_due = self.limit_due.min(due);
                    break;
                }
                process.overdue.push(jid.clone());
            }
            if !process.overdue.is_empty() {
                process.plan_stop(now, now + self.config.kill_after);
                self.slots_due = now;
                let jids = process.overdue.clone();
                let limit = describe_limit(limit);
                reports.push(Report::Overdue { slot, jids, limit });
            }
        }
        reports
            .into_iter()
            .for_each(|report| self.add_report(report));
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
        let (Some(limit), Some(first)) = (self.config.time_limit, process.overdue.first()) else {
            return;
        };
        let least = usize::from(process.jobs.first() == Some(first));
        let read = self.count_jobs_read(process, end).max(least);
        let is_overdue = |jid: &&Name| process.overdue.contains(jid);
        let count = process.jobs[..read].iter().take_while(is_overdue).count();
        let mut message = format!("the job ran longer than {}", describe_limit(limit));
        if !end.message.is_empty() {
            message = format!("{message}: {}", end.message);
        }
        for jid in process.jobs.drain(..count) {
            let action =
                self.ending_for_unfinished_job(ProcessFault::TimeLimit, end.exit, message.clone());
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
