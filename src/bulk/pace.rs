//! `--rate`: the size of a slice of jobs, and the time to wait before the next slice.

use std::time::{Duration, Instant};

use crate::error::{Error, Kind};
use crate::interrupt::InterruptFlags;
use crate::model::rate::MaxRate;
use crate::view::RenderOptions;

/// Length of a slice at a given rate: short, so that the jobs come evenly.
const SLICE_TIME: Duration = Duration::from_millis(100);

/// Limits a bulk action to its rate. Without a rate, no slice waits.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: Option<MaxRate>,
    next: Instant,
}

impl Pace {
    pub(crate) fn new(rate: Option<MaxRate>) -> Pace {
        Pace {
            rate,
            next: Instant::now(),
        }
    }

    /// The number of jobs in a slice, at most `max_jobs`.
    pub(crate) fn slice_size(&self, max_jobs: usize) -> usize {
        self.rate
            .map_or(max_jobs, |rate| rate.jobs_in_time(SLICE_TIME).min(max_jobs))
    }

    /// Waits until this number of jobs may be changed, or until a signal comes. Lost time is not
    /// made up: the slice after a slow one comes no faster.
    pub(crate) fn wait_before_slice(&mut self, jobs: usize, interrupt: &InterruptFlags) {
        let Some(rate) = self.rate else {
            return;
        };
        let wait = self.next.saturating_duration_since(Instant::now());
        if interrupt.wait_for_signal(wait).is_some() {
            return;
        }
        let now = Instant::now();
        self.next = now.checked_add(rate.time_for_jobs(jobs)).unwrap_or(now);
    }

    /// As [`Pace::wait_before_slice`], but a received signal is an error.
    pub(crate) fn wait_unless_interrupted(
        &mut self,
        jobs: usize,
        interrupt: &InterruptFlags,
    ) -> Result<(), Error> {
        self.wait_before_slice(jobs, interrupt);
        match interrupt.error_kind_of_received_signal() {
            Some(kind) => Err(Error::new(kind, "interrupted")),
            None => Ok(()),
        }
    }
}

/// The error for a signal that stopped an action after `done` of `all` jobs.
pub(crate) fn interrupted_error(
    kind: Kind,
    done: usize,
    all: usize,
    options: &RenderOptions,
) -> Error {
    let (done, all) = (options.count(done as u64), options.count(all as u64));
    Error::new(kind, format!("interrupted after {done} of {all}"))
}

/// Adds to an error that stopped an action that `done` of `all` jobs were done before.
pub(crate) fn stopped_error(
    error: Error,
    done: usize,
    all: usize,
    options: &RenderOptions,
) -> Error {
    error.stopped_after(&options.count(done as u64), &options.count(all as u64))
}
