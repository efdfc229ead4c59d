//! Why jobs do not run: reads the facts in a number of calls that does not depend on the number of
//! jobs, and derives the reasons. Nothing is popped or promoted.

mod reasons;
mod walk;

use crate::clock::moment::Moment;
use crate::core::api::job::Detail;
use crate::core::api::not_found;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::explain::{Explanation, PopFacts, Reason};
use crate::model::job::{Job, State};
use crate::model::queue::{Queue, Seconds};
use crate::model::recur::Recurring;
use crate::name::Name;

/// Returns why jobs and recurring jobs do not run, `None` for jids that do not exist.
pub(crate) fn jobs(
    core: &mut Core,
    now: Moment,
    jids: &[Name],
) -> Result<Vec<Option<Explanation>>, Error> {
    let found = core.jobs(now, Detail::Brief, jids)?;
    let mut explanations = Vec::with_capacity(jids.len());
    for (jid, job) in jids.iter().zip(found) {
        explanations.push(match job {
            Some(job) => Some(of_job(core, now, &job)?),
            None => {
                let recurring = core.recurs(now, std::slice::from_ref(jid))?.pop().flatten();
                match recurring {
                    Some(recurring) => Some(of_recurring(core, now, &recurring)?),
                    None => None,
                }
            }
        });
    }
    Ok(explanations)
}

/// Returns why a job does not run.
pub(crate) fn of_job(core: &mut Core, now: Moment, job: &Job) -> Result<Explanation, Error> {
    let walk = match job.state {
        Some(State::Depends) => Some(walk::walk(core, now, job)?),
        _ => None,
    };
    let queue = facts(core, now, job.queue.as_ref(), Some(&job.jid))?;
    let both = queue.as_ref().map(|(queue, facts)| (queue, facts));
    let reasons = reasons::of_job(job, both, walk.as_ref(), now);
    Ok(Explanation {
        jid: Some(job.jid.clone()),
        klass: job.klass.clone(),
        queue: job.queue.clone(),
        state: job.state,
        ..explanation(reasons, queue.as_ref(), now)
    })
}

fn of_recurring(core: &mut Core, now: Moment, recurring: &Recurring) -> Result<Explanation, Error> {
    let queue = facts(core, now, recurring.queue.as_ref(), None)?;
    let both = queue.as_ref().map(|(queue, facts)| (queue, facts));
    let reasons = reasons::of_recurring(recurring, both, now);
    Ok(Explanation {
        jid: Some(recurring.jid.clone()),
        klass: recurring.klass.clone(),
        queue: recurring.queue.clone(),
        recurring: true,
        ..explanation(reasons, queue.as_ref(), now)
    })
}

/// Returns why pops of a queue get no job.
pub(crate) fn queue(core: &mut Core, now: Moment, name: &Name) -> Result<Explanation, Error> {
    let Some((queue, facts)) = facts(core, now, Some(name), None)? else {
        return Err(not_found::queue(core, now, name)?);
    };
    let reasons = reasons::of_queue(&queue, &facts, now);
    let both = (queue, facts);
    let mut explanation = explanation(reasons, Some(&both), now);
    explanation.runnable &= both.0.waiting + both.0.stalled > 0;
    Ok(Explanation {
        queue: Some(name.clone()),
        counts: Some(both.0),
        ..explanation
    })
}

fn explanation(
    reasons: Vec<Reason>,
    queue: Option<&(Queue, PopFacts)>,
    now: Moment,
) -> Explanation {
    let oldest = queue.and_then(|(_, facts)| facts.oldest);
    Explanation {
        runnable: !reasons.iter().any(|reason| reason.blocking),
        last_pop: queue.and_then(|(_, facts)| facts.popped),
        oldest_wait_s: oldest.map(|since| Seconds(now.since(since).max(0.0))),
        reasons,
        ..Explanation::default()
    }
}

/// Returns the facts about a queue, and where a job stands in it; `None` if there is no such queue.
fn facts(
    core: &mut Core,
    now: Moment,
    queue: Option<&Name>,
    jid: Option<&Name>,
) -> Result<Option<(Queue, PopFacts)>, Error> {
    let Some(name) = queue else {
        return Ok(None);
    };
    let queue = core.queues(now, std::slice::from_ref(name))?.pop();
    let Some(queue) = queue.filter(Queue::exists) else {
        return Ok(None);
    };
    let facts = core.pop_facts(now, &[(name, jid)])?.pop();
    Ok(Some((queue, facts.unwrap_or_default())))
}
