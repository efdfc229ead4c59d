//! Looking at queues.

use super::not_found;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::Value;
use crate::core::call::reply;
use crate::error::Error;
use crate::model::length::Length;
use crate::model::pattern::Pattern;
use crate::model::queue::{Queue, Seconds};
use crate::name::Name;

impl Core {
    /// Returns how many jobs a queue holds.
    pub fn length(&mut self, now: Moment, queue: &Name) -> Result<Length, Error> {
        let value = self.call(now, "length", &[queue.as_bytes()])?;
        Ok(Length {
            queue: queue.clone(),
            length: reply::integer(value)?,
        })
    }

    /// Returns queues as named, or all known ones by name.
    pub fn queues(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let words: Vec<&[u8]> = names.iter().map(Name::as_bytes).collect();
        let answer = reply::list(self.call(now, "look.queues", &words)?)?;
        let told = answer.into_iter().map(|told| read(now, told));
        let mut queues: Vec<Queue> = told.collect::<Result<_, Error>>()?;
        if names.is_empty() {
            queues.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(queues)
    }

    /// Returns the queues that patterns mean: each plain name in its place, the matches of a glob by
    /// name; all known ones where there is no pattern. A plain name that nothing has is an error.
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
        if let Some(stranger) = named.iter().find(|queue| !queue.exists()) {
            return Err(not_found::queue(self, now, &stranger.name)?);
        }
        let mut meant: Vec<Queue> = Vec::new();
        let mut named = named.into_iter();
        for pattern in patterns {
            let fitting = match pattern.plain() {
                Some(_) => named.by_ref().take(1).collect(),
                None => known
                    .iter()
                    .filter(|queue| pattern.matches(&queue.name))
                    .cloned()
                    .collect(),
            };
            let fitting: Vec<Queue> = fitting;
            for queue in fitting {
                if !meant.iter().any(|other| other.name == queue.name) {
                    meant.push(queue);
                }
            }
        }
        Ok(meant)
    }

    /// Refuses a queue of which there is no trace.
    pub fn queue_exists(&mut self, now: Moment, queue: &Name) -> Result<(), Error> {
        let found = self.queues(now, std::slice::from_ref(queue))?;
        match found.iter().any(Queue::exists) {
            true => Ok(()),
            false => Err(not_found::queue(self, now, queue)?),
        }
    }
}

fn read(now: Moment, told: Value) -> Result<Queue, Error> {
    let mut queue = Queue::default();
    for (field, value) in reply::pairs(told)? {
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
