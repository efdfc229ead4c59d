//! Looking at jobs.

use std::collections::{BTreeSet, HashSet};

use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::core::call::Value;
use crate::core::call::reply;
use crate::error::Error;
use crate::json::{Data, Json, Number};
use crate::model::job::{Dependencies, Entry, Failure, Job, Neighbor, State};
use crate::name::Name;

/// The most jobs that one call tells.
pub(crate) const MOST: usize = 500;

/// How much is told of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All but the history.
    Brief,
    Full,
    /// What decides whether it may be changed, and by which mark.
    Mark,
    /// Where it is.
    Place,
    /// That it exists; of a selection also what decides whether it is meant.
    Match,
    /// What tells it apart from others.
    Face,
}

impl Detail {
    /// Returns what is asked of the core: `brief`, `full` or names.
    pub const fn word(self) -> &'static str {
        match self {
            Detail::Brief => "brief",
            Detail::Full => "full",
            Detail::Mark => {
                "jid,queue,state,worker,priority,retries,failure,scheduled,shown,since,mark,due"
            }
            Detail::Face => "jid,klass,shown",
            Detail::Match => "jid",
            Detail::Place => "jid,klass,queue,state,worker,failure,shown,since,lock",
        }
    }
}

impl Core {
    /// Returns jobs in the order asked; `None` for those that do not exist.
    pub fn jobs(
        &mut self,
        now: Moment,
        tell: Detail,
        jids: &[Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        self.jobs_told(now, tell.word(), jids)
    }

    /// Returns the same with what these names say: `brief`, `full`, or names by commas.
    pub fn jobs_told(
        &mut self,
        now: Moment,
        names: &str,
        jids: &[Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        let mut jobs = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MOST) {
            let mut words: Vec<&[u8]> = vec![names.as_bytes()];
            words.extend(slice.iter().map(Name::as_bytes));
            let answer = reply::list(self.call(now, "look.jobs", &words)?)?;
            for (jid, told) in slice.iter().zip(answer) {
                jobs.push(match told {
                    Value::Nil => None,
                    told => Some(read(jid, told)?),
                });
            }
        }
        Ok(jobs)
    }

    /// Looks up how many of the jobs that blocked jobs wait for have failed.
    pub fn blockers(&mut self, now: Moment, jobs: &mut [Job]) -> Result<(), Error> {
        let blocked = jobs.iter().filter(|job| job.state == Some(State::Depends));
        let jids: BTreeSet<Name> = blocked
            .flat_map(|job| job.dependencies.iter().cloned())
            .collect();
        let jids: Vec<Name> = jids.into_iter().collect();
        let told = jids.iter().zip(self.jobs(now, Detail::Place, &jids)?);
        let failed: HashSet<&Name> = told
            .filter(|(_, job)| {
                job.as_ref()
                    .is_some_and(|job| job.state == Some(State::Failed))
            })
            .map(|(jid, _)| jid)
            .collect();
        for job in jobs {
            let blockers = job.dependencies.iter().filter(|jid| failed.contains(jid));
            job.failed_dependencies = blockers.count() as u64;
        }
        Ok(())
    }

    /// Returns a job's neighbors in both directions; `None` if there is no such job.
    pub fn dependencies(&mut self, now: Moment, jid: &Name) -> Result<Option<Dependencies>, Error> {
        let found = self.jobs(now, Detail::Brief, std::slice::from_ref(jid))?;
        let Some(job) = found.into_iter().flatten().next() else {
            return Ok(None);
        };
        let mut neighbors = self.neighbors(now, &job)?;
        let dependents = neighbors.split_off(job.dependencies.len());
        Ok(Some(Dependencies {
            jid: job.jid,
            klass: job.klass,
            queue: job.queue,
            dependencies: neighbors,
            dependents,
        }))
    }

    /// Returns the jobs that this one waits for, then those that wait for it.
    pub fn neighbors(&mut self, now: Moment, job: &Job) -> Result<Vec<Neighbor>, Error> {
        let jids: Vec<Name> = job
            .dependencies
            .iter()
            .chain(&job.dependents)
            .cloned()
            .collect();
        let told = self.jobs(now, Detail::Place, &jids)?;
        Ok(jids
            .into_iter()
            .zip(told)
            .map(|(jid, job)| Neighbor::new(jid, job))
            .collect())
    }
}

/// Reads a job from the fields that the core told of it.
pub(crate) fn read(jid: &Name, told: Value) -> Result<Job, Error> {
    let mut job = Job {
        jid: jid.clone(),
        ..Job::default()
    };
    let (mut shown, mut expires, mut lock, mut due, mut scheduled) = (None, None, None, None, None);
    for (field, value) in reply::pairs(told)? {
        match field.as_slice() {
            b"dependencies" => {
                job.dependencies = reply::names(value)?;
                continue;
            }
            b"dependents" => {
                job.dependents = reply::names(value)?;
                continue;
            }
            b"history" => {
                let entries = reply::names(value)?;
                job.history = Some(
                    entries
                        .iter()
                        .filter_map(|entry| Entry::read(entry.as_bytes()))
                        .collect(),
                );
                continue;
            }
            _ => {}
        }
        let Some(text) = reply::optional(value)? else {
            continue;
        };
        match field.as_slice() {
            b"klass" => job.klass = Some(Name::from(text)),
            b"queue" => job.queue = Some(Name::from(text)).filter(|queue| !queue.is_empty()),
            b"state" => job.state_stored = Some(Name::from(text)),
            b"shown" => {
                shown = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| text.parse().ok())
            }
            b"priority" => job.priority = Number::read(&text),
            b"retries" => job.retries = Number::read(&text),
            b"remaining" => job.remaining = Number::read(&text).map(|left| Number(left.0.floor())),
            b"worker" => job.worker = Some(Name::from(text)).filter(|worker| !worker.is_empty()),
            b"expires" => expires = Moment::read(&text),
            b"lock" => lock = Moment::read(&text),
            b"due" => due = Moment::read(&text),
            b"scheduled" => scheduled = Moment::read(&text),
            b"tracked" => job.tracked = text == b"1",
            b"tags" => {
                job.tags = Json::read(&text)
                    .and_then(|tags| tags.names())
                    .unwrap_or_default()
            }
            b"data" => job.data = Data::from(text),
            b"failure" => job.failure = Failure::read(&text),
            b"spawned_from_jid" => job.spawned_from = Some(Name::from(text)),
            b"since" => job.since = Moment::read(&text),
            b"mark" => job.mark = text,
            _ => {}
        }
    }
    job.state = shown;
    let held = matches!(shown, Some(State::Running | State::Stalled));
    if !held {
        // A job that was retried or taken away still names who held it.
        job.worker = None;
    }
    job.expires = lock.or(expires.filter(|expires| held && expires.micros() != 0));
    job.scheduled_for = match shown {
        Some(State::Scheduled) => due,
        Some(State::Depends) => scheduled,
        _ => None,
    };
    Ok(job)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(fields: &[(&str, &str)]) -> Value {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        Value::Array(
            fields
                .iter()
                .flat_map(|(name, value)| [text(name), text(value)])
                .collect(),
        )
    }

    #[test]
    fn a_stale_holder_is_not_shown() {
        let fields = [
            ("state", "waiting"),
            ("shown", "waiting"),
            ("worker", "w"),
            ("expires", "70"),
        ];
        let job = read(&Name::from("j"), told(&fields)).unwrap();
        assert_eq!((job.worker, job.expires), (None, None));
    }

    #[test]
    fn the_lock_says_when_it_ends() {
        let fields = [
            ("state", "running"),
            ("shown", "stalled"),
            ("worker", "w"),
            ("expires", "60"),
            ("lock", "70"),
        ];
        let job = read(&Name::from("j"), told(&fields)).unwrap();
        assert_eq!(job.worker, Some(Name::from("w")));
        assert_eq!(job.expires, Moment::from_seconds(70.0));
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        let fields = [
            ("state", "sleeping"),
            ("shown", "sleeping"),
            ("tags", "nonsense"),
            ("priority", "high"),
        ];
        let job = read(&Name::from("j"), told(&fields)).unwrap();
        assert_eq!((job.state, job.priority), (None, None));
        assert!(job.tags.is_empty());
        assert_eq!(job.state_stored, Some(Name::from("sleeping")));
    }
}
