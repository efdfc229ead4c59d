//! Reading recurring jobs.

use super::index::Index;
use super::job::JobFields;
use crate::clock::moment::Moment;
use crate::core::call::reply::{self, Bytes};
use crate::core::call::{Call, Core, Value, calls};
use crate::error::Error;
use crate::json::data::JobData;
use crate::json::{Json, Number};
use crate::model::coordination::CoordinationOptions;
use crate::model::job::Job;
use crate::model::list::JobOrRecurring;
use crate::model::pattern::{NamePattern, passes_filter};
use crate::model::recur::Recurring;
use crate::name::Name;

const CALL: &str = calls::LOOK_RECURS.name;

/// Maximum number of templates that one call returns.
const MAX_TEMPLATES_PER_CALL: usize = 500;

/// The first templates of a list.
pub(crate) struct FirstRecurringAndPausedTotal {
    pub templates: Vec<Recurring>,
    /// The number of all paused templates.
    pub paused_total: u64,
}

impl Core {
    /// The recurring jobs of the queues that match the patterns, or of all queues without patterns: by queue, then by
    /// next run, with paused ones last in each queue.
    pub(crate) fn recurring_like(
        &mut self,
        now: Moment,
        queues: &[NamePattern],
    ) -> Result<Vec<Recurring>, Error> {
        let found = self.queues_like(now, queues)?;
        let holding = found.into_iter().filter(|queue| queue.recurring > 0);
        let names: Vec<Name> = holding.map(|queue| queue.name).collect();
        let mut recurring = self.active_recurring_in_queues(now, &names)?;
        let mut paused = self.paused_recurring(now)?;
        paused.retain(|paused| passes_filter(queues, paused.queue.as_ref()));
        if !paused.is_empty() {
            recurring.append(&mut paused);
            recurring.sort_by_key(|one| (one.queue.clone(), one.is_paused()));
        }
        Ok(recurring)
    }

    /// Templates in the order of the jids, `None` for each that does not exist.
    pub fn recurring_jobs(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<Recurring>>, Error> {
        let mut recurs = Vec::with_capacity(jids.len());
        for slice in jids.chunks(MAX_TEMPLATES_PER_CALL) {
            let call = Call::new(calls::LOOK_RECURS).args(slice);
            let Value::Array(templates) = self.call_for_reply(now, call)?.result? else {
                return Err(reply::unexpected_reply(CALL, "not a list"));
            };
            let templates = reply::require_row_per_item(CALL, templates, slice.len())?;
            for (jid, template) in slice.iter().zip(templates) {
                recurs.push(match template {
                    Value::Nil => None,
                    template => Some(read_recurring(jid, template)?),
                });
            }
        }
        Ok(recurs)
    }

    /// The job or recurring job with each jid, in the order of the jids; `None` for each that does not exist.
    pub(crate) fn jobs_or_recurring_jobs(
        &mut self,
        now: Moment,
        fields: JobFields,
        jids: &[Name],
    ) -> Result<Vec<Option<JobOrRecurring>>, Error> {
        let jobs = self.jobs(now, fields, jids)?;
        let others = jids.iter().zip(&jobs).filter(|(_, job)| job.is_none());
        let others: Vec<Name> = others.map(|(jid, _)| jid.clone()).collect();
        let mut recurring = self.recurring_jobs(now, &others)?.into_iter();
        let item = |job: Option<Job>| match job {
            Some(job) => Some(JobOrRecurring::Job(job.into())),
            None => {
                let recurring = recurring.next().flatten()?;
                Some(JobOrRecurring::Recurring(recurring.into()))
            }
        };
        Ok(jobs.into_iter().map(item).collect())
    }

    /// For each jid, whether a job or a recurring job has it.
    pub fn jids_in_use(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<bool>, Error> {
        let mut found = self.jobs_exist(now, jids)?;
        let missing = jids.iter().zip(&found);
        let missing: Vec<Name> = missing
            .filter(|(_, found)| !**found)
            .map(|(jid, _)| jid.clone())
            .collect();
        let mut recurring = self.recurring_jobs(now, &missing)?.into_iter();
        for found in found.iter_mut().filter(|found| !**found) {
            *found = recurring.next().flatten().is_some();
        }
        Ok(found)
    }

    /// The templates of queues. Within a queue they are in the order of their next run.
    pub fn active_recurring_in_queues(
        &mut self,
        now: Moment,
        queues: &[Name],
    ) -> Result<Vec<Recurring>, Error> {
        let mut jids = Vec::new();
        for queue in queues {
            jids.append(&mut self.index_members(now, &Index::Recurring(queue.clone()))?);
        }
        Ok(self
            .recurring_jobs(now, &jids)?
            .into_iter()
            .flatten()
            .collect())
    }

    /// The first `limit` templates, the active ones before the paused ones. `active_counts` gives the number of active
    /// templates of each queue.
    pub(crate) fn first_recurring(
        &mut self,
        now: Moment,
        active_counts: &[(Name, u64)],
        limit: u64,
    ) -> Result<FirstRecurringAndPausedTotal, Error> {
        let mut left = limit;
        let holding = active_counts.iter().take_while(|(_, count)| {
            let fits = left > 0;
            left = left.saturating_sub(*count);
            fits
        });
        let holding = holding.map(|(queue, _)| (Index::Recurring(queue.clone()), 0));
        let mut indexes: Vec<(Index, u64)> = holding.collect();
        indexes.push((Index::PausedRecurring, 0));
        let slices = self.index_ranges(now, &indexes, limit)?;
        let paused = slices.last().map_or(0, |slice| slice.total);
        let jids = slices.into_iter().flat_map(|slice| slice.members);
        let jids: Vec<Name> = jids
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect();
        let templates = self.recurring_jobs(now, &jids)?;
        Ok(FirstRecurringAndPausedTotal {
            templates: templates.into_iter().flatten().collect(),
            paused_total: paused,
        })
    }

    /// The paused templates, by jid.
    pub fn paused_recurring(&mut self, now: Moment) -> Result<Vec<Recurring>, Error> {
        let jids = self.index_members(now, &Index::PausedRecurring)?;
        let found = self.recurring_jobs(now, &jids)?.into_iter().flatten();
        Ok(found.filter(Recurring::is_paused).collect())
    }
}

/// Reads a template from the names and values of its fields. For speed, this does not use serde.
fn read_recurring(jid: &Name, fields: Value) -> Result<Recurring, Error> {
    let mut recurring = Recurring {
        jid: jid.clone(),
        ..Recurring::default()
    };
    for (field, value) in reply::read_pairs(CALL, fields)? {
        let Some(Bytes(text)) = reply::read_reply(CALL, value)? else {
            continue;
        };
        match field.as_slice() {
            b"klass" => recurring.klass = Some(Name::from(text)),
            b"queue" => recurring.queue = Some(Name::from(text)),
            b"interval" => recurring.every_s = Number::from_decimal(&text),
            b"next" => recurring.next = Moment::from_decimal(&text),
            b"backlog" => recurring.backlog = Number::from_decimal(&text),
            b"count" => recurring.count = Number::from_decimal(&text),
            b"priority" => recurring.priority = Number::from_decimal(&text),
            b"retries" => recurring.retries = Number::from_decimal(&text),
            b"tags" => {
                recurring.tags = Json::parse(&text)
                    .and_then(|tags| tags.text_array())
                    .unwrap_or_default();
            }
            b"data" => recurring.data = JobData::from(text),
            b"opts" => recurring.options = read_options(&text),
            b"paused" => recurring.paused_since = Moment::from_decimal(&text),
            b"by" => recurring.paused_by = Some(Name::from(text)),
            b"reason" => recurring.paused_reason = Some(Name::from(text)),
            _ => {}
        }
    }
    Ok(recurring)
}

/// Reads the options that the jobs of a template get; `None` if there are none.
fn read_options(text: &[u8]) -> Option<CoordinationOptions<'static>> {
    let options = CoordinationOptions::from_stored_json(&Json::parse(text)?);
    (!options.is_empty()).then_some(options)
}
