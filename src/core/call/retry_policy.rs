//! The waits between the attempts of a call: exponential back-off from 50 ms to 2 s, with full jitter (each wait is a
//! random part of that time).

use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MAX_WAIT: Duration = Duration::from_secs(2);

/// The waits of one call.
#[derive(Debug)]
pub(crate) struct Backoff {
    longest: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            longest: Duration::from_millis(50),
        }
    }
}

impl Backoff {
    /// Sleeps before the next attempt of a call, and doubles the next wait. Returns false if the deadline has passed.
    pub(crate) fn wait_for_next_attempt(&mut self, deadline: Instant) -> bool {
        let remaining = deadline.saturating_duration_since(Instant::now());
        sleep(self.longest.mul_f64(random_fraction()).min(remaining));
        self.longest = (self.longest * 2).min(MAX_WAIT);
        Instant::now() < deadline
    }
}

/// A random number between 0 and 1. The source is the standard library's hasher, which hashes with new random keys each
/// time.
fn random_fraction() -> f64 {
    let number = RandomState::new().hash_one(0);
    number as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_doubles_up_to_two_seconds() {
        let mut backoff = Backoff::default();
        let over = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..8 {
            waits.push(backoff.longest.as_millis());
            assert!(!backoff.wait_for_next_attempt(over));
        }
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
