//! The stream of `qless events`: shows each event when it arrives, and reports when events may have been missed. If a
//! context names several prefixes or servers (members), each member has a stream.

pub(crate) mod filter;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::format::Format;
use crate::args::moment::{self, MomentArg};
use crate::args::value;
use crate::clock::Stopwatch;
use crate::clock::moment::Moment;
use crate::core::api::event::{EventOrConnectionChange, EventStream};
use crate::core::call::{ConnectionLoss, may_answer_later};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::interrupt::InterruptFlags;
use crate::model::event::{Event, EventKind};
use crate::name::Name;
use crate::session::{Session, SharedStreamCounters};
use crate::text::{format_count, format_duration_tenths_below_second};

use filter::EventFilter;

/// The flags that say when the stream ends.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EventLimits {
    /// End after this number of events
    #[arg(long, value_name = "N", value_parser = value::at_least_one)]
    count: Option<u64>,
    /// End after this time, such as `10m`, or at this time, such as `06:00`
    #[arg(long, value_name = "D|T", value_parser = moment::parse_deadline)]
    deadline: Option<MomentArg>,
}

/// Time between two checks whether a signal has arrived or the deadline has passed.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The time that the command gets to end by itself after a signal. Then the process exits.
const TIME_AFTER_SIGNAL: Duration = Duration::from_millis(500);

/// Time between two attempts to reach the server of a member (one of several servers or prefixes) that was not reached
/// at the start.
const MEMBER_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum time for the first connection to a server, even if the deadline of the stream is nearer.
const MIN_CONNECT_TIME: Duration = Duration::from_secs(1);

/// Shows events until a limit is reached, or a signal comes.
pub(crate) fn show_events_until_limit(
    filter: &EventFilter,
    limits: &EventLimits,
    session: &mut Session,
) -> Result<Exit, Error> {
    let interrupt = InterruptFlags::install_handlers_once();
    interrupt.spawn_exit_after_signal(TIME_AFTER_SIGNAL)?;
    let mut watcher = EventWatcher {
        filter,
        count: limits.count,
        time_left_at_start: None,
        deadline: None,
        interrupt,
        members_must_stop: session.members_must_stop_flag(),
        shared_stream: session.shared_stream_counters(),
    };
    watcher.set_deadline(limits, session.now());
    let opened =
        session.ensure_connected_within(watcher.subscribe_attempt_timeout(MIN_CONNECT_TIME));
    let connected = opened.and_then(|()| session.connect());
    if let Ok(now) = connected {
        watcher.set_deadline(limits, now);
    }
    let stream = connected.and_then(|_| watcher.subscribe(MIN_CONNECT_TIME, session));
    let ended = watcher.show_events_retrying_connection(stream, session);
    if let Err(error) = &ended
        && error.exit() == Exit::Server
    {
        // The server of this member failed for good: end the streams of the other members, too.
        watcher.members_must_stop.store(true, Ordering::Relaxed);
    }
    ended
}

/// The conditions that end the stream.
struct EventWatcher<'e> {
    filter: &'e EventFilter,
    count: Option<u64>,
    /// The time from the start of the stream to its deadline.
    time_left_at_start: Option<Duration>,
    deadline: Option<Instant>,
    interrupt: InterruptFlags,
    /// A flag that ends the streams of all members, which share it.
    members_must_stop: Arc<AtomicBool>,
    shared_stream: Arc<SharedStreamCounters>,
}

/// A time for which events were missed.
struct EventGap {
    since: Moment,
    /// The seconds from the start of the gap until `qless` noticed it.
    unnoticed_s: f64,
    noticed: Stopwatch,
}

impl EventWatcher<'_> {
    /// Sets the deadline of the stream, counted from `now`. Before the first connection, `now` is the time of this
    /// host; after it, the time of the server.
    fn set_deadline(&mut self, limits: &EventLimits, now: Moment) {
        self.time_left_at_start = limits.deadline.as_ref().map(|at| at.time_left(now));
        self.deadline = self
            .time_left_at_start
            .and_then(|left| Instant::now().checked_add(left));
    }

    /// The time that an attempt to subscribe may take: until the deadline, but at least `min_timeout`. Without a deadline, it is
    /// unlimited.
    fn subscribe_attempt_timeout(&self, min_timeout: Duration) -> Duration {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        self.deadline.map_or(Duration::MAX, left).max(min_timeout)
    }

    /// Subscribes to the channels, over a connection that only the stream uses. Gives up at the deadline, or after
    /// `min_timeout` if that is later.
    fn subscribe(
        &self,
        min_timeout: Duration,
        session: &mut Session,
    ) -> Result<EventStream, Error> {
        let limit = self.subscribe_attempt_timeout(min_timeout);
        let end = Instant::now().checked_add(limit);
        session.ensure_connected_within(limit)?;
        let mut core = session.take_or_open_core()?;
        core.limit_calls_until(end);
        core.subscribe_to_events(&self.filter.sources)
    }

    /// Shows the events of the stream until it ends. If the server was not reached, this reports a gap and tries again,
    /// as long as the server of another member may be reached.
    fn show_events_retrying_connection(
        &self,
        stream: Result<EventStream, Error>,
        session: &mut Session,
    ) -> Result<Exit, Error> {
        let (stream, gap) = match stream {
            Ok(stream) => (stream, None),
            Err(error) if may_answer_later(&error) => {
                session.count_as_not_yet_reached();
                if !session.is_any_member_reachable() {
                    return Err(error);
                }
                let since = session.now();
                let reason = error.message().into_owned();
                let loss = ConnectionLoss {
                    since,
                    at: since,
                    reason,
                };
                let gap = self.report_gap(&loss, session)?;
                match self.subscribe_again_until_reached(error, session)? {
                    Some(stream) => (stream, Some(gap)),
                    None => return Ok(Exit::Partial),
                }
            }
            Err(error) => return Err(error),
        };
        if let Some(gap) = gap {
            self.report_reconnection(gap, session.now(), session)?;
        } else {
            session.ui.note_to_people("events from now on; Ctrl-C ends");
        }
        self.show_events(&stream, session)
    }

    /// Tries to subscribe until the server can be reached; `None` if the stream ends before that. If the server of no
    /// member can be reached any more, the result is `first`, the error of the first attempt.
    fn subscribe_again_until_reached(
        &self,
        first: Error,
        session: &mut Session,
    ) -> Result<Option<EventStream>, Error> {
        loop {
            let again = Instant::now() + MEMBER_RETRY_INTERVAL;
            while Instant::now() < again {
                if !session.is_any_member_reachable() {
                    return Err(first);
                }
                if self.exit_if_ended()?.is_some() {
                    return Ok(None);
                }
                thread::sleep(SIGNAL_CHECK_INTERVAL);
            }
            match self.subscribe(Duration::ZERO, session) {
                Ok(stream) => {
                    session.count_as_reached();
                    return Ok(Some(stream));
                }
                Err(error) if may_answer_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn show_events(&self, stream: &EventStream, session: &mut Session) -> Result<Exit, Error> {
        let mut gap = None;
        loop {
            if let Some(exit) = self.exit_if_ended()? {
                return Ok(exit);
            }
            let until = Instant::now() + SIGNAL_CHECK_INTERVAL;
            let until = self.deadline.map_or(until, |deadline| until.min(deadline));
            match stream.next_event(until).transpose()? {
                None => {}
                Some(EventOrConnectionChange::Lost(loss)) => {
                    gap = Some(self.report_gap(&loss, session)?);
                }
                Some(EventOrConnectionChange::Back(at)) => {
                    if let Some(gap) = gap.take() {
                        self.report_reconnection(gap, at, session)?;
                    }
                }
                Some(EventOrConnectionChange::Event(event)) => {
                    self.show_event_if_matches(&event, session)?
                }
            }
        }
    }

    fn show_event_if_matches(&self, event: &Event, session: &mut Session) -> Result<(), Error> {
        let is_shown = session.ui.format() != Format::Jid || event.jid.is_some();
        if !is_shown || !self.filter.matches(event) {
            return Ok(());
        }
        let number = self.shared_stream.count_next_line();
        if self.count.is_some_and(|count| number > count) {
            // Other members have shown all.
            return Ok(());
        }
        session.ui.show_stream_line(event)
    }

    /// The exit code if the stream has ended.
    fn exit_if_ended(&self) -> Result<Option<Exit>, Error> {
        let shown = self.shared_stream.lines_shown_by_all_members();
        if self.count.is_some_and(|count| shown >= count) {
            return Ok(Some(Exit::Ok));
        }
        if self.members_must_stop.load(Ordering::Relaxed) {
            return Ok(Some(Exit::Ok));
        }
        let so_far = || match self.count {
            Some(count) => format!("{shown} of {}", format_count(count, "event", "events")),
            None => format_count(shown, "event", "events"),
        };
        let is_endless = self.count.is_none() && self.deadline.is_none();
        match self.interrupt.error_kind_of_received_signal() {
            // An endless stream has no other end.
            Some(Kind::Interrupted) if is_endless => return Ok(Some(Exit::Ok)),
            Some(kind) if is_endless => return Ok(Some(kind.exit())),
            Some(kind) => return Err(Error::new(kind, format!("interrupted after {}", so_far()))),
            None => {}
        }
        match (self.deadline, self.count) {
            (Some(deadline), _) if Instant::now() < deadline => Ok(None),
            (None, _) => Ok(None),
            (Some(_), None) => Ok(Some(Exit::Ok)),
            (Some(_), Some(_)) => {
                let time_left = self.time_left_at_start.unwrap_or_default();
                let time = format_duration_tenths_below_second(time_left.as_secs_f64());
                let why = format!("the deadline of {time} passed after {}", so_far());
                Err(Error::new(Kind::Deadline, why))
            }
        }
    }

    /// Says that events are missed from now on.
    fn report_gap(&self, loss: &ConnectionLoss, session: &mut Session) -> Result<EventGap, Error> {
        let since = session.ui.render_options().time_of_day(loss.since);
        let reason = &loss.reason;
        session.ui.note(&format!(
            "gap since {since}: {reason}; events may have been missed; connecting again"
        ));
        let mut gap = Event::new(loss.at, EventKind::Gap);
        gap.message = Some(Name::from(reason.as_str()));
        self.show_gap_event_if_ndjson(gap, loss.since, session)?;
        Ok(EventGap {
            since: loss.since,
            unnoticed_s: loss.at.since(loss.since),
            noticed: session.clock().start_stopwatch(),
        })
    }

    /// Says that the gap has ended.
    fn report_reconnection(
        &self,
        gap: EventGap,
        at: Moment,
        session: &mut Session,
    ) -> Result<(), Error> {
        let EventGap { since, .. } = gap;
        let options = session.ui.render_options();
        let (begun, ended) = (options.time_of_day(since), options.time_of_day(at));
        let lasted =
            format_duration_tenths_below_second(gap.unnoticed_s + gap.noticed.elapsed_seconds());
        session.ui.note(&format!(
            "gap from {begun} to {ended}: connected again after {lasted}"
        ));
        self.show_gap_event_if_ndjson(Event::new(at, EventKind::Resumed), since, session)
    }

    /// Prints an event that `qless` itself made, such as a gap, in NDJSON output. Other formats have only the note on
    /// stderr.
    fn show_gap_event_if_ndjson(
        &self,
        mut event: Event,
        since: Moment,
        session: &mut Session,
    ) -> Result<(), Error> {
        event.since = Some(since);
        match session.ui.format() {
            Format::Ndjson => session.ui.show_stream_line(&event),
            _ => Ok(()),
        }
    }
}
