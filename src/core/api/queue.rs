//! Reads queues and the jobs that their next pops would return, pauses queues, and removes them from the list of known
//! queues.

use std::collections::{HashMap, HashSet};

use strum::VariantArray;

use super::NAMES_PER_CALL;
use super::index::Index;
use super::job::{JobFields, read_job};
use super::not_found;
use super::read::{ReadCommand, ReadReply};
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::calls::SubjectArgs;
use crate::core::call::{Call, Core, Value, calls, reply};
use crate::core::script::keys::{Keys, QueueKey};
use crate::error::{Error, Kind};
use crate::json::Json;
use crate::json::quote::quote_string;
use crate::model::job::Job;
use crate::model::lag::QueueLag;
use crate::model::length::QueueLength;
use crate::model::pattern::NamePattern;
use crate::model::queue::{Queue, ReadyQueues, RoundedSeconds};
use crate::name::Name;

/// Maximum number of names in one call of `look.ready`, which takes the server a microsecond per name. It is high,
/// because a worker calls often and needs one round trip.
const READY_PER_CALL: usize = 10_000;

/// Maximum number of jobs that a dry run shows.
pub(crate) const MAX_NEXT_JOBS: u64 = 1_000;

/// Whether the pause of a queue counts, so that its next pops return nothing, or is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseRespectPolicy {
    Count,
    Ignored,
}

/// The queues that match patterns, divided into readable ones and ones with a key of a wrong type.
#[derive(Debug)]
pub struct QueuesByReadability {
    pub readable: Vec<Queue>,
    /// The queues with a key of another type.
    pub unreadable: Vec<Queue>,
}

impl Core {
    /// The number of jobs in a queue.
    pub fn length(&mut self, now: Moment, queue: &Name) -> Result<QueueLength, Error> {
        Ok(QueueLength {
            queue: queue.clone(),
            length: self.call(now, Call::new(calls::LENGTH).arg(queue))?,
        })
    }

    /// For each named queue, in the given order, the seconds for which its oldest due job has waited for a pop; 0
    /// without one. A job that a throttle or lane holds back is not due.
    pub(crate) fn seconds_since_poppable(
        &mut self,
        now: Moment,
        names: &[Name],
    ) -> Result<Vec<f64>, Error> {
        let mut seconds: HashMap<Name, Json> = HashMap::new();
        let call = Call::new(calls::LAG.with_subject(SubjectArgs::Nothing));
        for lags in self.call_once_per_slice(now, &call, names)? {
            seconds.extend(reply::read_json_object(calls::LAG.name, &lags)?);
        }
        let lag = |queue| seconds.get(queue).and_then(Json::number);
        Ok(names
            .iter()
            .map(|queue| lag(queue).unwrap_or_default())
            .collect())
    }

    /// The lag of each named queue, in the given order.
    pub fn lags_of_oldest_due_jobs(
        &mut self,
        now: Moment,
        names: &[Name],
    ) -> Result<Vec<QueueLag>, Error> {
        let rows: Vec<Option<QueueLag>> =
            self.rows_by_name(now, &Call::new(calls::LOOK_LAG), names)?;
        let lag = |(queue, row): (&Name, Option<QueueLag>)| {
            let row = row.unwrap_or_default();
            let lag = row.since.map_or(0.0, |since| now.since(since).max(0.0));
            QueueLag {
                queue: queue.clone(),
                lag_s: RoundedSeconds(lag),
                ..row
            }
        };
        Ok(names.iter().zip(rows).map(lag).collect())
    }

    /// The queues from which a pop may get a job now: among the named queues, or among all known queues if none is
    /// named.
    pub fn ready_queues(&mut self, now: Moment, names: &[Name]) -> Result<ReadyQueues, Error> {
        let call = Call::new(calls::LOOK_READY);
        let mut ready = ReadyQueues::default();
        // Without names, make one call, which is about all queues.
        let mut chunks = names.chunks(READY_PER_CALL);
        let first = chunks.next().unwrap_or_default();
        for names in std::iter::once(first).chain(chunks) {
            ready.add_queues(self.call(now, call.clone().args(names))?);
        }
        Ok(ready)
    }

    /// The named queues in the given order, or all known queues by name if none is named. A queue that cannot be read
    /// is an error.
    pub fn queues(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let queues = self.queues_including_unreadable(now, names)?;
        require_readable(&queues)?;
        Ok(queues)
    }

    /// The named queues in the given order, or all known queues by name if none is named. Includes queues that cannot
    /// be read.
    pub fn queues_including_unreadable(
        &mut self,
        now: Moment,
        names: &[Name],
    ) -> Result<Vec<Queue>, Error> {
        let call = Call::new(calls::LOOK_QUEUES);
        let mut queues = match self.rows_by_name_or_all(now, &call, &Index::Queues, names) {
            Ok(queues) => queues,
            Err(error) if error.kind() == Kind::WrongKeyType => {
                self.queues_one_by_one(now, names)?
            }
            Err(error) => return Err(error),
        };
        add_head_job_waits(now, &mut queues, names.is_empty());
        Ok(queues)
    }

    /// Reads each named queue, or each known queue, in a call of its own. So a key of a wrong type in one queue hides
    /// no other queue.
    fn queues_one_by_one(&mut self, now: Moment, names: &[Name]) -> Result<Vec<Queue>, Error> {
        let names = if names.is_empty() {
            self.index_members(now, &Index::Queues)?
        } else {
            names.to_vec()
        };
        let keys = Keys::new(self.prefix());
        let mut queues = Vec::with_capacity(names.len());
        for names in names.chunks(NAMES_PER_CALL) {
            let call = |name| Call::new(calls::LOOK_QUEUES).arg(name);
            let calls: Vec<Call> = names.iter().map(call).collect();
            for (name, rows) in names.iter().zip(self.call_all(now, &calls)) {
                let error = match rows {
                    Ok(rows) => {
                        queues.extend::<Vec<Queue>>(rows);
                        continue;
                    }
                    Err(error) => error,
                };
                let sets = QueueKey::VARIANTS
                    .iter()
                    .map(|set| keys.queue_key(*set, name.as_bytes()));
                let sets: Vec<_> = sets.collect();
                let counts = sets
                    .iter()
                    .map(|key| ReadCommand::sorted_set_size(key))
                    .collect();
                let replies = self.run_reads(now, counts)?.into_iter().zip(sets);
                let wrong = replies.filter(|(reply, _)| matches!(reply, ReadReply::WrongType));
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

    /// The queues that match patterns, in the order of the patterns. The matches of a glob are in the order of their
    /// names. Without a pattern, all known queues match. A plain name that no queue has is an error, and so is a queue
    /// that cannot be read.
    pub fn queues_like(
        &mut self,
        now: Moment,
        patterns: &[NamePattern],
    ) -> Result<Vec<Queue>, Error> {
        let matched = self.queues_like_and_unreadable(now, patterns)?;
        require_readable(&matched.unreadable)?;
        Ok(matched.readable)
    }

    /// The queues that match patterns, and separately the queues that cannot be read.
    pub fn queues_like_and_unreadable(
        &mut self,
        now: Moment,
        patterns: &[NamePattern],
    ) -> Result<QueuesByReadability, Error> {
        let queues = self.matching_queues(now, patterns)?.into_iter();
        let (readable, unreadable) = queues.partition(|queue| queue.wrong_keys.is_empty());
        Ok(QueuesByReadability {
            readable,
            unreadable,
        })
    }

    fn matching_queues(
        &mut self,
        now: Moment,
        patterns: &[NamePattern],
    ) -> Result<Vec<Queue>, Error> {
        let plain: Vec<Name> = patterns
            .iter()
            .filter_map(|pattern| pattern.as_plain_name().cloned())
            .collect();
        let globs = plain.len() < patterns.len() || patterns.is_empty();
        let known = if globs {
            self.queues_including_unreadable(now, &[])?
        } else {
            Vec::new()
        };
        if patterns.is_empty() {
            return Ok(known);
        }
        let named = if plain.is_empty() {
            Vec::new()
        } else {
            self.queues_including_unreadable(now, &plain)?
        };
        if let Some(unknown) = named.iter().find(|queue| !queue.exists()) {
            return Err(not_found::missing_queue_error(self, now, &unknown.name)?);
        }
        let mut matched: Vec<Queue> = Vec::new();
        let mut seen: HashSet<Name> = HashSet::new();
        let mut named = named.into_iter();
        for pattern in patterns {
            let matches: Vec<Queue> = match pattern.as_plain_name() {
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
        let found = self.queues_including_unreadable(now, std::slice::from_ref(queue))?;
        if found.iter().any(Queue::exists) {
            Ok(())
        } else {
            Err(not_found::missing_queue_error(self, now, queue)?)
        }
    }

    /// The jobs that pops of queues would get now, one queue after the other, by the core's dry run of `pop`. Writes
    /// nothing. A job that a recurring job would put first has a jid, but no state yet.
    pub(crate) fn next_jobs(
        &mut self,
        now: Moment,
        queues: &[Name],
        count: u64,
        pauses: PauseRespectPolicy,
    ) -> Result<Vec<Job>, Error> {
        let mode = if pauses == PauseRespectPolicy::Count {
            "pop"
        } else {
            "peek"
        };
        let call = Call::new(calls::LOOK_NEXT).arg(count.to_string()).arg(mode);
        let (mut jids, mut rows) = (Vec::new(), Vec::new());
        let reply = self.call_for_reply(now, call.args(queues))?.result?;
        for (jid, row) in reply::read_pairs(calls::LOOK_NEXT.name, reply)? {
            jids.push(Name::from(jid));
            rows.push(row);
        }
        let mut next = Vec::with_capacity(jids.len());
        let jobs = self.jobs(now, JobFields::Brief, &jids)?;
        for ((jid, row), job) in jids.iter().zip(rows).zip(jobs) {
            match (job, row) {
                (Some(job), _) => next.push(job),
                // Another client has deleted the job: leave it out.
                (None, Value::Nil) => {}
                (None, row) => next.push(read_job(jid, row)?),
            }
        }
        Ok(next)
    }

    /// Pauses queues: until the moment `until`, or without an end if none is given.
    pub fn pause_queues(
        &mut self,
        now: Moment,
        queues: &[Name],
        until: Option<Moment>,
        reason: Option<&Name>,
        by: &str,
    ) -> Result<(), Error> {
        let until = until.map_or(String::new(), |until| until.to_string());
        let mut note = b"{\"by\":".to_vec();
        note.extend(quote_string(by.as_bytes()));
        if let Some(reason) = reason {
            note.extend(b",\"reason\":");
            note.extend(quote_string(reason.as_bytes()));
        }
        note.push(b'}');
        let call = Call::new(calls::GUARD_PAUSE).arg(until).arg(note);
        self.call_once_per_slice::<()>(now, &call, queues).map(drop)
    }

    /// Ends the pause of queues.
    pub fn unpause_queues(&mut self, now: Moment, queues: &[Name]) -> Result<(), Error> {
        let call = Call::new(calls::UNPAUSE);
        self.call_once_per_slice::<()>(now, &call, queues).map(drop)
    }

    /// Removes queues from the list of known queues. Their jobs stay.
    pub fn forget_queues(&mut self, now: Moment, queues: &[Name], _: Consent) -> Result<(), Error> {
        let call = Call::new(calls::QUEUE_FORGET);
        self.call_once_per_slice::<()>(now, &call, queues).map(drop)
    }
}

/// Adds to each queue how long its first job has waited. With `sorts_by_name`, also sorts the queues by name.
pub(super) fn add_head_job_waits(now: Moment, queues: &mut [Queue], sorts_by_name: bool) {
    for queue in queues.iter_mut() {
        let wait = queue.head_since.map(|since| now.since(since).max(0.0));
        queue.head_wait_s = wait.map(RoundedSeconds);
    }
    if sorts_by_name {
        queues.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    }
}

/// Fails if one of these queues cannot be read.
pub(crate) fn require_readable(queues: &[Queue]) -> Result<(), Error> {
    match unreadable_sentence(queues) {
        Some(message) => Err(Error::new(Kind::WrongKeyType, message).hint(CHECK)),
        None => Ok(()),
    }
}

/// The error that a result lacks queues because they cannot be read; `None` if all can be read.
pub(crate) fn partial_result_error(queues: &[Queue]) -> Option<Error> {
    unreadable_sentence(queues).map(|message| Error::new(Kind::Partial, message).hint(CHECK))
}

/// The command that shows keys of wrong types.
pub(crate) const CHECK: &str = "qless check --only key-type";

/// The sentence about the queues that cannot be read, if there are any.
fn unreadable_sentence(queues: &[Queue]) -> Option<String> {
    let damaged = queues.iter().filter(|queue| !queue.wrong_keys.is_empty());
    let clauses = damaged.map(|queue| {
        let why = wrong_type_clause(&queue.wrong_keys);
        format!("cannot read queue `{}`: {why}", queue.name)
    });
    let clauses: Vec<String> = clauses.collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// A clause that names keys of a wrong type.
pub(super) fn wrong_type_clause(keys: &[Name]) -> String {
    let named: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match named.as_slice() {
        [key] => format!("key {key} has the wrong type"),
        _ => format!("keys {} have the wrong type", named.join(", ")),
    }
}
