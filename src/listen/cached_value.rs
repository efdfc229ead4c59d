//! A value that many callers share, so that one read serves all of them.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum factor by which the interval grows.
const MAX_DOUBLED: u32 = 64;

/// Maximum time after a failed read before the next read begins.
const FAILURE: Duration = Duration::from_secs(5);

/// Time between two attempts to get a lock that another thread holds.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// A value that is read at most once per interval. After two reads in a row that took longer than the interval, the
/// interval doubles. A read that takes no longer than the first interval restores that interval.
///
/// After a failed read, one caller waits for the next read. The others get the failure immediately.
#[derive(Debug)]
pub struct CachedValue<T> {
    /// Whether the read of a value succeeded. Only the duration of a successful read changes the interval.
    is_success: fn(&T) -> bool,
    state: Mutex<CacheState<T>>,
    /// Held during a read.
    reading: Mutex<()>,
}

/// The last value, and the interval at which values are read.
#[derive(Debug)]
struct CacheState<T> {
    pace: ReadPace,
    last: Option<LastValue<T>>,
}

#[derive(Debug)]
struct LastValue<T> {
    value: T,
    has_failed: bool,
    /// When the read of this value began. Later changes are missing in the value.
    begun: Instant,
    elapsed: Duration,
}

impl<T> LastValue<T> {
    /// Whether the value can still be used. A value that took long to read is used for twice that time, if that is
    /// longer than the interval: callers that waited share the value, and the server rests for as long as the read
    /// took. After a failed read, the next read waits for one interval, but at most 5 seconds.
    fn is_fresh(&self, interval: Duration, now: Instant) -> bool {
        let stands_for = if self.has_failed {
            self.elapsed + interval.min(FAILURE)
        } else {
            interval.max(self.elapsed * 2)
        };
        now.duration_since(self.begun) < stands_for
    }
}

impl<T: Clone> CachedValue<T> {
    /// A value that is read at most once per `interval`. `is_success` says whether the read of a value succeeded.
    pub fn new(interval: Duration, is_success: fn(&T) -> bool) -> CachedValue<T> {
        let pace = ReadPace::new(interval);
        CachedValue {
            is_success,
            state: Mutex::new(CacheState { pace, last: None }),
            reading: Mutex::new(()),
        }
    }

    /// The interval of now.
    pub fn interval(&self) -> Duration {
        self.lock_state().pace.interval
    }

    /// Whether the last read failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.last_value_if(|last, _, _| last.has_failed).is_some()
    }

    /// The last value, or a new one if the last is too old. Waits up to `patience` for a read of another caller, and
    /// shares its value. `None` if that read takes longer. If the last read failed, returns the failure instead of
    /// waiting.
    pub fn get(&self, patience: Duration, read: impl FnOnce() -> T) -> Option<T> {
        if let Some(value) = self.last_value_if(LastValue::is_fresh) {
            return Some(value);
        }
        let known = self.last_value_if(|last, _, _| last.has_failed);
        let wait = known.as_ref().map_or(patience, |_| Duration::ZERO);
        let Some(_reading) = lock_within(&self.reading, wait) else {
            return known;
        };
        // Another caller may have read a value while this one waited for the lock.
        if let Some(value) = self.last_value_if(LastValue::is_fresh) {
            return Some(value);
        }
        let begun = Instant::now();
        let value = read();
        let elapsed = begun.elapsed();
        let has_failed = !(self.is_success)(&value);
        let mut state = self.lock_state();
        if !has_failed {
            state.pace.adjust_to_read(elapsed);
        }
        state.last = Some(LastValue {
            value: value.clone(),
            has_failed,
            begun,
            elapsed,
        });
        Some(value)
    }

    /// The last value, if `fits` accepts it. `fits` also gets the interval and the present moment.
    fn last_value_if(&self, fits: impl Fn(&LastValue<T>, Duration, Instant) -> bool) -> Option<T> {
        let state = self.lock_state();
        let last = state.last.as_ref();
        let last = last.filter(|last| fits(last, state.pace.interval, Instant::now()));
        last.map(|last| last.value.clone())
    }

    fn lock_state(&self) -> MutexGuard<'_, CacheState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a lock, but no longer than `patience`. `None` if another thread still holds it.
pub(crate) fn lock_within<T>(mutex: &Mutex<T>, patience: Duration) -> Option<MutexGuard<'_, T>> {
    let begun = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY_INTERVAL),
        }
    }
}

/// How often values are read.
#[derive(Debug)]
pub(crate) struct ReadPace {
    first: Duration,
    pub interval: Duration,
    was_slow: bool,
}

impl ReadPace {
    pub(crate) fn new(interval: Duration) -> ReadPace {
        ReadPace {
            first: interval,
            interval,
            was_slow: false,
        }
    }

    /// Whether the interval is longer than the first one, because reads were slow.
    pub(crate) fn is_interval_doubled(&self) -> bool {
        self.interval > self.first
    }

    /// Doubles or restores the interval, depending on the duration of a read.
    pub(crate) fn adjust_to_read(&mut self, elapsed: Duration) {
        if elapsed <= self.first {
            self.interval = self.first;
        }
        let is_slow = elapsed > self.interval;
        if is_slow && self.was_slow {
            let longest = self.first.saturating_mul(MAX_DOUBLED);
            self.interval = self.interval.saturating_mul(2).min(longest);
        }
        self.was_slow = is_slow && !self.was_slow;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_as_old_as_its_read_but_is_used_for_twice_its_duration() {
        let begun = Instant::now();
        let after = Duration::from_millis;
        let is_fresh = |has_failed: bool, elapsed: u64, age: u64| {
            let last = LastValue {
                value: (),
                has_failed,
                begun,
                elapsed: after(elapsed),
            };
            last.is_fresh(after(2000), begun + after(age))
        };
        assert!(is_fresh(false, 900, 1999));
        assert!(!is_fresh(false, 900, 2000));
        assert!(is_fresh(false, 3000, 5999));
        assert!(!is_fresh(false, 3000, 6000));
        assert!(is_fresh(true, 3000, 4999));
        assert!(!is_fresh(true, 3000, 5000));
    }

    #[test]
    fn two_slow_reads_in_a_row_double_the_interval_and_a_quick_one_restores_it() {
        let mut pace = ReadPace::new(Duration::from_secs(1));
        let mut intervals = Vec::new();
        for elapsed in [2, 1, 2, 3, 3, 2, 3, 4, 5, 5, 3, 1, 900] {
            pace.adjust_to_read(Duration::from_secs(elapsed));
            intervals.push(pace.interval.as_secs());
        }
        assert_eq!(intervals, [1, 1, 1, 2, 2, 2, 2, 4, 4, 8, 8, 1, 1]);
        for _ in 0..40 {
            pace.adjust_to_read(Duration::from_secs(900));
        }
        assert_eq!(pace.interval.as_secs(), 64);
    }
}
