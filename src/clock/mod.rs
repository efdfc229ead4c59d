//! The current time: the server's time plus the time since it was read, or the fixed time that `QLESS_NOW` gives.

pub(crate) mod duration;
pub(crate) mod moment;

use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

use self::moment::Moment;
use crate::error::Error;

/// The clock for the times of jobs and of output. Deadlines use the real clock of this machine instead.
#[derive(Clone, Debug)]
pub struct Clock {
    pinned: Option<Moment>,
    server: Option<(Moment, SteadyInstant)>,
}

/// A point in time on a clock that nobody can set. On Linux, this clock also runs while the machine sleeps, so that a
/// worker knows after a sleep that its locks have expired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyInstant(
    #[cfg(target_os = "linux")] Duration,
    #[cfg(not(target_os = "linux"))] Instant,
);

#[cfg(target_os = "linux")]
impl SteadyInstant {
    pub(crate) fn now() -> SteadyInstant {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        SteadyInstant(Duration::try_from(now).unwrap_or_default())
    }

    pub(crate) fn elapsed(self) -> Duration {
        SteadyInstant::now().0.saturating_sub(self.0)
    }
}

#[cfg(not(target_os = "linux"))]
impl SteadyInstant {
    pub(crate) fn now() -> SteadyInstant {
        SteadyInstant(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

impl Clock {
    /// Creates the clock. If `QLESS_NOW` is set, the clock stands still at this time, in seconds since the epoch.
    pub fn from_env() -> Result<Clock, Error> {
        let pinned = match std::env::var_os("QLESS_NOW").filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let moment = text.to_str().and_then(|text| text.parse().ok());
                Some(moment.ok_or_else(|| {
                    Error::usage("`QLESS_NOW` expects seconds since the epoch, such as `1000.5`")
                })?)
            }
        };
        Ok(Clock {
            pinned,
            server: None,
        })
    }

    /// Sets the clock to the server's time. Each new connection does this again.
    pub fn set_server_time(&mut self, server_time: Moment) {
        self.server = Some((server_time, SteadyInstant::now()));
    }

    /// The current time by the server's clock. Before the first connection, the time of this host.
    pub fn now(&self) -> Moment {
        if let Some(moment) = self.pinned {
            return moment;
        }
        match self.server {
            Some((moment, at)) => moment.plus(at.elapsed()),
            None => host_time(),
        }
    }

    pub(crate) fn start_stopwatch(&self) -> Stopwatch {
        Stopwatch {
            begun: SteadyInstant::now(),
            is_pinned: self.pinned.is_some(),
        }
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }
}

/// Measures how long something takes, independently of changes of the server's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begun: SteadyInstant,
    /// Whether `QLESS_NOW` stops the clock, so that each measurement is 0.
    is_pinned: bool,
}

impl Stopwatch {
    /// The seconds since it was started.
    pub(crate) fn elapsed_seconds(&self) -> f64 {
        if self.is_pinned {
            0.0
        } else {
            self.begun.elapsed().as_secs_f64()
        }
    }
}

pub(crate) fn host_time() -> Moment {
    Moment::from_micros(jiff::Timestamp::now().as_microsecond())
}
