//! Which events are shown.

use crate::error::Error;
use crate::model::event::{Event, EventChannel, EventKind};
use crate::model::pattern::Pattern;
use crate::name::Name;
use crate::text::backtick_list;

/// The channels to read and the events to show. An event is shown if it matches one value of each list that is not
/// empty.
#[derive(Debug)]
pub(crate) struct EventFilter {
    pub sources: Vec<EventChannel>,
    pub kinds: Vec<EventKind>,
    pub queues: Vec<Pattern>,
    pub jids: Vec<Name>,
}

impl EventFilter {
    /// Whether an event is shown. A field that its message lacks matches no value.
    pub(crate) fn matches(&self, event: &Event) -> bool {
        let names_queue = |queue: &Option<Name>| {
            let queue = queue.as_ref();
            queue.is_some_and(|name| self.queues.iter().any(|pattern| pattern.matches(name)))
        };
        let names_jid =
            |jid: &Option<Name>| jid.as_ref().is_some_and(|jid| self.jids.contains(jid));
        (self.kinds.is_empty() || self.kinds.contains(&event.event))
            && (self.queues.is_empty() || names_queue(&event.queue) || names_queue(&event.to))
            && (self.jids.is_empty() || names_jid(&event.jid) || names_jid(&event.into))
    }

    /// Refuses filters that no event can satisfy, so that nobody waits for one.
    pub(crate) fn refuse_if_nothing_matches(&self) -> Result<(), Error> {
        let has = |source: &EventChannel, kind: EventKind| source.kinds().contains(&kind);
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
                let mut kinds = source.kinds().iter();
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
        if !self.queues.is_empty() && !may_match(EventChannel::names_queue) {
            return refused("--queue", "queue", "`--jid` selects by job");
        }
        if !self.jids.is_empty() && !may_match(|_, kind| kind.names_job()) {
            return refused("--jid", "job", "leave it out");
        }
        Ok(())
    }
}
