//! The current time: the server's time plus the time since it was read, or the fixed time that `QLESS_NOW` gives.
//! A process that runs long reads the server's time again, since somebody may set the server's clock.

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
    server: Option<ServerTime>,
}

/// The server's time at a point in time.
#[derive(Clone, Copy, Debug)]
struct ServerTime {
    time: Moment,
    at: SteadyInstant,
    /// By how many seconds the server's clock may have been ahead of `time`, because its reply was slow.
    max_lag: f64,
}

/// After this time the server's time is read again, along with the next call.
const SERVER_TIME_AGE: Duration = Duration::from_secs(10);

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

    /// Sets the clock to the server's time, which was requested at `asked_at` and has arrived just now. Each new
    /// connection does this, and a call if the time was read long ago. If the reply was slow, the server's clock may be
    /// ahead of `server_time` by now, so this changes the clock no more than is certain.
    pub(crate) fn set_server_time(&mut self, server_time: Moment, asked_at: SteadyInstant) {
        let delay = asked_at.elapsed();
        let latest = server_time.plus(delay);
        let before = self.server.map(ServerTime::now);
        let time = before.map_or(server_time, |now| now.clamp(server_time, latest));
        self.server = Some(ServerTime {
            time,
            at: SteadyInstant::now(),
            max_lag: latest.since(time),
        });
    }

    /// Whether the server's time was read so long ago that the next call reads it again.
    pub(crate) fn is_server_time_old(&self) -> bool {
        let server = self.server.filter(|_| self.pinned.is_none());
        server.is_some_and(|server| server.at.elapsed() > SERVER_TIME_AGE)
    }

    /// By how many seconds the server's clock may be ahead of this clock, because the server's reply was slow.
    pub(crate) fn max_lag(&self) -> f64 {
        self.server.map_or(0.0, |server| server.max_lag)
    }

    /// The current time by the server's clock. Before the first connection, the time of this host.
    pub fn now(&self) -> Moment {
        if let Some(moment) = self.pinned {
            return moment;
        }
        match self.server {
            Some(server) => server.now(),
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

impl ServerTime {
    fn now(self) -> Moment {
        self.time.plus(self.at.elapsed())
    }
}

pub(crate) fn host_time() -> Moment {
    Moment::from_micros(jiff::Timestamp::now().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reply_changes_the_clock_no_more_than_is_certain() {
        let seconds_ago =
            |seconds| SteadyInstant(SteadyInstant::now().0 - Duration::from_secs(seconds));
        let mut clock = Clock {
            pinned: None,
            server: None,
        };
        let mut now_after = |time: i64, delay: u64| {
            clock.set_server_time(Moment::from_micros(time * 1_000_000), seconds_ago(delay));
            (clock.now().seconds() as i64, clock.max_lag() as u64)
        };
        assert_eq!(now_after(1000, 9), (1000, 9));
        assert_eq!(now_after(1008, 0), (1008, 0));
        // The time was 1000 at some point of the last 20 seconds, so it may well be 1008 now.
        assert_eq!(now_after(1000, 20), (1008, 12));
        assert_eq!(now_after(5000, 20), (5000, 20));
        assert_eq!(now_after(2000, 20), (2020, 0));
    }
}
