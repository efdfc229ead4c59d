//! The events that the core publishes.

use std::time::Instant;

use crate::clock::moment::Moment;
use crate::core::call::{
    ConnectionLoss, Core, PublishedMessage, ReconnectingSubscription, SubscriptionNotice,
};
use crate::core::script::keys::{self, Keys};
use crate::error::Error;
use crate::json::{Json, field_value};
use crate::model::event::{Event, EventChannel, EventKind};
use crate::name::Name;

/// A subscription to events.
#[derive(Debug)]
pub(crate) struct EventStream {
    subscription: ReconnectingSubscription,
    prefix: String,
}

/// An item of an event stream.
#[derive(Debug)]
pub(crate) enum EventOrConnectionChange {
    /// The connection was lost. Events may be missed from now on.
    Lost(ConnectionLoss),
    /// The server publishes events to this client from now on. Earlier events may have been missed.
    Back(Moment),
    Event(Box<Event>),
}

impl Core {
    pub(crate) fn subscribe_to_events(
        &self,
        sources: &[EventChannel],
    ) -> Result<EventStream, Error> {
        let keys = Keys::new(self.prefix());
        let channels = sources.iter().flat_map(|source| match source {
            EventChannel::Log => vec![keys.channel_name(keys::ON_LOG)],
            EventChannel::Extensions => vec![keys.channel_name(keys::ON_EXT)],
            EventChannel::Worker(worker) => vec![keys.worker_channel(worker.as_bytes())],
            EventChannel::Tracked => {
                let kinds = EventChannel::Tracked.published_kinds().iter();
                kinds
                    .map(|kind| keys.channel_name(kind.into_str()))
                    .collect()
            }
        });
        Ok(EventStream {
            subscription: self.subscribe(channels.collect())?,
            prefix: self.prefix().to_owned(),
        })
    }
}

impl EventStream {
    /// When the connection broke; `None` if it works.
    pub(crate) fn broken_since(&self) -> Option<Instant> {
        self.subscription.broken_since()
    }

    /// The next event, or the error that ended the stream; `None` if no event comes by `until`.
    pub(crate) fn next_event(
        &self,
        until: Instant,
    ) -> Option<Result<EventOrConnectionChange, Error>> {
        let notice = self.subscription.next_notice(until)?;
        Some(notice.map(|notice| match notice {
            SubscriptionNotice::Lost(loss) => EventOrConnectionChange::Lost(loss),
            SubscriptionNotice::Subscribed(at) => EventOrConnectionChange::Back(at),
            SubscriptionNotice::Message(message) => {
                EventOrConnectionChange::Event(Box::new(read_event(&message, &self.prefix)))
            }
        }))
    }

    /// The queue of the next job that is put, in a stream of [`EventChannel::Log`]. `Some(None)` if the server
    /// publishes events from now on, since jobs may have been put before; `None` if nothing comes by `until`, or if the
    /// stream has failed.
    pub(crate) fn next_put_queue(&self, until: Instant) -> Option<Option<Name>> {
        loop {
            match self.subscription.next_notice(until)?.ok()? {
                SubscriptionNotice::Lost(_) => {}
                SubscriptionNotice::Subscribed(_) => return Some(None),
                SubscriptionNotice::Message(PublishedMessage { text, .. }) => {
                    // Most messages are about other events. To save time, search the text first and decode it only if
                    // it may be a put.
                    let event = br#""event":"put""#;
                    if text.windows(event.len()).any(|part| part == event)
                        && let Some(queue) = event_text_field(&text, "queue")
                    {
                        return Some(Some(queue));
                    }
                }
            }
        }
    }
}

fn event_text_field(text: &[u8], name: &str) -> Option<Name> {
    field_value(&Json::parse(text)?.object()?, name)?.text()
}

/// Reads a message as an event. A message of another form becomes an event of kind `unknown`, with its whole
/// text in `raw`.
fn read_event(message: &PublishedMessage, prefix: &str) -> Event {
    let PublishedMessage { at, channel, text } = message;
    let channel = channel.strip_prefix(prefix.as_bytes()).unwrap_or(channel);
    let mut event = match kind_of_tracked_channel(channel) {
        Some(kind) => {
            let mut event = Event::new(*at, kind);
            event.jid = Some(Name::from(text.as_slice()));
            event
        }
        None => read_event_fields(*at, text),
    };
    event.channel = Some(Name::from(channel));
    event
}

/// The kind of the events on a channel of tracked jobs, which has the name of that kind; `None` for other channels.
fn kind_of_tracked_channel(channel: &[u8]) -> Option<EventKind> {
    let mut kinds = EventChannel::Tracked.published_kinds().iter();
    kinds
        .find(|kind| kind.into_str().as_bytes() == channel)
        .copied()
}

fn read_event_fields(at: Moment, text: &[u8]) -> Event {
    let mut event = Event::new(at, EventKind::Unknown);
    let fields = Json::parse(text).and_then(|json| json.object());
    let mut is_whole = fields.is_some();
    for (name, value) in fields.unwrap_or_default() {
        if name.as_bytes() == b"event" {
            let word = value.text();
            let kind = word.as_ref().and_then(Name::as_str);
            let kind = kind.and_then(|word| word.parse::<EventKind>().ok());
            let kind = kind.filter(|kind| kind.is_published());
            event.event = kind.unwrap_or(EventKind::Unknown);
        } else if let Some(field) = event.field_mut(name.as_bytes())
            && let Some(text) = nullable_scalar_text(&value)
        {
            // If no worker holds the job, the event has the worker `""`: leave that field out.
            let is_nobody = |text: &Name| text.is_empty() && name.as_bytes() == b"worker";
            *field = text.filter(|text| !is_nobody(text));
        } else {
            is_whole = false;
        }
    }
    if !is_whole || event.event == EventKind::Unknown {
        event.raw = Some(Name::from(text));
    }
    event
}

/// The text of a field that is a text or a number. `Some(None)` for `false` and `null`, which stand for an absent text;
/// `None` for any other value.
fn nullable_scalar_text(value: &Json) -> Option<Option<Name>> {
    let line = value.to_single_line();
    match (value.text(), line.as_bytes()) {
        (Some(text), _) => Some(Some(text)),
        (None, b"false" | b"null") => Some(None),
        (None, _) => value.number().map(|_| Some(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(channel: &str, text: &[u8]) -> Event {
        let message = PublishedMessage {
            at: Moment::from_micros(0),
            channel: channel.into(),
            text: text.into(),
        };
        read_event(&message, "ql:")
    }

    fn named(kind: EventKind, channel: &str, jid: &[u8]) -> Event {
        let mut event = Event::new(Moment::from_micros(0), kind);
        event.channel = Some(Name::from(channel));
        event.jid = Some(Name::from(jid));
        event
    }

    #[test]
    fn each_channel_of_tracked_jobs_has_a_kind() {
        let channels = [
            keys::ON_PUT,
            keys::ON_POPPED,
            keys::ON_COMPLETED,
            keys::ON_FAILED,
            keys::ON_STALLED,
            keys::ON_CANCELED,
            keys::ON_TRACK,
            keys::ON_UNTRACK,
        ];
        let words = EventChannel::Tracked.published_kinds().iter();
        let words: Vec<&str> = words.map(EventKind::into_str).collect();
        assert_eq!(words, channels);
    }

    #[test]
    fn an_event_names_its_job_byte_for_byte() {
        let completed = br#"{"jid":"j","event":"completed","queue":"q"}"#;
        let mut expected = named(EventKind::Completed, "log", b"j");
        expected.queue = Some(Name::from("q"));
        assert_eq!(read("ql:log", completed), expected);
        let cancelled =
            b"{\"jid\":\"a\xff\",\"queue\":false,\"event\":\"canceled\",\"worker\":\"\"}";
        let expected = named(EventKind::Canceled, "log", b"a\xff");
        assert_eq!(read("ql:log", cancelled), expected);
        let popped = named(EventKind::Popped, "popped", b"{\xff");
        assert_eq!(read("ql:popped", b"{\xff"), popped);
    }
}
