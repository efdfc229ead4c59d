//! Subscriptions: what the core publishes on its channels, over a connection of their own.
//!
//! Redis delivers a message at most once, and none while the connection is broken. So a caller reads
//! the state after each [`Notice::Subscribed`], and takes a message as the reason to read again.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::connect::PackedCommands;
use super::fault::Fault;
use super::retry_policy::Backoff;
use super::{Call, Core, CoreSettings, Value, error, server_error};
use crate::error::{Error, Kind};

/// A subscription to channels. A thread subscribes again when the connection breaks, until the
/// subscription is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    notices: Receiver<Result<Notice, Error>>,
    broken_since: BrokenSince,
    /// The thread ends when this is dropped.
    _open: Arc<()>,
}

/// When the connection of a subscription broke; `None` while the server publishes to it.
type BrokenSince = Arc<Mutex<Option<Instant>>>;

/// What a subscription reports.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The server publishes to this client from now on. Earlier messages may have been missed.
    Subscribed,
    /// A message.
    Message(Vec<u8>),
}

/// The number of notices that are kept for a caller that is busy. Then the thread stops reading, and
/// the server keeps the messages, or drops the connection.
const BACKLOG: usize = 1000;

/// Time between two checks whether the subscription is still in use.
const CHECK: Duration = Duration::from_secs(1);

impl Core {
    /// A core for the same server that is not connected.
    pub(crate) fn unconnected_copy(&self) -> Core {
        let settings = CoreSettings {
            target: self.target.clone(),
            prefix: self.prefix().to_owned(),
            name: self.name.clone(),
            timeout: self.timeout,
            clock: self.clock.clone(),
            trace: self.trace,
            read_only: self.read_only,
            writes: false,
            asks_for_eviction: false,
        };
        Core {
            route: self.route.clone(),
            ..Core::unconnected(settings, self.tls.clone())
        }
    }

    /// Subscribes to channels. The server publishes to this client when this returns, so that a read
    /// afterwards misses no change.
    pub(crate) fn subscribe(&self, channels: Vec<String>) -> Result<Subscription, Error> {
        let core = self.unconnected_copy();
        let (outbox, notices) = sync_channel(BACKLOG);
        let open = Arc::new(());
        let broken_since = BrokenSince::default();
        let subscriber = Subscriber {
            core,
            channels,
            outbox,
            broken_since: Arc::clone(&broken_since),
            open: Arc::downgrade(&open),
        };
        thread::spawn(move || subscriber.run());
        match notices.recv_timeout(self.timeout) {
            Ok(Ok(_)) => Ok(Subscription {
                notices,
                broken_since,
                _open: open,
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(error::not_connected(
                Fault::TimedOut,
                &self.target,
                self.timeout,
            )),
        }
    }
}

impl Subscription {
    /// Since when the connection has been broken, if it is.
    pub(crate) fn broken_since(&self) -> Option<Instant> {
        *self
            .broken_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next notice; `None` if there is none until that time.
    pub(crate) fn next_notice(&self, until: Instant) -> Option<Notice> {
        let timeout = until.saturating_duration_since(Instant::now());
        match self.notices.recv_timeout(timeout) {
            Ok(notice) => notice.ok(),
            Err(RecvTimeoutError::Timeout) => None,
            // The server took the right to subscribe away.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(until.saturating_duration_since(Instant::now()));
                None
            }
        }
    }
}

/// The thread of a subscription.
struct Subscriber {
    core: Core,
    channels: Vec<String>,
    outbox: SyncSender<Result<Notice, Error>>,
    broken_since: BrokenSince,
    open: Weak<()>,
}

/// Why a connection no longer delivers.
enum EndOfDelivery {
    Broken,
    /// The server refused, such as a user without the right.
    Refused(Error),
    /// The subscription was dropped.
    Unused,
}

impl Subscriber {
    /// Subscribes again and again. Only the first attempt reports that it cannot connect.
    fn run(mut self) {
        let mut backoff = Backoff::default();
        while self.open.strong_count() > 0 {
            let is_first = !self.core.was_connected;
            let deadline = Instant::now() + self.core.timeout;
            match self
                .core
                .dial_with_retries(deadline, &mut Backoff::default())
            {
                Ok(()) => match self.listen(deadline) {
                    EndOfDelivery::Broken => self.set_broken_since(Some(Instant::now())),
                    EndOfDelivery::Refused(error) => return self.report_error(error),
                    EndOfDelivery::Unused => return,
                },
                Err(error) if is_first => return self.report_error(error),
                Err(_) => {}
            }
            backoff.wait(Instant::now() + CHECK);
        }
    }

    /// Notes that the connection broke, unless it was broken before, or that it is back.
    fn set_broken_since(&self, since: Option<Instant>) {
        let broken = self.broken_since.lock();
        let mut broken = broken.unwrap_or_else(PoisonError::into_inner);
        *broken = since.map(|since| broken.unwrap_or(since));
    }

    /// Reports why there is no subscription.
    fn report_error(&self, error: Error) {
        // The caller may have stopped waiting for the first notice.
        _ = self.outbox.send(Err(error));
    }

    /// Subscribes on the open connection and passes on its messages.
    fn listen(&mut self, deadline: Instant) -> EndOfDelivery {
        let Some(connection) = self.core.connection.take() else {
            return EndOfDelivery::Broken;
        };
        let mut packed = PackedCommands::default();
        for channel in &self.channels {
            packed.add_command(&["SUBSCRIBE", channel]);
        }
        connection.send_and_listen(packed, deadline);
        let mut confirmed = 0;
        while self.open.strong_count() > 0 {
            let notice = match connection.next_message(CHECK) {
                None => continue,
                Some(Err(_)) => return EndOfDelivery::Broken,
                Some(Ok(value)) => match self.read_message(value) {
                    Ok(Some(notice)) => notice,
                    Ok(None) => {
                        confirmed += 1;
                        if confirmed < self.channels.len() {
                            continue;
                        }
                        self.set_broken_since(None);
                        Notice::Subscribed
                    }
                    Err(error) => return EndOfDelivery::Refused(error),
                },
            };
            if self.outbox.send(Ok(notice)).is_err() {
                return EndOfDelivery::Unused;
            }
        }
        EndOfDelivery::Unused
    }

    /// Reads a message; `None` stands for the confirmation of a channel.
    fn read_message(&self, value: Value) -> Result<Option<Notice>, Error> {
        if let Some(refused) = server_error(&value) {
            let call = Call::redis_command("SUBSCRIBE").args(&self.channels);
            let (target, script) = (&self.core.target, &self.core.script);
            return Err(error::call_refused(&refused, &call, target, script));
        }
        let Value::Array(parts) = value else {
            return Err(Error::new(Kind::Protocol, "a message is not a list"));
        };
        let mut parts = parts.into_iter().map(|part| match part {
            Value::BulkString(bytes) => bytes,
            _ => Vec::new(),
        });
        match (parts.next().as_deref(), parts.next(), parts.next()) {
            (Some(b"message"), Some(_), Some(text)) => Ok(Some(Notice::Message(text))),
            _ => Ok(None),
        }
    }
}
