//! Which events are shown.

use crate::error::Error;
use crate::model::event::{Event, EventChannel, EventKind};
use crate::model::pattern::NamePattern;
use crate::name::Name;
use crate::text::backtick_list;

/// The channels from which `qless events` reads, and the filter for the events that it shows. An event is shown if it
/// matches at least one value of each list; an empty list matches every event.
#[derive(Debug)]
pub(crate) struct EventFilter {
    pub sources: Vec<EventChannel>,
    pub kinds: Vec<EventKind>,
    pub queues: Vec<NamePattern>,
    pub jids: Vec<Name>,
}

impl EventFilter {
    /// Whether `qless events` shows an event. If the event has no queue or no jid, a filter by that does not match.
    pub(crate) fn matches(&self, event: &Event) -> bool {
        let message_names_queue = |queue: &Option<Name>| {
            let queue = queue.as_ref();
            queue.is_some_and(|name| self.queues.iter().any(|pattern| pattern.matches(name)))
        };
        let names_jid =
            |jid: &Option<Name>| jid.as_ref().is_some_and(|jid| self.jids.contains(jid));
        (self.kinds.is_empty() || self.kinds.contains(&event.event))
            && (self.queues.is_empty()
                || message_names_queue(&event.queue)
                || message_names_queue(&event.to))
            && (self.jids.is_empty() || names_jid(&event.jid) || names_jid(&event.into))
    }

    /// Refuses a filter that no event can match, since the user would wait in vain.
    pub(crate) fn refuse_if_nothing_matches(&self) -> Result<(), Error> {
        let has = |source: &EventChannel, kind: EventKind| source.published_kinds().contains(&kind);
        for &kind in &self.kinds {
            if self.sources.iter().any(|source| has(source, kind)) {
                continue;
            }
            let of_all_jobs = [EventChannel::Log, EventChannel::Extensions];
            let hint = if of_all_jobs.iter().any(|source| has(source, kind)) {
                "leave out `--tracked` and `--worker`"
            } else {
                "`--tracked` shows it, for tracked jobs"
            };
            let why = format!("`--event {}` matches nothing here", kind.into_str());
            return Err(Error::usage(why).hint(hint));
        }
        let may_match = |names: fn(&EventChannel, EventKind) -> bool| {
            self.sources.iter().any(|source| {
                let mut kinds = source.published_kinds().iter();
                kinds.any(|kind| {
                    (self.kinds.is_empty() || self.kinds.contains(kind)) && names(source, *kind)
                })
            })
        };
        let refused = |flag: &str, what: &str, hint: &str| {
            let events = match self.kinds.as_slice() {
                [] => "these events".to_owned(),
                kinds => backtick_list(kinds.iter().map(EventKind::into_str)),
            };
            let why = format!("`{flag}` matches nothing: no message of {events} names a {what}");
            Err(Error::usage(why).hint(hint.to_owned()))
        };
        if !self.queues.is_empty() && !may_match(EventChannel::message_names_queue) {
            return refused("--queue", "queue", "`--jid` selects by job");
        }
        if !self.jids.is_empty() && !may_match(|_, kind| kind.names_job()) {
            return refused("--jid", "job", "leave it out");
        }
        Ok(())
    }
}
