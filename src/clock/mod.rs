//! The current time: that of the server, continued by the monotonic clock, or pinned by QLESS_NOW.

pub(crate) mod duration;
pub(crate) mod moment;

use std::time::Instant;

use self::moment::Moment;
use crate::error::Error;

/// The clock of all times. Deadlines do not use it: they run on the real clock.
#[derive(Clone, Debug)]
pub struct Clock {
    pinned: Option<Moment>,
    server: Option<(Moment, Instant)>,
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
    pub fn set(&mut self, server: Moment) {
        self.server = Some((server, Instant::now()));
    }

    /// Returns the server's time. Before the first connection it is the time of this host.
    pub fn now(&self) -> Moment {
        if let Some(moment) = self.pinned {
            return moment;
        }
        match self.server {
            Some((moment, at)) => moment.after(at.elapsed()),
            None => Moment::from_micros(jiff::Timestamp::now().as_microsecond()),
        }
    }
}
