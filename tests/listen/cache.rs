//! An answer that many clients share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use qless::internals::listen::CachedAnswer;

use crate::support::listener::wait_until;

#[test]
fn ten_clients_share_one_read() {
    let cache = CachedAnswer::new(Duration::from_secs(600), |_| true);
    let reads = AtomicUsize::new(0);
    let asking = AtomicUsize::new(0);
    thread::scope(|scope| {
        let ask = || {
            asking.fetch_add(1, Ordering::Relaxed);
            cache.get(|| {
                // All others ask during this read.
                wait_until(|| asking.load(Ordering::Relaxed) == 10);
                reads.fetch_add(1, Ordering::Relaxed)
            })
        };
        let clients: Vec<_> = (0..10).map(|_| scope.spawn(ask)).collect();
        for client in clients {
            assert_eq!(client.join().unwrap(), 0);
        }
    });
    assert_eq!(cache.get(|| 7), 0);
}

#[test]
fn an_answer_is_read_again_after_the_interval() {
    let cache = CachedAnswer::new(Duration::from_millis(1), |_| true);
    let reads = AtomicUsize::new(0);
    let next = || cache.get(|| reads.fetch_add(1, Ordering::Relaxed));
    assert_eq!(next(), 0);
    wait_until(|| next() > 1);
}

#[test]
fn slow_reads_become_rarer() {
    let cache = CachedAnswer::new(Duration::from_millis(20), |_| true);
    let read = |value| {
        let was_read = AtomicBool::new(false);
        cache.get(|| {
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
