//! Subscriptions to the channels on which the core publishes. Each subscription has its own connection and thread.
//!
//! Redis delivers a message at most once, and delivers none while the connection is broken. So a caller that follows
//! the state of jobs reads that state after each [`SubscriptionNotice::Subscribed`], and again after each message. A
//! caller that shows the messages themselves reports the gap.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::connect::Fault;
use super::connect::WireEncodedCommands;
use super::dial::Backoff;
use super::{Call, ConnectionSettings, Core, Value, error, server_error};
use crate::clock::moment::Moment;
use crate::error::{Error, Kind};
use crate::threads;

/// A subscription to channels. Whenever the connection breaks, a thread connects and subscribes again, until the caller
/// drops this value.
#[derive(Debug)]
pub(crate) struct ReconnectingSubscription {
    notices: Receiver<Result<SubscriptionNotice, Error>>,
    broken_since: BrokenSince,
    /// The thread ends when this is dropped.
    _open: Arc<()>,
}

/// When the connection of a subscription broke; `None` while the subscription is in force.
type BrokenSince = Arc<Mutex<Option<Instant>>>;

/// A report of a subscription.
#[derive(Debug)]
pub(crate) enum SubscriptionNotice {
    /// The subscription is in force again from this moment on, after a new connection. Messages published before this
    /// moment may have been missed.
    Subscribed(Moment),
    /// The connection broke. The subscription's thread is opening another one.
    Lost(ConnectionLoss),
    Message(PublishedMessage),
}

/// A connection that broke.
#[derive(Debug)]
pub(crate) struct ConnectionLoss {
    /// When the last data arrived from the server. Messages published since then may have been missed.
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

/// Maximum number of unread notices kept for a busy caller. Above that, the thread stops reading: the server then
/// buffers the messages, or closes the connection.
const BACKLOG: usize = 100;

/// Time between two checks of a subscription's thread whether the caller has dropped the subscription.
const USE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A caller counts as busy if the thread waits longer than this to deliver a notice. Later messages stay unread
/// meanwhile.
const BUSY_CALLER_TIME: Duration = Duration::from_millis(100);

impl Core {
    /// A second `Core` with the settings and the route of this one, but without a connection.
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

    /// Starts a subscription to channels, and waits until the server has confirmed it, within the timeout of a call. So
    /// a caller that reads the state of jobs after this misses no change.
    pub(crate) fn subscribe(
        &self,
        channels: Vec<Vec<u8>>,
    ) -> Result<ReconnectingSubscription, Error> {
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
        threads::spawn(move || subscriber.keep_subscribed())?;
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        let left = self.caller_deadline.map_or(self.timeout, left);
        let patience = left.min(self.timeout);
        match notices.recv_timeout(patience) {
            Ok(Ok(_)) => Ok(ReconnectingSubscription {
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

impl ReconnectingSubscription {
    /// Since when the connection of the subscription has been broken; `None` if it is not broken.
    pub(crate) fn broken_since(&self) -> Option<Instant> {
        *self
            .broken_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next notice until a time; `None` if none came. An error means that the subscription has ended: the
    /// server refused to renew it.
    pub(crate) fn next_notice(&self, until: Instant) -> Option<Result<SubscriptionNotice, Error>> {
        let timeout = until.saturating_duration_since(Instant::now());
        match self.notices.recv_timeout(timeout) {
            Ok(notice) => Some(notice),
            Err(RecvTimeoutError::Timeout) => None,
            // The thread has ended after an error that the caller has received. No further notice will come: sleep, so
            // that a caller that asks again and again does not spin.
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
    outbox: SyncSender<Result<SubscriptionNotice, Error>>,
    broken_since: BrokenSince,
    /// When the last data arrived from the server over a subscribed connection: the gap that the report of a loss names
    /// begins here. `None` once a loss is reported.
    heard_at: Option<Moment>,
    /// Since when messages have stayed unread because the caller was busy. A message that is read now may be from
    /// that time, so a gap that is reported begins no later.
    behind_since: Option<Moment>,
    open: Weak<()>,
}

/// Why a connection no longer delivers.
enum EndOfDelivery {
    Broken(Fault),
    /// The server refused the subscription, for example because the user lacks the right.
    Refused(Error),
    /// The subscription was dropped.
    Unused,
}

/// A message from the server.
enum ServerMessage {
    /// A channel is subscribed.
    Confirmed,
    Message(PublishedMessage),
    /// The reply to a PING.
    Alive,
}

impl Subscriber {
    /// The main loop of the thread: connects, subscribes and delivers notices, again after each loss. A failure to
    /// connect is an error only in the first attempt.
    fn keep_subscribed(mut self) {
        let mut backoff = Backoff::default();
        while self.open.strong_count() > 0 {
            let is_first = !self.core.was_connected;
            let deadline = Instant::now() + self.core.timeout;
            match self
                .core
                .open_connection_with_retries(deadline, &mut Backoff::default())
            {
                Ok(()) => match self.subscribe_and_forward(deadline) {
                    EndOfDelivery::Broken(fault) => self.report_loss(fault),
                    EndOfDelivery::Refused(error)
                        if is_first || !error::may_connect_soon(&error, true) =>
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

    /// Records when the connection broke, unless it was broken already. `None` records that it works again.
    fn note_break_or_recovery(&self, since: Option<Instant>) {
        let broken = self.broken_since.lock();
        let mut broken = broken.unwrap_or_else(PoisonError::into_inner);
        *broken = since.map(|since| broken.unwrap_or(since));
    }

    /// Sends the caller a notice that the connection broke, once until the subscription is in force again.
    fn report_loss(&mut self, fault: Fault) {
        self.note_break_or_recovery(Some(Instant::now()));
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
        // Ignore a failure: the caller has dropped the subscription and needs no notice.
        _ = self
            .outbox
            .send(Ok(SubscriptionNotice::Lost(ConnectionLoss {
                since,
                at,
                reason,
            })));
    }

    /// Reports why there is no subscription.
    fn report_error(&self, error: Error) {
        // Ignore a failure: the caller no longer waits for the subscription and needs no error.
        _ = self.outbox.send(Err(error));
    }

    /// Subscribes on the open connection, and delivers its messages to the caller until delivery ends.
    fn subscribe_and_forward(&mut self, deadline: Instant) -> EndOfDelivery {
        let Some(connection) = self.core.connection.take() else {
            return EndOfDelivery::Broken(Fault::Closed);
        };
        let mut packed = WireEncodedCommands::default();
        for channel in &self.channels {
            packed.add_command(&[&b"SUBSCRIBE"[..], channel]);
        }
        connection.send_and_listen_for_messages(packed, deadline, self.core.timeout);
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
                Ok(ServerMessage::Alive) => None,
                Ok(ServerMessage::Message(message)) => Some(SubscriptionNotice::Message(message)),
                Ok(ServerMessage::Confirmed) => {
                    unconfirmed = unconfirmed.saturating_sub(1);
                    (unconfirmed == 0).then_some(SubscriptionNotice::Subscribed(now))
                }
            };
            if unconfirmed == 0 {
                self.heard_at = Some(now);
                self.note_break_or_recovery(None);
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

    /// Interprets one value from the server. Once all channels are subscribed, an error can only be the reply to a
    /// PING. The server is then busy, or the user lacks the right to PING; either way the server is alive.
    fn read_message(&self, value: Value, is_subscribed: bool) -> Result<ServerMessage, Error> {
        if let Some(refused) = server_error(&value) {
            if is_subscribed {
                return Ok(ServerMessage::Alive);
            }
            let call = Call::redis_read_command("SUBSCRIBE").args(&self.channels);
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
                    ServerMessage::Message(PublishedMessage {
                        at: self.core.now(),
                        channel,
                        text,
                    })
                }
                (Some(b"subscribe"), ..) => ServerMessage::Confirmed,
                _ => ServerMessage::Alive,
            },
        )
    }
}
