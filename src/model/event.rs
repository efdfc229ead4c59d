//! The events that `qless events` prints: those that the core publishes, and gaps in the connection.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::text::failure_summary_line;
use crate::view::document::DocumentKind;
use crate::view::paint::Style;
use crate::view::table::{Cell, Column, Heading, Table, column_headings};
use crate::view::{RenderOptions, View};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr, EnumString, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(crate) enum EventKind {
    Put,
    /// Of tracked jobs only.
    Popped,
    /// Completed, and put into another queue.
    Advanced,
    /// The job is complete, and may be deleted immediately. On the channel of tracked jobs, this is also the event of a
    /// job that advanced.
    Completed,
    Failed,
    /// The lock of a tracked job expired.
    Stalled,
    /// A worker lost the lock of its job.
    LockLost,
    /// Deleted.
    Canceled,
    Track,
    Untrack,
    /// The job waits for a slot of a throttle.
    Throttled,
    /// The job became a part of another one.
    Merged,
    /// A put did nothing, because its lane already has a job.
    Skipped,
    ConfigSet,
    ConfigUnset,
    /// A message that is none of these.
    Unknown,
    /// The connection to the server was lost. This event comes from `qless`, not from the server.
    Gap,
    /// The connection to the server is back. This event comes from `qless`, not from the server.
    Resumed,
}

impl EventKind {
    /// Whether the event comes from the server. Gap and resumed events come from `qless` itself.
    pub(crate) fn is_published(self) -> bool {
        !matches!(self, EventKind::Gap | EventKind::Resumed)
    }

    /// Whether the message of the event names a job. True for an unknown message, which may name one.
    pub(crate) fn names_job(self) -> bool {
        !matches!(self, EventKind::ConfigSet | EventKind::ConfigUnset)
    }

    fn event_style(self) -> Option<Style> {
        match self {
            EventKind::Failed => Some(Style::Red),
            EventKind::Stalled | EventKind::LockLost | EventKind::Throttled => Some(Style::Yellow),
            EventKind::Completed => Some(Style::Dim),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventChannel {
    /// All changes of jobs and of the configuration.
    Log,
    /// The events that only the core of this program publishes, not the reference core.
    Extensions,
    /// Changes of tracked jobs. The server has one channel for each kind of event, and each message is a jid.
    Tracked,
    /// Changes of jobs that this worker holds.
    Worker(Name),
}

impl EventChannel {
    /// The kinds of events that the core publishes on the channel.
    pub(crate) const fn published_kinds(&self) -> &'static [EventKind] {
        use EventKind::*;
        match self {
            EventChannel::Log => &[
                Put,
                Advanced,
                Completed,
                Failed,
                LockLost,
                Canceled,
                ConfigSet,
                ConfigUnset,
                Unknown,
            ],
            EventChannel::Extensions => &[Throttled, Merged, Skipped, Unknown],
            EventChannel::Tracked => &[
                Put, Popped, Completed, Failed, Stalled, Canceled, Track, Untrack,
            ],
            EventChannel::Worker(_) => &[LockLost, Canceled, Unknown],
        }
    }

    /// Whether a message of this kind on this channel names a queue. True for an unknown message, which may name one.
    pub(crate) const fn message_names_queue(&self, kind: EventKind) -> bool {
        use EventKind::*;
        match self {
            EventChannel::Tracked => false,
            _ => matches!(
                kind,
                Put | Advanced | Completed | Canceled | Throttled | Skipped | Unknown
            ),
        }
    }
}

/// An event. Fields that its message does not have are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Event {
    /// When `qless` received the event, by the server's clock
    pub at: Moment,
    /// One of put, popped, advanced, completed, failed, stalled, lock_lost, canceled, track, untrack,
    /// throttled, merged, skipped, config_set, config_unset; unknown: a message that is none of these; gap:
    /// the connection was lost, and events may be missing; resumed: it is back
    #[schemars(with = "String")]
    pub event: EventKind,
    /// The job's id
    pub jid: Option<Name>,
    /// The job's queue
    pub queue: Option<Name>,
    /// The worker that held the job
    pub worker: Option<Name>,
    /// The group of the failure
    pub group: Option<Name>,
    /// The message of the failure; of a gap: why the connection was lost
    pub message: Option<Name>,
    /// The queue that an advanced job went on to
    pub to: Option<Name>,
    /// The changed option of the configuration
    pub option: Option<Name>,
    /// The new value of the option
    pub value: Option<Name>,
    /// The throttle that holds the job
    pub throttle: Option<Name>,
    /// The job that a merged job became a part of
    pub into: Option<Name>,
    /// The lane whose job prevented the put
    pub key: Option<Name>,
    /// Since when events may be missing; null unless the event is gap or resumed
    pub since: Option<Moment>,
    /// The channel, without the prefix; null for gap and resumed
    pub channel: Option<Name>,
    /// The whole message, if it has more than these fields or is unknown; else null
    pub raw: Option<Name>,
}

impl Event {
    /// An event of which nothing else is known.
    pub(crate) fn new(at: Moment, event: EventKind) -> Event {
        Event {
            at,
            event,
            jid: None,
            queue: None,
            worker: None,
            group: None,
            message: None,
            to: None,
            option: None,
            value: None,
            throttle: None,
            into: None,
            key: None,
            since: None,
            channel: None,
            raw: None,
        }
    }

    /// The field of the event for a key of the message.
    pub(crate) fn field_mut(&mut self, member: &[u8]) -> Option<&mut Option<Name>> {
        Some(match member {
            b"jid" => &mut self.jid,
            b"queue" => &mut self.queue,
            b"worker" => &mut self.worker,
            b"group" => &mut self.group,
            b"message" => &mut self.message,
            b"to" => &mut self.to,
            b"option" => &mut self.option,
            b"value" => &mut self.value,
            b"throttle" => &mut self.throttle,
            b"into" => &mut self.into,
            b"key" => &mut self.key,
            _ => return None,
        })
    }

    /// The cell of the detail column, such as the failure of a failed job.
    fn event_detail_cell(&self) -> Cell {
        let joined = |one: &Option<Name>, other: &[u8], between: &str| {
            let one = one.as_ref().map_or(&b""[..], Name::as_bytes);
            Cell::text([one, between.as_bytes(), other].concat())
        };
        let message = self.message.as_ref().map(Name::as_bytes);
        let value = self.value.as_ref().map_or(&b""[..], Name::as_bytes);
        match self.event {
            _ if self.raw.is_some() => Cell::text_or_missing(self.raw.as_ref()),
            EventKind::Failed => match message {
                Some(message) => joined(&self.group, failure_summary_line(message), ": "),
                None => Cell::text_or_missing(self.group.as_ref()),
            },
            EventKind::ConfigSet => joined(&self.option, value, " "),
            EventKind::ConfigUnset => Cell::text_or_missing(self.option.as_ref()),
            EventKind::Advanced => Cell::text_or_missing(self.to.as_ref()),
            EventKind::Throttled => Cell::text_or_missing(self.throttle.as_ref()),
            EventKind::Merged => Cell::text_or_missing(self.into.as_ref()),
            EventKind::Skipped => Cell::text_or_missing(self.key.as_ref()),
            EventKind::LockLost => Cell::text_or_missing(self.worker.as_ref()),
            // The cell is empty if the message names no worker.
            _ => self.worker.as_ref().map_or(Cell::text(""), Cell::text),
        }
    }

    const COLUMNS: &'static [Column<Event>] = &[
        Column::of_text("TIME", |event: &Event, options| {
            Cell::sorted_by(event.at.seconds(), options.time_of_day(event.at))
        }),
        Column::of_text("EVENT", |event: &Event, _| {
            Cell::text(event.event.into_str()).with_style(event.event.event_style())
        })
        .min_width(9),
        Column::of_text("QUEUE", |event: &Event, _| {
            Cell::text_or_missing(event.queue.as_ref())
        })
        .min_width(6),
        Column::of_text("JID", |event: &Event, _| {
            Cell::text_or_missing(event.jid.as_ref())
        }),
        Column::of_text("WORKER", |event: &Event, _| {
            Cell::text_or_missing(event.worker.as_ref())
        })
        .only_if_requested(),
        Column::of_text("CHANNEL", |event: &Event, _| {
            Cell::text_or_missing(event.channel.as_ref())
        })
        .only_if_requested(),
        Column::of_free_text("DETAIL", |event, _| event.event_detail_cell()),
    ];
}

impl View for Event {
    const DOCUMENT: DocumentKind = DocumentKind::new::<Event>(
        "event",
        "What the core publishes, as lines of ndjson: events",
    );

    fn headings() -> Vec<Heading> {
        column_headings(Event::COLUMNS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        Table::new(Event::COLUMNS, [self], options).into_text(options)
    }

    fn table(&self, options: &RenderOptions) -> Option<Table> {
        Some(Table::new(Event::COLUMNS, [self], options))
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(self.jid.iter().collect())
    }
}
