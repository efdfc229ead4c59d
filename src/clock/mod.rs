//! The server's time, continued by the monotonic clock, or the time that QLESS_NOW pins.

pub(crate) mod duration;
pub(crate) mod moment;

use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

use self::moment::Moment;
use crate::error::Error;

/// The clock for the times of jobs and of output. Deadlines do not use it: they run on the real clock.
#[derive(Clone, Debug)]
pub struct Clock {
    pinned: Option<Moment>,
    server: Option<(Moment, SteadyInstant)>,
}

/// A point in time on a clock that is never set and, if the system has one, also runs while the machine
/// sleeps: after a sleep, a worker must know that its locks have expired.
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
    /// Reads QLESS_NOW, seconds since the epoch.
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

    /// Sets the server's time, at each connection again.
    pub fn set_server_time(&mut self, server_time: Moment) {
        self.server = Some((server_time, SteadyInstant::now()));
    }

    /// The server's time. Before the first connection it is the time of this host.
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

/// Measures how long something takes, whatever becomes of the server's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begun: SteadyInstant,
    /// Whether no time passes, as the clock is pinned.
    is_pinned: bool,
}

impl Stopwatch {
    /// The seconds since it was started.
    pub(crate) fn seconds(&self) -> f64 {
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
