//! Reading queues.

use std::collections::{HashMap, HashSet};

use super::index::Index;
use super::names::NAMES_PER_CALL;
use super::not_found;
use super::read::{Read, ReadReply};
use crate::clock::moment::Moment;
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::core::script::keys::{Keys, QueueSet};
use crate::error::{Error, Kind};
use crate::json::Json;
use crate::model::lag::{Lag, Why};
use crate::model::length::Length;
use crate::model::pattern::Pattern;
use crate::model::queue::{Queue, ReadyQueues, Seconds};
use crate::name::Name;

/// The most names of a call of `look.ready`, which takes a microsecond for each: a worker asks often, and
/// in one round trip.
const READY_PER_CALL: usize = 10_000;

impl Core {
    /// Returns the number of jobs in a queue.
    pub fn length(&mut self, now: Moment, queue: &Name) -> Result<Length, Error> {
        let value = self.call(now, Call::read("length").queue(queue))?;
        Ok(Length {
            queue: queue.clone(),
            length: reply::integer(value)?,
        })
    }

    /// Returns for how many seconds each named queue, in their order, has had a job that a pop would look at:
    /// without those that a throttle or a lane holds.
    pub(crate) fn poppable_lags(&mut self, now: Moment, names: &[Name]) -> Result<Vec<f64>, Error> {
        let mut seconds: HashMap<Name, Json> = HashMap::new();
        for reply in self.call_in_slices(now, &Call::read("lag"), names)? {
            let slice = Json::read(&reply::bytes(reply)?).and_then(|slice| slice.object());
            seconds.extend(slice.ok_or_else(|| reply::unexpected("lags"))?);
        }
        let lag = |queue| seconds.get(queue).and_then(Json::number);
        Ok(names
            .iter()
            .map(|queue| lag(queue).unwrap_or_default())
            .collect())
    }

    /// Returns the lag of each named queue, in their order.
    pub fn lags(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Lag>, Error> {
        let mut rows = Vec::new();
        for reply in self.call_in_slices(now, &Call::read("look.lag"), names)? {
            rows.extend(reply::list(reply)?);
        }
        let lags = names.iter().zip(rows);
        lags.map(|(queue, row)| lag(now, queue, row)).collect()
    }

    /// Returns those of the named queues, or of all known ones, from which a pop may bring a job now.
    pub fn ready_queues(&mut self, now: Moment, names: &[Name]) -> Result<ReadyQueues, Error> {
        let call = Call::read("look.ready");
        let mut ready = ReadyQueues::default();
        // Without names, one call.
        let mut chunks = names.chunks(READY_PER_CALL);
        let first = chunks.next().unwrap_or_default();
        for names in std::iter::once(first).chain(chunks) {
            let mut rows = reply::list(self.call(now, call.clone().args(names))?)?.into_iter();
            let due_in = rows.next().map(reply::seconds).transpose()?.flatten();
            let queues: Result<Vec<Name>, Error> =
                rows.map(|row| reply::bytes(row).map(Name::from)).collect();
            ready.add(ReadyQueues {
                queues: queues?,
                due_in,
            });
        }
        Ok(ready)
    }

    /// Returns the named queues in their order, or all known ones by name. A queue that cannot be read
    /// is an error.
    pub fn queues(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let queues = self.queues_or_wrong_keys(now, names)?;
        require_readable(&queues)?;
        Ok(queues)
    }

    /// Returns the named queues in their order, or all known ones by name, also those that cannot be
    /// read.
    pub fn queues_or_wrong_keys(
        &mut self,
        now: Moment,
        names: &[Name],
    ) -> Result<Vec<Queue>, Error> {
        let call = Call::read("look.queues");
        let mut queues = match self.rows(now, &call, &Index::Queues, names) {
            Ok(rows) => {
                let rows = rows.into_iter().map(|row| read(now, row));
                rows.collect::<Result<Vec<Queue>, Error>>()?
            }
            Err(error) if error.kind() == Kind::Damaged => self.one_by_one(now, names)?,
            Err(error) => return Err(error),
        };
        if names.is_empty() {
            queues.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(queues)
    }

    /// Reads all known queues from a reply of `look.queues`.
    pub(super) fn all_queues(&self, now: Moment, rows: Vec<Value>) -> Result<Vec<Queue>, Error> {
        let rows = rows.into_iter().map(|row| read(now, row));
        let mut queues = rows.collect::<Result<Vec<Queue>, Error>>()?;
        queues.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(queues)
    }

    /// Returns the named queues, or all known ones, with a call for each: one of them has a key of a
    /// wrong type.
    fn one_by_one(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let names = if names.is_empty() {
            self.members(now, &Index::Queues)?
        } else {
            names.to_vec()
        };
        let keys = Keys::new(self.prefix());
        let mut queues = Vec::with_capacity(names.len());
        for names in names.chunks(NAMES_PER_CALL) {
            let call = |name| Call::read("look.queues").arg(name);
            let calls: Vec<Call> = names.iter().map(call).collect();
            for (name, rows) in names.iter().zip(self.calls(now, &calls)) {
                let error = match rows {
                    Ok(rows) => {
                        let rows = reply::list(rows)?.into_iter().map(|row| read(now, row));
                        queues.extend(rows.collect::<Result<Vec<Queue>, Error>>()?);
                        continue;
                    }
                    Err(error) => error,
                };
                let sets = QueueSet::ALL.map(|set| keys.queue(set, name.as_bytes()));
                let counts = sets.iter().map(|key| Read::count(key)).collect();
                let replies = self.reads(now, counts)?.into_iter().zip(sets);
                let wrong = replies.filter(|(reply, _)| matches!(reply, ReadReply::Wrong));
                let wrong_keys: Vec<Name> = wrong.map(|(_, key)| Name::from(key)).collect();
                if wrong_keys.is_empty() {
                    return Err(error);
                }
                queues.push(Queue {
                    name: name.clone(),
                    wrong_keys,
                    ..Queue::default()
                });
            }
        }
        Ok(queues)
    }

    /// Returns the queues that match patterns: each plain name in its order, the matches of a glob by
    /// name, or all known queues if there is no pattern. A plain name of no queue is an error, and so
    /// is a queue that cannot be read.
    pub fn queues_like(&mut self, now: Moment, patterns: &[Pattern]) -> Result<Vec<Queue>, Error> {
        let (queues, unreadable) = self.readable_queues_like(now, patterns)?;
        require_readable(&unreadable)?;
        Ok(queues)
    }

    /// Returns the same queues, and separately those that cannot be read.
    pub fn readable_queues_like(
        &mut self,
        now: Moment,
        patterns: &[Pattern],
    ) -> Result<(Vec<Queue>, Vec<Queue>), Error> {
        let queues = self.matching_queues(now, patterns)?.into_iter();
        Ok(queues.partition(|queue| queue.wrong_keys.is_empty()))
    }

    fn matching_queues(&mut self, now: Moment, patterns: &[Pattern]) -> Result<Vec<Queue>, Error> {
        let plain: Vec<Name> = patterns
            .iter()
            .filter_map(|pattern| pattern.plain().cloned())
            .collect();
        let globs = plain.len() < patterns.len() || patterns.is_empty();
        let known = if globs {
            self.queues_or_wrong_keys(now, &[])?
        } else {
            Vec::new()
        };
        if patterns.is_empty() {
            return Ok(known);
        }
        let named = if plain.is_empty() {
            Vec::new()
        } else {
            self.queues_or_wrong_keys(now, &plain)?
        };
        if let Some(unknown) = named.iter().find(|queue| !queue.exists()) {
            return Err(not_found::queue(self, now, &unknown.name)?);
        }
        let mut matched: Vec<Queue> = Vec::new();
        let mut seen: HashSet<Name> = HashSet::new();
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
                if seen.insert(queue.name.clone()) {
                    matched.push(queue);
                }
            }
        }
        Ok(matched)
    }

    /// Refuses a queue that does not exist.
    pub fn require_queue(&mut self, now: Moment, queue: &Name) -> Result<(), Error> {
        let found = self.queues_or_wrong_keys(now, std::slice::from_ref(queue))?;
        if found.iter().any(Queue::exists) {
            Ok(())
        } else {
            Err(not_found::queue(self, now, queue)?)
        }
    }
}

/// Refuses a list with a queue that cannot be read.
pub(crate) fn require_readable(queues: &[Queue]) -> Result<(), Error> {
    match unreadable(queues) {
        Some(message) => Err(Error::new(Kind::Damaged, message).hint(CHECK)),
        None => Ok(()),
    }
}

/// Returns the error about queues that a result lacks because they cannot be read.
pub(crate) fn left_out(queues: &[Queue]) -> Option<Error> {
    unreadable(queues).map(|message| Error::new(Kind::Partial, message).hint(CHECK))
}

/// The command that shows keys of wrong types.
pub(crate) const CHECK: &str = "qless check --only key-type";

/// Returns the sentence about the queues that cannot be read, if there are any.
fn unreadable(queues: &[Queue]) -> Option<String> {
    let damaged = queues.iter().filter(|queue| !queue.wrong_keys.is_empty());
    let clauses = damaged.map(|queue| {
        let keys = queue.wrong_keys.iter().map(|key| format!("`{key}`"));
        let keys: Vec<String> = keys.collect();
        let why = match keys.as_slice() {
            [key] => format!("key {key} has the wrong type"),
            _ => format!("keys {} have the wrong type", keys.join(", ")),
        };
        format!("cannot read queue `{}`: {why}", queue.name)
    });
    let clauses: Vec<String> = clauses.collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Reads a row of `look.queues`.
pub(super) fn read(now: Moment, fields: Value) -> Result<Queue, Error> {
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
            b"throttled" => queue.throttled = reply::count(&text),
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

/// Reads a row of `look.lag`.
fn lag(now: Moment, queue: &Name, row: Value) -> Result<Lag, Error> {
    let words = match row {
        Value::Nil => Vec::new(),
        row => reply::list(row)?,
    };
    let words = words.into_iter().map(reply::optional);
    let mut words = words.collect::<Result<Vec<_>, Error>>()?.into_iter();
    let mut word = || words.next().flatten();
    let since = word().and_then(|since| Moment::read(&since));
    Ok(Lag {
        queue: queue.clone(),
        lag_s: Seconds(since.map_or(0.0, |since| now.since(since).max(0.0))),
        jid: word().map(Name::from),
        why: word().and_then(|why| Why::read(&why)),
        held_by: word().map(Name::from),
    })
}
