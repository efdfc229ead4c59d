//! An answer that many clients share, so that ten of them cost what one does.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest interval is this many times the first one.
const MAX_DOUBLED: u32 = 64;

/// The longest that an answer that failed stands for others.
const FAILURE: Duration = Duration::from_secs(5);

/// Time between two looks at a lock that somebody else holds.
const BLINK: Duration = Duration::from_millis(5);

/// An answer that is read at most once per interval. After two reads in a row that took longer than the
/// interval, the interval doubles; a read within the first interval restores it.
///
/// After a read that failed, nobody waits for the next one but the caller that makes it.
#[derive(Debug)]
pub struct CachedAnswer<T> {
    /// Whether a read has not failed, so that it tells how long reads take.
    counts: fn(&T) -> bool,
    state: Mutex<CacheState<T>>,
    /// Held during a read.
    reading: Mutex<()>,
}

#[derive(Debug)]
struct CacheState<T> {
    pace: ReadPace,
    last: Option<LastAnswer<T>>,
}

#[derive(Debug)]
struct LastAnswer<T> {
    answer: T,
    has_failed: bool,
    /// When the read behind this answer began: later changes are not in the answer.
    begun: Instant,
    elapsed: Duration,
}

impl<T> LastAnswer<T> {
    /// An answer that takes long stands longer than the interval, so that all who waited for it share it, and its
    /// server rests for as long as it read. After a failure, the next read begins an interval after the end of this one.
    fn is_fresh(&self, interval: Duration, now: Instant) -> bool {
        let stands_for = if self.has_failed {
            self.elapsed + interval.min(FAILURE)
        } else {
            interval.max(self.elapsed * 2)
        };
        now.duration_since(self.begun) < stands_for
    }
}

impl<T: Clone> CachedAnswer<T> {
    /// `counts` says whether an answer tells how long reads take: one that failed does not.
    pub fn new(interval: Duration, counts: fn(&T) -> bool) -> CachedAnswer<T> {
        let pace = ReadPace::new(interval);
        CachedAnswer {
            counts,
            state: Mutex::new(CacheState { pace, last: None }),
            reading: Mutex::new(()),
        }
    }

    /// The interval of now.
    pub fn interval(&self) -> Duration {
        self.state().pace.interval
    }

    /// Whether the last read failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.answer(|last, _, _| last.has_failed).is_some()
    }

    /// The last answer, or a new one if that is not fresh any more. Waits for a read under way, but no longer than
    /// `patience`, and shares its result; if the last answer was a failure, it is returned until the read ends.
    pub fn get(&self, patience: Duration, read: impl FnOnce() -> T) -> Option<T> {
        if let Some(answer) = self.answer(LastAnswer::is_fresh) {
            return Some(answer);
        }
        let known = self.answer(|last, _, _| last.has_failed);
        let wait = known.as_ref().map_or(patience, |_| Duration::ZERO);
        let Some(_turn) = lock_within(&self.reading, wait) else {
            return known;
        };
        // Another thread may have read an answer before this one had the lock.
        if let Some(answer) = self.answer(LastAnswer::is_fresh) {
            return Some(answer);
        }
        let begun = Instant::now();
        let answer = read();
        let elapsed = begun.elapsed();
        let has_failed = !(self.counts)(&answer);
        let mut state = self.state();
        if !has_failed {
            state.pace.note_read(elapsed);
        }
        state.last = Some(LastAnswer {
            answer: answer.clone(),
            has_failed,
            begun,
            elapsed,
        });
        Some(answer)
    }

    /// The last answer, if it fits the interval and the moment.
    fn answer(&self, fits: impl Fn(&LastAnswer<T>, Duration, Instant) -> bool) -> Option<T> {
        let state = self.state();
        let last = state.last.as_ref();
        let last = last.filter(|last| fits(last, state.pace.interval, Instant::now()));
        last.map(|last| last.answer.clone())
    }

    fn state(&self) -> MutexGuard<'_, CacheState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a lock, but no longer than `patience`.
pub(crate) fn lock_within<T>(mutex: &Mutex<T>, patience: Duration) -> Option<MutexGuard<'_, T>> {
    let begun = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(BLINK),
        }
    }
}

/// How often answers are read.
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

    /// Whether reads took so long that the interval was doubled.
    pub(crate) fn is_slowed(&self) -> bool {
        self.interval > self.first
    }

    /// Adjusts the interval to the duration of a read.
    pub(crate) fn note_read(&mut self, elapsed: Duration) {
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
    fn an_answer_is_as_old_as_its_read_but_stands_for_twice_the_time_that_took() {
        let begun = Instant::now();
        let after = Duration::from_millis;
        let is_fresh = |has_failed: bool, elapsed: u64, age: u64| {
            let last = LastAnswer {
                answer: (),
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
            pace.note_read(Duration::from_secs(elapsed));
            intervals.push(pace.interval.as_secs());
        }
        assert_eq!(intervals, [1, 1, 1, 2, 2, 2, 2, 4, 4, 8, 8, 1, 1]);
        for _ in 0..40 {
            pace.note_read(Duration::from_secs(900));
        }
        assert_eq!(pace.interval.as_secs(), 64);
    }
}
