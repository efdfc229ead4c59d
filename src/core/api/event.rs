//! The events of jobs, which the core publishes.

use std::time::Instant;

use crate::core::call::{Core, Notice, Subscription};
use crate::core::script::keys::Keys;
use crate::error::Error;
use crate::json::Json;
use crate::model::event::{Event, EventKind};

/// A subscription to the events of all jobs.
#[derive(Debug)]
pub(crate) struct EventLog(Subscription);

/// What the event log reports.
#[derive(Debug)]
pub(crate) enum LogNotice {
    /// The connection was lost and is back. Events may have been missed.
    Gap,
    Event(Event),
}

impl Core {
    /// Subscribes to the events of all jobs.
    pub(crate) fn event_log(&self) -> Result<EventLog, Error> {
        let channel = Keys::new(self.prefix()).log;
        self.subscribe(vec![channel]).map(EventLog)
    }
}

impl EventLog {
    /// Returns the next event; `None` if there is none until that time.
    pub(crate) fn next(&self, until: Instant) -> Option<LogNotice> {
        loop {
            match self.0.next(until)? {
                Notice::Subscribed => return Some(LogNotice::Gap),
                Notice::Message(text) => {
                    if let Some(event) = read(&text) {
                        return Some(LogNotice::Event(event));
                    }
                }
            }
        }
    }
}

/// Reads an event; `None` if it is not about a job.
fn read(text: &[u8]) -> Option<Event> {
    let (mut jid, mut kind) = (None, EventKind::Other);
    for (key, value) in Json::read(text)?.object()? {
        match key.as_bytes() {
            b"jid" => jid = value.text(),
            b"event" => {
                kind = match value.text()?.as_bytes() {
                    b"completed" => EventKind::Completed,
                    b"canceled" => EventKind::Cancelled,
                    _ => EventKind::Other,
                };
            }
            _ => {}
        }
    }
    Some(Event { jid: jid?, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn an_event_names_its_job_byte_for_byte() {
        let event = |jid: &[u8], kind| {
            let jid = Name::from(jid);
            Some(Event { jid, kind })
        };
        let completed = br#"{"jid":"j","event":"completed","queue":"q"}"#;
        assert_eq!(read(completed), event(b"j", EventKind::Completed));
        let cancelled =
            b"{\"jid\":\"a\xff\",\"queue\":\"q\",\"event\":\"canceled\",\"worker\":\"\"}";
        assert_eq!(read(cancelled), event(b"a\xff", EventKind::Cancelled));
        let put = br#"{"jid":"j","event":"put","queue":"q"}"#;
        assert_eq!(read(put), event(b"j", EventKind::Other));
        assert_eq!(
            read(br#"{"option":"x","event":"config_set","value":1}"#),
            None
        );
        assert_eq!(read(b"nonsense"), None);
    }
}
