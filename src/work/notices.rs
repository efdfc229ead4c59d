//! Messages that the server publishes to a worker: lost locks, cancelled jobs, and new jobs in its queues.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use super::machine::event::Event;
use super::process::Waker;
use crate::core::api::event::{EventOrConnectionChange, EventStream};
use crate::core::call::Core;
use crate::error::{Cause, Error};
use crate::model::event::{EventChannel, EventKind};
use crate::name::Name;
use crate::session::Session;
use crate::threads;

/// How long a thread waits for a notice before it checks whether it is still needed.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum duration of one wait for a notice. The thread then waits again.
const NOTICE_WAIT: Duration = Duration::from_secs(3600);

/// Subscribes to the notices for this worker, and starts the thread that can watch for new jobs. `None` if the worker
/// cannot subscribe: it then polls.
pub(super) fn subscribe_and_start_put_watch(
    core: &Core,
    worker: &Name,
    events: Sender<Event>,
    waker: &Waker,
    session: &mut Session,
) -> Result<Option<PutWatch>, Error> {
    match core.subscribe_to_events(&[EventChannel::Worker(worker.clone())]) {
        Ok(notices) => {
            forward_notices_in_thread(notices, events.clone(), waker.clone())?;
            let core = core.unconnected_copy();
            Ok(Some(PutWatch::start(core, events, waker.clone())?))
        }
        Err(error) if error.cause() == Some(&Cause::ProcessLimit) => Err(error),
        Err(error) => {
            let poll = "new jobs are found by polling, lost locks by heartbeats";
            session
                .ui
                .note(&format!("note: {}; {poll}", error.message()));
            Ok(None)
        }
    }
}

/// Starts a thread that sends an event for each notice of a lost lock or a cancelled job. The thread ends when nobody
/// receives the events any more.
fn forward_notices_in_thread(
    notices: EventStream,
    events: Sender<Event>,
    waker: Waker,
) -> Result<(), Error> {
    threads::spawn(move || {
        loop {
            let notice = notices.next_event(Instant::now() + NOTICE_WAIT);
            let Some(event) = notice
                .and_then(Result::ok)
                .and_then(machine_event_of_notice)
            else {
                continue;
            };
            if events.send(event).is_err() {
                return;
            }
            waker.wake();
        }
    })?;
    Ok(())
}

/// The event for the worker's machine: a lost lock, a cancelled job or, after a reconnection, that notices may have been
/// missed. `None` for everything else.
fn machine_event_of_notice(notice: EventOrConnectionChange) -> Option<Event> {
    match notice {
        EventOrConnectionChange::Lost(_) => None,
        EventOrConnectionChange::Back(_) => Some(Event::Missed),
        EventOrConnectionChange::Event(event) => match event.event {
            EventKind::LockLost | EventKind::Canceled => event.jid.map(Event::Notice),
            _ => None,
        },
    }
}

/// A thread that watches for new jobs while this worker is idle. Only then the thread is subscribed to the events of
/// all jobs: a busy worker does not need them.
pub(super) struct PutWatch {
    is_idle: bool,
    /// Since when `is_idle` has its value.
    since: Instant,
    is_watching: bool,
    /// Whether the thread is to watch.
    orders: Sender<bool>,
}

/// Time that a worker must be idle before the thread watches for new jobs.
const MIN_IDLE: Duration = Duration::from_millis(100);

/// Time that a worker must be busy before the thread stops watching.
const MIN_BUSY: Duration = Duration::from_secs(1);

/// Time between a failed subscription and the next attempt.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl PutWatch {
    /// Starts the thread, with a connection of its own.
    fn start(core: Core, events: Sender<Event>, waker: Waker) -> Result<PutWatch, Error> {
        let (orders, inbox) = channel();
        threads::spawn(move || watch_for_jobs(&core, &inbox, &events, &waker))?;
        Ok(PutWatch {
            is_idle: false,
            since: Instant::now(),
            is_watching: false,
            orders,
        })
    }

    /// Starts to watch for new jobs after [`MIN_IDLE`] without work, and stops after [`MIN_BUSY`] with work. Returns
    /// when to call this again, `None` if nothing is to change.
    pub(super) fn watch_if_idle_debounced(&mut self, is_idle: bool) -> Option<Instant> {
        if is_idle != self.is_idle {
            self.is_idle = is_idle;
            self.since = Instant::now();
        }
        if is_idle == self.is_watching {
            return None;
        }
        let change_at = self.since + if is_idle { MIN_IDLE } else { MIN_BUSY };
        if change_at > Instant::now() {
            return Some(change_at);
        }
        self.is_watching = is_idle;
        // Ignore a failure: without the thread, the worker polls.
        _ = self.orders.send(is_idle);
        None
    }
}

/// Watches for new jobs from each order `true` to the next `false`, until the worker has ended.
fn watch_for_jobs(core: &Core, orders: &Receiver<bool>, events: &Sender<Event>, waker: &Waker) {
    let mut is_wanted = false;
    loop {
        let order = if is_wanted {
            orders.recv_timeout(RETRY_INTERVAL)
        } else {
            orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match order {
            Ok(order) => is_wanted = order,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if !is_wanted {
            continue;
        }
        let Ok(notices) = core.subscribe_to_events(&[EventChannel::Log]) else {
            continue;
        };
        // A job may have been put before the subscription: report a put first, so that the worker pops.
        let mut event = Some(Event::Put(None));
        while is_wanted {
            if let Some(event) = event
                && events.send(event).is_ok()
            {
                waker.wake();
            }
            let until = Instant::now() + STOP_CHECK_INTERVAL;
            event = notices.next_put_queue(until).map(Event::Put);
            match orders.try_recv() {
                Ok(order) => is_wanted = order,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }
}
