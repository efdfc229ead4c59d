//! The events of jobs, which the core publishes.

use std::time::Instant;

use crate::core::call::{Core, Notice, Subscription};
use crate::core::script::keys::{self, Keys};
use crate::error::Error;
use crate::json::Json;
use crate::model::event::{EventKind, JobEvent};
use crate::name::Name;

/// A subscription to the events of all jobs.
#[derive(Debug)]
pub(crate) struct EventLog(Subscription);

/// What the event log reports.
#[derive(Debug)]
pub(crate) enum LogNotice {
    /// The connection was lost and is back. Events may have been missed.
    Gap,
    Event(JobEvent),
}

impl Core {
    /// Subscribes to the events of all jobs.
    pub(crate) fn event_log(&self) -> Result<EventLog, Error> {
        let channel = Keys::new(self.prefix()).with_prefix(keys::ON_LOG);
        self.subscribe(vec![channel]).map(EventLog)
    }
}

impl EventLog {
    /// Since when the connection has been broken, if it is.
    pub(crate) fn broken_since(&self) -> Option<Instant> {
        self.0.broken_since()
    }

    /// The next event; `None` if there is none until that time.
    pub(crate) fn next_event(&self, until: Instant) -> Option<LogNotice> {
        loop {
            match self.0.next_notice(until)? {
                Notice::Subscribed => return Some(LogNotice::Gap),
                Notice::Message(text) => {
                    if let Some(event) = read_event(&text) {
                        return Some(LogNotice::Event(event));
                    }
                }
            }
        }
    }
}

/// A subscription to what concerns the jobs of one worker.
#[derive(Debug)]
pub(crate) struct WorkerNotices(Subscription);

/// What a worker is notified of.
#[derive(Debug, PartialEq)]
pub(crate) enum WorkerNotice {
    /// The subscription begins, or begins again. Notices may have been missed.
    Gap,
    /// The lock of this job was lost, or the job was cancelled.
    Lost(Name),
}

/// A subscription to jobs that are put.
#[derive(Debug)]
pub(crate) struct PutNotices(Subscription);

/// A job that was put.
#[derive(Debug, PartialEq)]
pub(crate) enum PutNotice {
    /// The subscription begins, or begins again. Notices may have been missed.
    Gap,
    /// Into this queue.
    Put(Name),
}

impl Core {
    /// Subscribes to what concerns the jobs of a worker.
    pub(crate) fn worker_notices(&self, worker: &str) -> Result<WorkerNotices, Error> {
        let channel = Keys::new(self.prefix()).worker_channel(worker);
        self.subscribe(vec![channel]).map(WorkerNotices)
    }

    /// Subscribes to jobs that are put into any queue.
    pub(crate) fn put_notices(&self) -> Result<PutNotices, Error> {
        let channel = Keys::new(self.prefix()).with_prefix(keys::ON_LOG);
        self.subscribe(vec![channel]).map(PutNotices)
    }
}

impl WorkerNotices {
    /// The next notice; `None` if there is none until that time.
    pub(crate) fn next_notice(&self, until: Instant) -> Option<WorkerNotice> {
        loop {
            let text = match self.0.next_notice(until)? {
                Notice::Subscribed => return Some(WorkerNotice::Gap),
                Notice::Message(text) => text,
            };
            let notice = match (event_text(&text, "event"), event_text(&text, "jid")) {
                (Some(event), Some(jid)) => match event.as_bytes() {
                    b"lock_lost" | b"canceled" => WorkerNotice::Lost(jid),
                    _ => continue,
                },
                _ => continue,
            };
            return Some(notice);
        }
    }
}

impl PutNotices {
    /// The next notice; `None` if there is none until that time.
    pub(crate) fn next_notice(&self, until: Instant) -> Option<PutNotice> {
        loop {
            match self.0.next_notice(until)? {
                Notice::Subscribed => return Some(PutNotice::Gap),
                Notice::Message(text) => {
                    // Most events are of other kinds. They are not worth being decoded.
                    let event = br#""event":"put""#;
                    if text.windows(event.len()).any(|part| part == event)
                        && let Some(queue) = event_text(&text, "queue")
                    {
                        return Some(PutNotice::Put(queue));
                    }
                }
            }
        }
    }
}

/// A text of an event.
fn event_text(text: &[u8], name: &str) -> Option<Name> {
    let fields = Json::parse(text)?.object()?;
    let found = fields
        .into_iter()
        .find(|(key, _)| key.as_bytes() == name.as_bytes());
    found.and_then(|(_, value)| value.text())
}

/// Reads an event; `None` if it is not about a job.
fn read_event(text: &[u8]) -> Option<JobEvent> {
    let (mut jid, mut kind) = (None, EventKind::Other);
    for (key, value) in Json::parse(text)?.object()? {
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
    Some(JobEvent { jid: jid?, kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn an_event_names_its_job_byte_for_byte() {
        let event = |jid: &[u8], kind| {
            let jid = Name::from(jid);
            Some(JobEvent { jid, kind })
        };
        let completed = br#"{"jid":"j","event":"completed","queue":"q"}"#;
        assert_eq!(read_event(completed), event(b"j", EventKind::Completed));
        let cancelled =
            b"{\"jid\":\"a\xff\",\"queue\":\"q\",\"event\":\"canceled\",\"worker\":\"\"}";
        assert_eq!(read_event(cancelled), event(b"a\xff", EventKind::Cancelled));
        let put = br#"{"jid":"j","event":"put","queue":"q"}"#;
        assert_eq!(read_event(put), event(b"j", EventKind::Other));
        assert_eq!(
            read_event(br#"{"option":"x","event":"config_set","value":1}"#),
            None
        );
        assert_eq!(read_event(b"nonsense"), None);
    }
}
