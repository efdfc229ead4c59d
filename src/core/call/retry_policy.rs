//! How long to wait before a call is made again: 50 ms, doubling to 2 s, with full jitter.

use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(2);

/// The waits of one call.
#[derive(Debug)]
pub(crate) struct Backoff {
    most: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            most: Duration::from_millis(50),
        }
    }
}

impl Backoff {
    /// Waits; returns whether there is time left after that.
    pub(crate) fn wait(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        sleep(self.most.mul_f64(chance()).min(left));
        self.most = (self.most * 2).min(LONGEST);
        Instant::now() < deadline
    }
}

/// Returns a number between 0 and 1 by chance: each `RandomState` hashes with keys of its own.
fn chance() -> f64 {
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
            waits.push(backoff.most.as_millis());
            assert!(!backoff.wait(over));
        }
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }
}
