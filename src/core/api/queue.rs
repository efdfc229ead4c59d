//! Reading queues.

use super::not_found;
use crate::clock::moment::Moment;
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;
use crate::model::length::Length;
use crate::model::pattern::Pattern;
use crate::model::queue::{Queue, Seconds};
use crate::name::Name;

impl Core {
    /// Returns the number of jobs in a queue.
    pub fn length(&mut self, now: Moment, queue: &Name) -> Result<Length, Error> {
        let value = self.call(now, Call::read("length").queue(queue))?;
        Ok(Length {
            queue: queue.clone(),
            length: reply::integer(value)?,
        })
    }

    /// Returns the named queues in their order, or all known ones by name.
    pub fn queues(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let queues = reply::list(self.call(now, Call::read("look.queues").args(names))?)?;
        let queues = queues.into_iter().map(|queue| read(now, queue));
        let mut queues: Vec<Queue> = queues.collect::<Result<_, Error>>()?;
        if names.is_empty() {
            queues.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(queues)
    }

    /// Returns the queues that match patterns: each plain name in its order, the matches of a glob by
    /// name, or all known queues if there is no pattern. A plain name of no queue is an error.
    pub fn queues_like(&mut self, now: Moment, patterns: &[Pattern]) -> Result<Vec<Queue>, Error> {
        let plain: Vec<Name> = patterns
            .iter()
            .filter_map(|pattern| pattern.plain().cloned())
            .collect();
        let globs = plain.len() < patterns.len() || patterns.is_empty();
        let known = if globs {
            self.queues(now, &[])?
        } else {
            Vec::new()
        };
        if patterns.is_empty() {
            return Ok(known);
        }
        let named = if plain.is_empty() {
            Vec::new()
        } else {
            self.queues(now, &plain)?
        };
        if let Some(unknown) = named.iter().find(|queue| !queue.exists()) {
            return Err(not_found::queue(self, now, &unknown.name)?);
        }
        let mut matched: Vec<Queue> = Vec::new();
        let mut named = named.into_iter();
        for pattern in patterns {
            let matches: Vec<Queue> = match pattern.plain() {
                Some(_) => named.by_ref().take(1).collect(),
                None => known
                    .iter()
                    .filter(|queue| pattern.matches(&queue.name))
                    .cloned()
                    .collect(),
            };
            for queue in matches {
                if !matched.iter().any(|other| other.name == queue.name) {
                    matched.push(queue);
                }
            }
        }
        Ok(matched)
    }

    /// Refuses a queue that does not exist.
    pub fn require_queue(&mut self, now: Moment, queue: &Name) -> Result<(), Error> {
        let found = self.queues(now, std::slice::from_ref(queue))?;
        match found.iter().any(Queue::exists) {
            true => Ok(()),
            false => Err(not_found::queue(self, now, queue)?),
        }
    }
}

fn read(now: Moment, fields: Value) -> Result<Queue, Error> {
    let mut queue = Queue::default();
    for (field, value) in reply::pairs(fields)? {
        let Some(text) = reply::optional(value)? else {
            continue;
        };
        match field.as_slice() {
            b"name" => queue.name = Name::from(text),
            b"known" => queue.known = text == b"1",
            b"waiting" => queue.waiting = reply::count(&text),
            b"running" => queue.running = reply::count(&text),
            b"stalled" => queue.stalled = reply::count(&text),
            b"scheduled" => queue.scheduled = reply::count(&text),
            b"depends" => queue.depends = reply::count(&text),
            b"recurring" => queue.recurring = reply::count(&text),
            b"paused" => queue.paused = text == b"1",
            b"since" => queue.paused_since = Moment::read(&text),
            b"until" => queue.paused_until = Moment::read(&text),
            b"reason" => queue.paused_reason = Some(Name::from(text)),
            b"by" => queue.paused_by = Some(Name::from(text)),
            b"head" => {
                let waited = Moment::read(&text).map(|since| now.since(since).max(0.0));
                queue.head_wait_s = waited.map(Seconds);
            }
            _ => {}
        }
    }
    Ok(queue)
}
