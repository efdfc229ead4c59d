//! What the server publishes to a worker: lost locks, cancelled jobs, and new jobs in its queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use super::machine::event::Event;
use super::process::Waker;
use crate::core::api::event::{PutNotice, PutNotices, WorkerNotice, WorkerNotices};
use crate::core::call::Core;
use crate::error::Error;

/// How long a thread waits for a notice before it looks whether it is still needed.
const LOOK: Duration = Duration::from_millis(200);

/// Time for which every notice means a look anyway.
const LONG: Duration = Duration::from_secs(3600);

/// Passes on what concerns the jobs of this worker, as long as the receiver exists.
pub(super) fn pass_on(notices: WorkerNotices, events: Sender<Event>, waker: Waker) {
    thread::spawn(move || {
        loop {
            let event = match notices.next(Instant::now() + LONG) {
                None => continue,
                Some(WorkerNotice::Gap) => Event::Missed,
                Some(WorkerNotice::LockLost(jid)) => Event::Notice {
                    jid,
                    is_cancelled: false,
                },
                Some(WorkerNotice::Cancelled(jid)) => Event::Notice {
                    jid,
                    is_cancelled: true,
                },
            };
            if events.send(event).is_err() {
                return;
            }
            waker.wake();
        }
    });
}

/// A thread that waits for jobs while this worker has nothing to do. It is subscribed only then: a
/// busy worker has no use for the events of all jobs.
pub(super) struct PutWatch {
    is_wanted: Arc<AtomicBool>,
}

impl PutWatch {
    /// Subscribes; later subscriptions of the same user will be allowed, too.
    pub(super) fn start(
        core: &Core,
        events: Sender<Event>,
        waker: Waker,
    ) -> Result<PutWatch, Error> {
        let notices = core.put_notices()?;
        let is_wanted = Arc::new(AtomicBool::new(true));
        let watched = is_wanted.clone();
        thread::spawn(move || watch(&notices, &watched, &events, &waker));
        Ok(PutWatch { is_wanted })
    }

    pub(super) fn end(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }
}

/// Passes on that jobs were put, until that is no longer wanted.
fn watch(notices: &PutNotices, is_wanted: &AtomicBool, events: &Sender<Event>, waker: &Waker) {
    // A job may have been put before the subscription.
    let mut has_news = true;
    while is_wanted.load(Ordering::Relaxed) {
        if has_news {
            if events.send(Event::Put).is_err() {
                return;
            }
            waker.wake();
        }
        has_news = match notices.next(Instant::now() + LOOK) {
            None => false,
            Some(PutNotice::Gap | PutNotice::Put(_)) => true,
        };
    }
}
