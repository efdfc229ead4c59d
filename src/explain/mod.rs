//! Finds out for `qless explain` why jobs do not run: reads facts about the jobs and their queues, and derives the
//! reasons from the facts. The reads pop and promote no job.

mod reasons;
mod walk;

use std::collections::BTreeSet;

use crate::clock::moment::Moment;
use crate::core::api::explain::QueueAndOptionalJid;
use crate::core::api::job::JobFields;
use crate::core::api::not_found;
use crate::core::call::Core;
use crate::error::{Error, Kind};
use crate::model::explain::{Explanation, PopFacts};
use crate::model::job::reason::{BackoffCause, DelayReason};
use crate::model::job::{Job, Neighbor, State};
use crate::model::list::JobOrRecurring;
use crate::model::queue::RoundedSeconds;
use crate::model::recur::Recurring;
use crate::name::Name;

/// Maximum number of jobs whose facts are read together, in one batch of calls.
const MAX_JOBS: usize = 200;

/// Explains for each jid why the job or recurring job does not run; `None` for a jid that does not exist.
pub(crate) fn explain_jobs(
    core: &mut Core,
    now: Moment,
    jids: &[Name],
) -> Result<Vec<Option<Explanation>>, Error> {
    let mut explanations = Vec::with_capacity(jids.len());
    for jids in jids.chunks(MAX_JOBS) {
        let items = core.jobs_or_recurring_jobs(now, JobFields::Brief, jids)?;
        let queries: Vec<Option<QueueAndOptionalJid>> = items
            .iter()
            .map(|item| match item.as_ref()? {
                JobOrRecurring::Job(job) => Some(QueueAndOptionalJid {
                    queue: job.queue.as_ref()?,
                    jid: Some(&job.jid),
                }),
                JobOrRecurring::Recurring(recurring) => Some(QueueAndOptionalJid {
                    queue: recurring.queue.as_ref()?,
                    jid: None,
                }),
            })
            .collect();
        let facts = read_pop_facts(core, now, &queries)?;
        for (item, facts) in items.iter().zip(facts) {
            explanations.push(match item {
                Some(JobOrRecurring::Job(job)) => {
                    Some(explain_job_with_facts(core, now, job, facts)?)
                }
                Some(JobOrRecurring::Recurring(recurring)) => {
                    Some(explain_recurring(recurring, facts, now))
                }
                None => None,
            });
        }
    }
    Ok(explanations)
}

/// Why a job does not run.
pub(crate) fn explain_single_job(
    core: &mut Core,
    now: Moment,
    job: &Job,
) -> Result<Explanation, Error> {
    let jid = Some(&job.jid);
    let query = (job.queue.as_ref()).map(|queue| QueueAndOptionalJid { queue, jid });
    let facts = read_pop_facts(core, now, &[query])?.pop();
    explain_job_with_facts(core, now, job, facts.flatten())
}

fn explain_job_with_facts(
    core: &mut Core,
    now: Moment,
    job: &Job,
    facts: Option<PopFacts>,
) -> Result<Explanation, Error> {
    let walk = match job.state {
        Some(State::Depends) => Some(walk::walk_dependencies(core, now, job)?),
        _ => None,
    };
    let ordered = facts.as_ref().is_some_and(|facts| facts.ordered);
    let before = lane_jobs_before(core, now, job, ordered)?;
    let backoff = backoff_cause_from_history(core, now, job)?;
    let reasons = reasons::job_reasons(job, facts.as_ref(), walk.as_ref(), &before, backoff, now);
    Ok(Explanation {
        jid: Some(job.jid.clone()),
        klass: job.klass.clone(),
        queue: job.queue.clone(),
        state: job.state,
        ..explanation_from_reasons_and_facts(reasons, facts.as_ref(), now)
    })
}

/// The jobs that come before a job in its lane, in order. Empty if the job does not wait for them: its state
/// is not `depends`, and the lane does not keep a pop from returning the job (`is_blocked_by_lane`).
fn lane_jobs_before(
    core: &mut Core,
    now: Moment,
    job: &Job,
    is_blocked_by_lane: bool,
) -> Result<Vec<Neighbor>, Error> {
    let waits = is_blocked_by_lane || job.state == Some(State::Depends);
    let Some(lane) = job.key.as_ref().filter(|_| waits) else {
        return Ok(Vec::new());
    };
    let mut lane = core.lane_jobs(now, lane)?;
    match lane.iter().position(|other| other.jid == job.jid) {
        Some(place) => lane.truncate(place),
        // A complete or failed job is no longer in its lane, so no job of the lane blocks it.
        None if matches!(job.state, Some(State::Complete | State::Failed)) => lane.clear(),
        None => {}
    }
    // The lane has stored states, which do not tell that a lock expired.
    if let Some(last) = lane.last_mut() {
        let jid = std::slice::from_ref(&last.jid);
        let found = core.jobs(now, JobFields::Location, jid)?.into_iter().next();
        *last = Neighbor::new(last.jid.clone(), found.flatten());
    }
    Ok(lane)
}

/// Why a scheduled job that has used retries backs off. `LostLock` if its newest history entry is `timed-out`;
/// otherwise `Retry` if the job has a back-off for retries, since a retry by another client leaves no history entry.
fn backoff_cause_from_history(
    core: &mut Core,
    now: Moment,
    job: &Job,
) -> Result<Option<BackoffCause>, Error> {
    if job.state != Some(State::Scheduled) || !job.has_used_retry() {
        return Ok(None);
    }
    let jobs = core.jobs(now, JobFields::FullExcerpt, std::slice::from_ref(&job.jid))?;
    let read = jobs.into_iter().next().flatten();
    let history = read.and_then(|job| job.history).unwrap_or_default();
    let newest = history.last().map(|entry| entry.what.as_bytes());
    Ok(match newest {
        Some(b"timed-out") => Some(BackoffCause::LostLock),
        _ => job.retry_backoff_policy().map(|_| BackoffCause::Retry),
    })
}

fn explain_recurring(recurring: &Recurring, facts: Option<PopFacts>, now: Moment) -> Explanation {
    let reasons = reasons::recurring_reasons(recurring, facts.as_ref(), now);
    Explanation {
        jid: Some(recurring.jid.clone()),
        klass: recurring.klass.clone(),
        queue: recurring.queue.clone(),
        recurring: true,
        ..explanation_from_reasons_and_facts(reasons, facts.as_ref(), now)
    }
}

/// Why pops of a queue get no job.
pub(crate) fn explain_queue(
    core: &mut Core,
    now: Moment,
    name: &Name,
) -> Result<Explanation, Error> {
    let query = QueueAndOptionalJid {
        queue: name,
        jid: None,
    };
    let found = read_pop_facts(core, now, &[Some(query)])?.pop().flatten();
    let Some(facts) = found else {
        return Err(not_found::missing_queue_error(core, now, name)?);
    };
    let reasons = reasons::queue_reasons(&facts, now);
    let explanation = explanation_from_reasons_and_facts(reasons, Some(&facts), now);
    Ok(Explanation {
        queue: Some(name.clone()),
        runnable: explanation.next_jid.is_some(),
        counts: Some(facts.queue),
        ..explanation
    })
}

fn explanation_from_reasons_and_facts(
    reasons: Vec<DelayReason>,
    facts: Option<&PopFacts>,
    now: Moment,
) -> Explanation {
    let oldest = facts.and_then(|facts| facts.oldest);
    Explanation {
        runnable: !reasons.iter().any(DelayReason::blocks_pop),
        next_jid: facts.and_then(|facts| facts.next.clone()),
        last_pop: facts.and_then(|facts| facts.popped),
        oldest_wait_s: oldest.map(|since| RoundedSeconds(now.since(since).max(0.0))),
        reasons,
        ..Explanation::default()
    }
}

/// Reads the facts about the queue, and about the job in it, for each query. `None` without a query, or for one whose
/// queue does not exist. One call reads all facts about a queue, so they fit together.
fn read_pop_facts(
    core: &mut Core,
    now: Moment,
    queries: &[Option<QueueAndOptionalJid>],
) -> Result<Vec<Option<PopFacts>>, Error> {
    let given: Vec<QueueAndOptionalJid> = queries.iter().copied().flatten().collect();
    let mut pops = match core.pop_facts(now, &given) {
        Ok(pops) => pops.into_iter(),
        Err(error) if error.kind() == Kind::WrongKeyType => {
            // This names the queue and its key.
            let names: BTreeSet<&Name> = given.iter().map(|query| query.queue).collect();
            let names: Vec<Name> = names.into_iter().cloned().collect();
            core.queues(now, &names)?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    let facts = queries.iter().map(|query| {
        let facts = query.and_then(|_| pops.next());
        facts.filter(|facts| facts.queue.exists())
    });
    Ok(facts.collect())
}
