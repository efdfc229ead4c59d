//! Subscriptions: what the core publishes on its channels, over a connection of their own.
//!
//! Redis delivers a message at most once, and none while the connection is broken. So a caller reads
//! the state after each [`Notice::Subscribed`], and takes a message as the reason to read again; or it
//! reports the gap.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::connect::PackedCommands;
use super::fault::Fault;
use super::retry_policy::Backoff;
use super::{Call, ConnectionSettings, Core, Value, error, server_error};
use crate::clock::moment::Moment;
use crate::error::{Error, Kind};
use crate::threads;

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

/// A report of a subscription.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The server publishes to this client from this moment on. Earlier messages may have been missed.
    Subscribed(Moment),
    /// The connection broke. Another one is opened.
    Lost(ConnectionLoss),
    Message(PublishedMessage),
}

/// A connection that broke.
#[derive(Debug)]
pub(crate) struct ConnectionLoss {
    /// When the server was last heard. Messages may have been missed since then.
    pub since: Moment,
    /// When the loss was noticed.
    pub at: Moment,
    pub reason: String,
}

/// A message as it was received.
#[derive(Debug)]
pub(crate) struct PublishedMessage {
    pub at: Moment,
    pub channel: Vec<u8>,
    pub text: Vec<u8>,
}

/// The number of notices that are kept for a caller that is busy. Then the thread stops reading, and
/// the server keeps the messages, or drops the connection.
const BACKLOG: usize = 100;

/// Time between two checks whether the subscription is still in use.
const USE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A caller that takes longer than this to accept a notice is busy: messages stand unread meanwhile.
const BUSY_CALLER_TIME: Duration = Duration::from_millis(100);

impl Core {
    /// A core for the same server that is not connected.
    pub(crate) fn unconnected_copy(&self) -> Core {
        let settings = ConnectionSettings {
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

    /// Subscribes to channels, until the deadline of calls at the latest. The server publishes to this client when
    /// this returns, so that a read afterwards misses no change.
    pub(crate) fn subscribe(&self, channels: Vec<Vec<u8>>) -> Result<Subscription, Error> {
        let core = self.unconnected_copy();
        let (outbox, notices) = sync_channel(BACKLOG);
        let open = Arc::new(());
        let broken_since = BrokenSince::default();
        let subscriber = Subscriber {
            core,
            channels,
            outbox,
            broken_since: Arc::clone(&broken_since),
            heard_at: None,
            behind_since: None,
            open: Arc::downgrade(&open),
        };
        threads::spawn(move || subscriber.run())?;
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        let left = self.caller_deadline.map_or(self.timeout, left);
        let patience = left.min(self.timeout);
        match notices.recv_timeout(patience) {
            Ok(Ok(_)) => Ok(Subscription {
                notices,
                broken_since,
                _open: open,
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(error::not_connected(
                Fault::TimedOut,
                &self.target,
                patience,
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

    /// The next notice, or why there are none any more; `None` if there is none until that time.
    pub(crate) fn next_notice(&self, until: Instant) -> Option<Result<Notice, Error>> {
        let timeout = until.saturating_duration_since(Instant::now());
        match self.notices.recv_timeout(timeout) {
            Ok(notice) => Some(notice),
            Err(RecvTimeoutError::Timeout) => None,
            // The server took the right to subscribe away: no notice will come, so wait as if none came.
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
    channels: Vec<Vec<u8>>,
    outbox: SyncSender<Result<Notice, Error>>,
    broken_since: BrokenSince,
    /// When the server was last heard on a connection that was subscribed and is not reported as lost.
    heard_at: Option<Moment>,
    /// Since when messages have stood unread because the caller was busy: a message read later may be as old as this.
    behind_since: Option<Moment>,
    open: Weak<()>,
}

/// Why a connection no longer delivers.
enum EndOfDelivery {
    Broken(Fault),
    /// The server refused, such as a user without the right.
    Refused(Error),
    /// The subscription was dropped.
    Unused,
}

/// A message from the server.
enum Received {
    /// A channel is subscribed.
    Confirmed,
    Message(PublishedMessage),
    /// The reply to a PING.
    Alive,
}

impl Subscriber {
    /// Subscribes, and subscribes again after each loss. Only the first attempt reports that it cannot connect.
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
                    EndOfDelivery::Broken(fault) => self.report_loss(fault),
                    EndOfDelivery::Refused(error)
                        if is_first || !error::is_temporary(&error, true) =>
                    {
                        return self.report_error(error);
                    }
                    EndOfDelivery::Refused(_) => self.report_loss(Fault::Closed),
                    EndOfDelivery::Unused => return,
                },
                Err(error) if is_first => return self.report_error(error),
                Err(_) => {}
            }
            backoff.wait_for_next_attempt(Instant::now() + USE_CHECK_INTERVAL);
        }
    }

    /// Notes when the connection broke, unless it was broken before; `None` notes that it is back.
    fn set_broken_since(&self, since: Option<Instant>) {
        let broken = self.broken_since.lock();
        let mut broken = broken.unwrap_or_else(PoisonError::into_inner);
        *broken = since.map(|since| broken.unwrap_or(since));
    }

    /// Reports that the connection broke. Reports nothing more until it is back.
    fn report_loss(&mut self, fault: Fault) {
        self.set_broken_since(Some(Instant::now()));
        let behind_since = self.behind_since.take();
        let Some(heard_at) = self.heard_at.take() else {
            return;
        };
        let since = behind_since.map_or(heard_at, |since| since.min(heard_at));
        let target = &self.core.target;
        let reason = match fault {
            Fault::Closed | Fault::Unreachable(..) => format!("lost `{target}`"),
            fault => {
                let error = error::not_connected(fault, target, self.core.timeout);
                error.message().into_owned()
            }
        };
        let at = self.core.now();
        // Sending fails if the caller has dropped the subscription: nobody needs the notice then.
        _ = self
            .outbox
            .send(Ok(Notice::Lost(ConnectionLoss { since, at, reason })));
    }

    /// Reports why there is no subscription.
    fn report_error(&self, error: Error) {
        // Sending fails if the caller no longer waits for the first notice: nobody needs the error then.
        _ = self.outbox.send(Err(error));
    }

    /// Subscribes on the open connection and passes on its messages.
    fn listen(&mut self, deadline: Instant) -> EndOfDelivery {
        let Some(connection) = self.core.connection.take() else {
            return EndOfDelivery::Broken(Fault::Closed);
        };
        let mut packed = PackedCommands::default();
        for channel in &self.channels {
            packed.add_command(&[&b"SUBSCRIBE"[..], channel]);
        }
        connection.send_and_listen(packed, deadline, self.core.timeout);
        let mut unconfirmed = self.channels.len();
        while self.open.strong_count() > 0 {
            let received = match connection.next_message(USE_CHECK_INTERVAL) {
                None => {
                    self.behind_since = None;
                    continue;
                }
                Some(Err(fault)) => return EndOfDelivery::Broken(fault),
                Some(Ok(value)) => self.read_message(value, unconfirmed == 0),
            };
            let now = self.core.now();
            let notice = match received {
                Err(error) => return EndOfDelivery::Refused(error),
                Ok(Received::Alive) => None,
                Ok(Received::Message(message)) => Some(Notice::Message(message)),
                Ok(Received::Confirmed) => {
                    unconfirmed = unconfirmed.saturating_sub(1);
                    (unconfirmed == 0).then_some(Notice::Subscribed(now))
                }
            };
            if unconfirmed == 0 {
                self.heard_at = Some(now);
                self.set_broken_since(None);
            }
            let begun = Instant::now();
            if let Some(notice) = notice
                && self.outbox.send(Ok(notice)).is_err()
            {
                return EndOfDelivery::Unused;
            }
            if begun.elapsed() > BUSY_CALLER_TIME {
                self.behind_since.get_or_insert(now);
            }
        }
        EndOfDelivery::Unused
    }

    /// Reads what the server sent. Once all channels are subscribed, an error is the reply to a PING: such a server
    /// is busy, or the user is not allowed to ask, but it is there.
    fn read_message(&self, value: Value, is_subscribed: bool) -> Result<Received, Error> {
        if let Some(refused) = server_error(&value) {
            if is_subscribed {
                return Ok(Received::Alive);
            }
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
        Ok(
            match (parts.next().as_deref(), parts.next(), parts.next()) {
                (Some(b"message"), Some(channel), Some(text)) => {
                    Received::Message(PublishedMessage {
                        at: self.core.now(),
                        channel,
                        text,
                    })
                }
                (Some(b"subscribe"), ..) => Received::Confirmed,
                _ => Received::Alive,
            },
        )
    }
}
