//! An answer that many clients share, so that ten of them cost what one does.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest interval is this many times the first one.
const MOST_DOUBLED: u32 = 64;

/// An answer that is read at most once per interval. After two reads in a row that took longer than the
/// interval, the interval doubles; a read within the first interval restores it.
#[derive(Debug)]
pub struct CachedAnswer<T> {
    /// Whether a read tells how long reads take.
    counts: fn(&T) -> bool,
    /// Held during a read, so that all who ask meanwhile wait for it.
    state: Mutex<CacheState<T>>,
}

#[derive(Debug)]
struct CacheState<T> {
    pace: ReadPace,
    last: Option<LastAnswer<T>>,
}

#[derive(Debug)]
struct LastAnswer<T> {
    answer: T,
    /// When its read began: it tells nothing of what came later.
    begun: Instant,
    took: Duration,
}

impl<T> LastAnswer<T> {
    /// An answer that takes long stands longer than the interval, so that all who waited for it share it, and its
    /// server rests for as long as it read.
    fn is_fresh(&self, interval: Duration, now: Instant) -> bool {
        now.duration_since(self.begun) < interval.max(self.took * 2)
    }
}

impl<T: Clone> CachedAnswer<T> {
    /// `counts` says whether an answer tells how long reads take: one that failed does not.
    pub fn new(interval: Duration, counts: fn(&T) -> bool) -> CachedAnswer<T> {
        let pace = ReadPace::new(interval);
        CachedAnswer {
            counts,
            state: Mutex::new(CacheState { pace, last: None }),
        }
    }

    /// The interval of now.
    pub fn interval(&self) -> Duration {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pace.interval
    }

    /// The last answer, or a new one if that is not fresh any more. Waits for a read under way and
    /// shares its result.
    pub fn get(&self, read: impl FnOnce() -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        if let Some(last) = &state.last
            && last.is_fresh(state.pace.interval, begun)
        {
            return last.answer.clone();
        }
        let answer = read();
        let took = begun.elapsed();
        if (self.counts)(&answer) {
            state.pace.note_read(took);
        }
        state.last = Some(LastAnswer {
            answer: answer.clone(),
            begun,
            took,
        });
        answer
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

    /// Takes how long a read took.
    pub(crate) fn note_read(&mut self, took: Duration) {
        if took <= self.first {
            self.interval = self.first;
        }
        let is_slow = took > self.interval;
        if is_slow && self.was_slow {
            let longest = self.first.saturating_mul(MOST_DOUBLED);
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
        let is_fresh = |took: u64, age: u64| {
            let last = LastAnswer {
                answer: (),
                begun,
                took: after(took),
            };
            last.is_fresh(after(2000), begun + after(age))
        };
        assert!(is_fresh(900, 1999));
        assert!(!is_fresh(900, 2000));
        assert!(is_fresh(3000, 5999));
        assert!(!is_fresh(3000, 6000));
    }

    #[test]
    fn two_slow_reads_in_a_row_double_the_interval_and_a_quick_one_restores_it() {
        let mut pace = ReadPace::new(Duration::from_secs(1));
        let mut intervals = Vec::new();
        for took in [2, 1, 2, 3, 3, 2, 3, 4, 5, 5, 3, 1, 900] {
            pace.note_read(Duration::from_secs(took));
            intervals.push(pace.interval.as_secs());
        }
        assert_eq!(intervals, [1, 1, 1, 2, 2, 2, 2, 4, 4, 8, 8, 1, 1]);
        for _ in 0..40 {
            pace.note_read(Duration::from_secs(900));
        }
        assert_eq!(pace.interval.as_secs(), 64);
    }
}
