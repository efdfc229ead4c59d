//! `--rate`: how many jobs are changed at once, or looked at, and how long to wait before the next.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use crate::model::rate::Rate;

/// A slice of a slow action takes so long, so that jobs come evenly, not in heaps.
const TICK: Duration = Duration::from_millis(100);

/// How long a signal may wait to be seen.
const PATIENCE: Duration = Duration::from_millis(20);

/// Keeps an action to its rate; without one it waits for nothing.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: Option<Rate>,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(rate: Option<Rate>) -> Pace {
        Pace {
            rate,
            next: Instant::now(),
        }
    }

    /// Returns how many jobs make a slice, `most` at most.
    pub(crate) fn slice(&self, most: usize) -> usize {
        self.rate.map_or(most, |rate| rate.jobs(TICK).min(most))
    }

    /// Waits until so many jobs may be changed, or somebody asks to stop. Time that was lost is
    /// not made up for: what follows a slow slice comes no faster.
    pub(crate) fn wait(&mut self, jobs: usize, stop: &Interrupt) {
        let Some(rate) = self.rate else {
            return;
        };
        loop {
            let left = self.next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if stop.asked().is_some() {
                return;
            }
            sleep(left.min(PATIENCE));
        }
        let now = Instant::now();
        self.next = now.checked_add(rate.time(jobs)).unwrap_or(now);
    }
}
