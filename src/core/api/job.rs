//! Reading jobs.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use strum::IntoStaticStr;

use crate::clock::moment::Moment;
use crate::core::call::reply::{self, Bytes, JobsPerReply};
use crate::core::call::{Call, Core, Value, calls};
use crate::error::{Cause, Error};
use crate::json::data::JobData;
use crate::json::quote::quote_as_core;
use crate::json::{Json, Number, field_value};
use crate::model::bulk::{FieldInterner, JobSnapshot};
use crate::model::job::{
    DependenciesAndDependents, Failure, HistoryEntry, Job, MergePayload, Neighbor, State,
};
use crate::name::Name;

/// A choice of the fields of a job to read, with the names of these fields in the call of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str)]
pub enum JobFields {
    /// All except the history.
    #[strum(serialize = "brief")]
    Brief,
    #[strum(serialize = "full")]
    Full,
    /// [`JobFields::Brief`], with the first 400 bytes of longer data: for a line about each job.
    #[strum(serialize = "brief:400")]
    BriefExcerpt,
    /// [`JobFields::Full`], with the first 80,000 bytes of longer data: for a page about a job. The payloads are left
    /// out.
    #[strum(serialize = "full:80000")]
    FullExcerpt,
    /// The fields that decide whether the job may be changed, and its mark.
    #[strum(
        serialize = "jid,queue,state,worker,priority,retries,failure,scheduled,shown,since,mark,due"
    )]
    Snapshot,
    /// State, queue, worker and failure.
    #[strum(serialize = "jid,klass,queue,state,worker,failure,shown,since,lock")]
    Location,
    /// [`JobFields::Location`], plus dependencies and scheduled time.
    #[strum(serialize = "jid,klass,queue,state,worker,failure,shown,since,lock,due,dependencies")]
    Neighbor,
    /// Only the jid. A selection adds the fields that its filters need.
    #[strum(serialize = "jid")]
    Jid,
    /// Class and state, which describe the job in a list.
    #[strum(serialize = "jid,klass,shown")]
    Label,
}

/// The number of jobs that one call reads. 500 would keep a server busy for 10 ms.
pub(crate) const JOBS_PER_READ: usize = 250;

impl Core {
    /// Jobs in the order of the jids, `None` for each that does not exist.
    pub fn jobs(
        &mut self,
        now: Moment,
        detail: JobFields,
        jids: &[Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        self.jobs_with_fields(now, detail.into_str(), jids)
    }

    /// Jobs with the named fields, in the order of the jids. `fields` comes from [`JobFields::into_str`] or from a
    /// selection.
    pub fn jobs_with_fields(
        &mut self,
        now: Moment,
        fields: &str,
        jids: &[Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        let (mut jobs, mut rest) = (Vec::with_capacity(jids.len()), jids);
        while !rest.is_empty() {
            jobs.append(&mut self.read_job_slice(now, fields, &mut rest)?);
        }
        Ok(jobs)
    }

    /// Reads the first jobs of `rest` in one call, and removes their jids from `rest`.
    pub(crate) fn read_job_slice(
        &mut self,
        now: Moment,
        fields: &str,
        rest: &mut &[Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        let mut size = self.jobs_per_reply;
        let (slice, replies) = self.read_next_slice(now, fields, rest, &mut size)?;
        self.jobs_per_reply = size;
        read_jobs(slice, replies)
    }

    /// Reads jobs in one call. The caller must not pass more jids than one call can read.
    pub(super) fn read_jobs_in_one_call(
        &mut self,
        now: Moment,
        fields: &str,
        jids: &[&Name],
    ) -> Result<Vec<Option<Job>>, Error> {
        let call = Call::new(calls::LOOK_JOBS).arg(fields).args(jids);
        let Value::Array(rows) = self.call_for_reply(now, call)?.result? else {
            return Err(reply::unexpected_reply(calls::LOOK_JOBS.name, "not a list"));
        };
        let rows = reply::require_row_per_item(calls::LOOK_JOBS.name, rows, jids.len())?;
        read_jobs(jids.iter().copied(), rows)
    }

    /// Reads the first jobs of `rest`, up to the maximum size of a reply. If the reply is too large, asks again for
    /// half of the jobs. The core may return fewer jobs if they have very many dependencies and dependents.
    pub(super) fn read_next_slice<'j>(
        &mut self,
        now: Moment,
        fields: &str,
        rest: &mut &'j [Name],
        size: &mut JobsPerReply,
    ) -> Result<(&'j [Name], Vec<Value>), Error> {
        loop {
            let slice = &rest[..size.jobs.min(rest.len())];
            let call = Call::new(calls::LOOK_JOBS).arg(fields).args(slice);
            let reply = self.call_for_reply(now, call)?.result;
            match reply {
                Err(error) if error.cause() == Some(&Cause::RepliesTooLarge) && slice.len() > 1 => {
                    size.set_to_half_of(slice.len());
                }
                Err(error) => return Err(error),
                Ok(reply) => {
                    let bytes = reply::approx_byte_len(&reply);
                    let jobs = match reply {
                        Value::Array(jobs) if (1..=slice.len()).contains(&jobs.len()) => jobs,
                        _ => {
                            let call = calls::LOOK_JOBS.name;
                            return Err(reply::unexpected_reply(call, "not a row for each job"));
                        }
                    };
                    size.adapt_to_replies(jobs.len(), bytes);
                    let (slice, after) = rest.split_at(jobs.len());
                    *rest = after;
                    return Ok((slice, jobs));
                }
            }
        }
    }

    /// Snapshots of jobs, `None` for each that does not exist.
    pub fn job_snapshots(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<JobSnapshot>>, Error> {
        let mut interner = FieldInterner::default();
        let mut snapshots = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            for job in self.jobs(now, JobFields::Snapshot, jids)? {
                snapshots.push(job.map(|job| {
                    // An older core stored scheduled jobs in state `waiting`: their score in the schedule is the due
                    // time.
                    let is_waiting = job.state == Some(State::Waiting);
                    let left_due = job.due_score.filter(|_| is_waiting);
                    let left_due = left_due.and_then(Moment::from_seconds);
                    let mut snapshot = JobSnapshot::from_job(job, &mut interner);
                    snapshot.due = snapshot.due.or(left_due).filter(|due| *due > now);
                    snapshot
                }));
            }
        }
        Ok(snapshots)
    }

    /// The dependents of each job that has any, by its jid.
    pub fn dependents_by_job(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<HashMap<Name, Vec<Name>>, Error> {
        #[derive(Deserialize)]
        struct DependentsRow {
            dependents: Vec<Name>,
        }
        let mut dependents = HashMap::new();
        let (mut rest, mut size) = (jids, JobsPerReply::new(JOBS_PER_READ, JOBS_PER_READ));
        while !rest.is_empty() {
            let (jids, rows) = self.read_next_slice(now, "dependents", &mut rest, &mut size)?;
            for (jid, row) in jids.iter().zip(rows) {
                let row: Option<DependentsRow> = reply::read_reply(calls::LOOK_JOBS.name, row)?;
                let names = row.map(|row| row.dependents).unwrap_or_default();
                if !names.is_empty() {
                    dependents.insert(jid.clone(), names);
                }
            }
        }
        Ok(dependents)
    }

    /// Reads fields of jobs: `None` for each job that does not exist.
    pub(super) fn read_job_fields<T: DeserializeOwned, J: AsRef<[u8]>>(
        &mut self,
        now: Moment,
        fields: &str,
        jids: &[J],
    ) -> Result<Vec<Option<T>>, Error> {
        let rows = self.call(now, Call::new(calls::LOOK_JOBS).arg(fields).args(jids))?;
        reply::require_row_per_item(calls::LOOK_JOBS.name, rows, jids.len())
    }

    /// Adds the payloads to merge jobs that were read without them: of the job fields, only [`JobFields::Full`]
    /// includes payloads.
    pub(crate) fn add_missing_merge_payloads<'j>(
        &mut self,
        now: Moment,
        jobs: impl Iterator<Item = &'j mut Job>,
    ) -> Result<(), Error> {
        let lacks = |job: &&mut Job| {
            let dup = job.dup.as_ref().map(Name::as_bytes);
            dup == Some(b"merge") && job.payloads.is_empty()
        };
        let mut merge_jobs: Vec<&mut Job> = jobs.filter(lacks).collect();
        let jids: Vec<Name> = merge_jobs.iter().map(|job| job.jid.clone()).collect();
        let found = self.jobs_with_fields(now, "jid,payloads", &jids)?;
        for (job, found) in merge_jobs.iter_mut().zip(found) {
            job.payloads = found.map(|found| found.payloads).unwrap_or_default();
        }
        Ok(())
    }

    /// Counts the failed dependencies of each blocked job.
    pub fn set_failed_dependency_counts(
        &mut self,
        now: Moment,
        jobs: Vec<&mut Job>,
    ) -> Result<(), Error> {
        let blocked = jobs.iter().filter(|job| job.state == Some(State::Depends));
        let jids: BTreeSet<Name> = blocked
            .flat_map(|job| job.dependencies.iter().cloned())
            .collect();
        let jids: Vec<Name> = jids.into_iter().collect();
        let dependencies = jids.iter().zip(self.jobs(now, JobFields::Location, &jids)?);
        let failed: HashSet<&Name> = dependencies
            .filter(|(_, job)| {
                job.as_ref()
                    .is_some_and(|job| job.state == Some(State::Failed))
            })
            .map(|(jid, _)| jid)
            .collect();
        for job in jobs {
            let failed = job.dependencies.iter().filter(|jid| failed.contains(jid));
            job.failed_dependencies = failed.count() as u64;
        }
        Ok(())
    }

    /// A job's dependencies and dependents, `None` if the job does not exist.
    pub fn dependencies_and_dependents(
        &mut self,
        now: Moment,
        jid: &Name,
    ) -> Result<Option<DependenciesAndDependents>, Error> {
        let found = self.jobs(now, JobFields::Brief, std::slice::from_ref(jid))?;
        let Some(job) = found.into_iter().flatten().next() else {
            return Ok(None);
        };
        let mut neighbors = self.dependencies_then_dependents(now, &job)?;
        let blocked = neighbors
            .iter_mut()
            .filter_map(|other| other.job.as_deref_mut());
        self.set_failed_dependency_counts(now, blocked.collect())?;
        let dependents = neighbors.split_off(job.dependencies.len());
        Ok(Some(DependenciesAndDependents {
            jid: job.jid,
            klass: job.klass,
            queue: job.queue,
            dependencies: neighbors,
            dependents,
            dry_run: false,
        }))
    }

    /// The job's dependencies, then its dependents.
    pub fn dependencies_then_dependents(
        &mut self,
        now: Moment,
        job: &Job,
    ) -> Result<Vec<Neighbor>, Error> {
        self.first_dependencies_then_dependents(now, job, usize::MAX)
    }

    /// Up to `limit` of the job's dependencies, then up to `limit` of its dependents.
    pub(crate) fn first_dependencies_then_dependents(
        &mut self,
        now: Moment,
        job: &Job,
        limit: usize,
    ) -> Result<Vec<Neighbor>, Error> {
        let (before, after) = (&job.dependencies, &job.dependents);
        let jids: Vec<Name> = before
            .iter()
            .take(limit)
            .chain(after.iter().take(limit))
            .cloned()
            .collect();
        let jobs = self.jobs(now, JobFields::Neighbor, &jids)?;
        Ok(jids
            .into_iter()
            .zip(jobs)
            .map(|(jid, job)| Neighbor::new(jid, job))
            .collect())
    }
}

/// Reads the rows in the reply of `look.jobs`, `None` for each job that does not exist.
pub(super) fn read_jobs<'j>(
    jids: impl IntoIterator<Item = &'j Name>,
    rows: Vec<Value>,
) -> Result<Vec<Option<Job>>, Error> {
    let jobs = jids.into_iter().zip(rows).map(|(jid, row)| match row {
        Value::Nil => Ok(None),
        fields => read_job(jid, fields).map(Some),
    });
    jobs.collect()
}

/// Reads a job from the names and values of its row in the reply of `look.jobs`. Does not use serde, which is slower.
/// A name may occur twice, because another client may have stored a field with the name of a value that the core adds.
pub(super) fn read_job(jid: &Name, fields: Value) -> Result<Job, Error> {
    const CALL: &str = calls::LOOK_JOBS.name;
    let mut job = Job {
        jid: jid.clone(),
        ..Job::default()
    };
    let (mut shown, mut expires, mut lock, mut scheduled) = (None, None, None, None);
    let (mut history, mut legacy) = (None, None);
    for (field, value) in reply::read_pairs(CALL, fields)? {
        if matches!(value, Value::Array(_)) {
            match field.as_slice() {
                b"dependencies" => job.dependencies = reply::read_reply(CALL, value)?,
                b"dependents" => job.dependents = reply::read_reply(CALL, value)?,
                b"unlisted" => job.unlisted = reply::read_reply(CALL, value)?,
                b"payloads" => {
                    job.payloads = read_payloads_and_scores(reply::read_pairs(CALL, value)?)
                }
                b"history" => history = Some(reply::read_reply::<Vec<Name>>(CALL, value)?),
                _ => {}
            }
            continue;
        }
        let Some(Bytes(text)) = reply::read_reply(CALL, value)? else {
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
            b"priority" => job.priority = Number::from_decimal(&text),
            b"retries" => job.retries = Number::from_decimal(&text),
            b"remaining" => {
                job.remaining = Number::from_decimal(&text).map(|number| Number(number.0.floor()))
            }
            b"worker" => job.worker = Some(Name::from(text)).filter(|worker| !worker.is_empty()),
            b"expires" => expires = Moment::from_decimal(&text),
            b"lock" => lock = Moment::from_decimal(&text),
            b"due" => {
                job.due_score = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| text.parse().ok());
            }
            b"scheduled" => scheduled = Moment::from_decimal(&text),
            b"tracked" => job.tracked = text == b"1",
            b"tags" => {
                job.tags = Json::parse(&text)
                    .and_then(|tags| tags.text_array())
                    .unwrap_or_default()
            }
            b"data" => job.data = JobData::from(text),
            b"data_length" => {
                job.data_length = std::str::from_utf8(&text)
                    .ok()
                    .and_then(|text| text.parse().ok());
            }
            b"failure" => job.failure = Failure::from_stored(&text),
            b"spawned_from_jid" => job.spawned_from = Some(Name::from(text)),
            b"since" => job.since = Moment::from_decimal(&text),
            b"mark" => job.mark = text,
            b"throttles" => {
                let throttles = Json::parse(&text).and_then(|ids| ids.text_array());
                job.throttles = throttles.unwrap_or_default();
            }
            b"key" => job.key = Some(Name::from(text)).filter(|key| !key.is_empty()),
            b"dup" => job.dup = Some(Name::from(text)),
            b"rescore" => job.rescore = Some(Name::from(text)),
            b"hold" => job.hold = text == b"1",
            b"backoff" => job.backoff = Some(Name::from(text)),
            b"fence" => job.fence = Number::from_decimal(&text),
            b"grace" => job.in_grace = text == b"1",
            b"legacy" => legacy = Some(text),
            _ => {}
        }
    }
    job.state = shown;
    let held = matches!(shown, Some(State::Running | State::Stalled));
    if !held {
        // After a retry or a revoked lock, the stored field still names the last worker, which no longer holds the job.
        job.worker = None;
    }
    job.expires = lock.or(expires.filter(|expires| held && expires.micros() != 0));
    job.scheduled_for = match shown {
        Some(State::Scheduled) => job.due_score.and_then(Moment::from_seconds),
        Some(State::Depends) => scheduled,
        _ => None,
    };
    if let Some(mut entries) = history {
        // A call that brings the history into today's form appends them in the same way.
        let legacy = legacy.and_then(|text| Json::parse(&text));
        entries.extend(legacy.iter().flat_map(history_entries_from_legacy_json));
        let read = entries.iter().map(Name::as_bytes);
        job.history = Some(read.filter_map(HistoryEntry::from_stored).collect());
        job.stored_history = entries;
    }
    Ok(job)
}

/// Reads the payloads of a merge job from a list of pairs: a payload, then its score.
fn read_payloads_and_scores(pairs: Vec<(Vec<u8>, Value)>) -> Vec<MergePayload> {
    let payload = |(data, score)| MergePayload {
        data: JobData::from(data),
        score: reply::read_reply(calls::LOOK_JOBS.name, score).unwrap_or_default(),
    };
    pairs.into_iter().map(payload).collect()
}

/// The entries that the core will make from a history that is still one JSON document, as old versions stored it.
fn history_entries_from_legacy_json(legacy: &Json) -> Vec<Name> {
    let mut entries = Vec::new();
    for item in legacy.array().unwrap_or_default() {
        let fields = item.object().unwrap_or_default();
        let text = |name: &str| {
            let value = field_value(&fields, name);
            let text =
                value.and_then(|value| value.text().or_else(|| Some(value.to_single_line())));
            quote_as_core(text.unwrap_or_default().as_bytes())
        };
        for what in ["put", "popped", "failed", "done"] {
            let when = field_value(&fields, what).and_then(|when| match when.text() {
                Some(text) => text.as_str()?.trim().parse().ok(),
                None => when.number(),
            });
            let Some(when) = when.filter(|when: &f64| when.is_finite()) else {
                continue;
            };
            let mut entry = format!("[{:.0},\"{what}\"", when.floor()).into_bytes();
            let noted = match what {
                "put" => Some(("q", text("q"))),
                "popped" => Some(("worker", text("worker"))),
                _ => None,
            };
            if let Some((key, value)) = noted {
                entry.extend(format!(",{{\"{key}\":").into_bytes());
                entry.extend(value);
                entry.push(b'}');
            }
            entry.push(b']');
            entries.push(Name::from(entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_of(fields: &[(&str, &str)]) -> Value {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        Value::Array(
            fields
                .iter()
                .flat_map(|(name, value)| [text(name), text(value)])
                .collect(),
        )
    }

    #[test]
    fn the_lock_decides_when_it_expires() {
        let fields = [
            ("state", "running"),
            ("shown", "stalled"),
            ("worker", "w"),
            ("expires", "60"),
            ("lock", "70"),
        ];
        let job = read_job(&Name::from("j"), reply_of(&fields)).unwrap();
        assert_eq!(job.worker, Some(Name::from("w")));
        assert_eq!(job.expires, Moment::from_seconds(70.0));
    }

    #[test]
    fn unreadable_fields_are_absent() {
        let fields = [
            ("state", "sleeping"),
            ("shown", "sleeping"),
            ("tags", "nonsense"),
            ("priority", "high"),
        ];
        let job = read_job(&Name::from("j"), reply_of(&fields)).unwrap();
        assert_eq!((job.state, job.priority), (None, None));
        assert!(job.tags.is_empty());
        assert_eq!(job.state_stored, Some(Name::from("sleeping")));
    }
    #[test]
    fn a_history_in_the_old_form_becomes_entries() {
        let old = r#"[{"put":1.7,"q":"a/b","popped":"3","worker":"w","failed":null},{"done":9},7]"#;
        let entries = history_entries_from_legacy_json(&Json::parse(old.as_bytes()).unwrap());
        let texts: Vec<&str> = entries.iter().filter_map(Name::as_str).collect();
        assert_eq!(
            texts,
            [
                r#"[1,"put",{"q":"a\/b"}]"#,
                r#"[3,"popped",{"worker":"w"}]"#,
                r#"[9,"done"]"#
            ]
        );
    }
}
