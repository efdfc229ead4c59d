//! The slots of a worker, each with at most one process, and the state of these processes.

use super::event::{Action, BadLineKind, DispatchMode, TerminationSignal};
use crate::name::Name;

/// A process that ends within this time after its start, in seconds, before it has ended a job, is a quick death.
const QUICK_DEATH_SECONDS: f64 = 1.0;

/// Number of consecutive quick deaths in a slot after which the next start waits.
const QUICK_DEATHS: u32 = 3;

/// The longest wait before a process is started again, in seconds.
pub(super) const MAX_WAIT: f64 = 60.0;

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
    pub stop: Option<PlannedStop>,
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
    /// Counts a bad line. Returns whether it may still be reported.
    pub(super) fn count_and_may_report(&mut self, kind: BadLineKind) -> bool {
        let count = match kind {
            BadLineKind::NoAnswer => &mut self.no_answer,
            BadLineKind::OtherJob => &mut self.other_job,
        };
        *count += 1;
        *count <= MAX_REPORTED_LINES
    }

    /// The number of lines, by kind, that were counted but not reported.
    pub(super) fn unreported_counts(self) -> impl Iterator<Item = (BadLineKind, u64)> {
        let kinds = [
            (BadLineKind::NoAnswer, self.no_answer),
            (BadLineKind::OtherJob, self.other_job),
        ];
        let more = kinds.map(|(kind, count)| (kind, count.saturating_sub(MAX_REPORTED_LINES)));
        more.into_iter().filter(|(_, count)| *count > 0)
    }
}

/// How a process is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedStop {
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
        let stop = self.stop.get_or_insert(PlannedStop {
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
        send(&mut stop.term_at, TerminationSignal::Term);
        send(&mut stop.kill_at, TerminationSignal::Kill);
        let next = stop.kill_at.unwrap_or(f64::INFINITY);
        stop.term_at.map_or(next, |at| at.min(next))
    }

    /// The number of further jobs that the process can take.
    pub(super) fn free_capacity(&self, mode: DispatchMode) -> usize {
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
