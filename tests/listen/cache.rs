//! An answer that many clients share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use qless::internals::listen::CachedValue;

use crate::support::listener::wait_until;

/// Longer than any test waits.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn ten_clients_share_one_read() {
    let cache = CachedValue::new(Duration::from_secs(600), |_| true);
    let reads = AtomicUsize::new(0);
    let asking = AtomicUsize::new(0);
    thread::scope(|scope| {
        let ask = || {
            asking.fetch_add(1, Ordering::Relaxed);
            cache.get(PATIENCE, || {
                // All others ask during this read.
                wait_until(|| asking.load(Ordering::Relaxed) == 10);
                reads.fetch_add(1, Ordering::Relaxed)
            })
        };
        let clients: Vec<_> = (0..10).map(|_| scope.spawn(ask)).collect();
        for client in clients {
            assert_eq!(client.join().unwrap(), Some(0));
        }
    });
    assert_eq!(cache.get(PATIENCE, || 7), Some(0));
}

#[test]
fn an_answer_is_read_again_after_the_interval() {
    let cache = CachedValue::new(Duration::from_millis(1), |_| true);
    let reads = AtomicUsize::new(0);
    let next = || cache.get(PATIENCE, || reads.fetch_add(1, Ordering::Relaxed));
    assert_eq!(next(), Some(0));
    wait_until(|| next() > Some(1));
}

#[test]
fn slow_reads_become_rarer() {
    let cache = CachedValue::new(Duration::from_millis(20), |_| true);
    let read = |value| {
        let was_read = AtomicBool::new(false);
        cache.get(PATIENCE, || {
            was_read.store(true, Ordering::Relaxed);
            // Longer than the interval: the read itself is slow.
            thread::sleep(Duration::from_millis(30));
            value
        });
        was_read.load(Ordering::Relaxed)
    };
    wait_until(|| read(1));
    wait_until(|| read(2));
    assert_eq!(cache.interval(), Duration::from_millis(40));
}

#[test]
fn after_a_failure_only_the_caller_that_reads_waits() {
    let cache = CachedValue::new(Duration::from_millis(1), Result::<u32, ()>::is_ok);
    let (is_reading, may_end) = (AtomicBool::new(false), AtomicBool::new(false));
    let slow = |answer| {
        is_reading.store(true, Ordering::Relaxed);
        wait_until(|| may_end.load(Ordering::Relaxed));
        answer
    };
    // Nothing is known yet: a caller waits, but not for ever.
    thread::scope(|scope| {
        let first = scope.spawn(|| cache.get(PATIENCE, || slow(Err(()))));
        wait_until(|| is_reading.swap(false, Ordering::Relaxed));
        assert_eq!(cache.get(Duration::from_millis(1), || Ok(1)), None);
        may_end.store(true, Ordering::Relaxed);
        assert_eq!(first.join().unwrap(), Some(Err(())));
    });
    may_end.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        let next = || cache.get(PATIENCE, || slow(Ok(2)));
        let second = scope.spawn(move || {
            let mut found = next();
            while found == Some(Err(())) {
                found = next();
            }
            found
        });
        wait_until(|| is_reading.load(Ordering::Relaxed));
        assert_eq!(cache.get(PATIENCE, || Ok(3)), Some(Err(())));
        may_end.store(true, Ordering::Relaxed);
        assert_eq!(second.join().unwrap(), Some(Ok(2)));
    });
}
