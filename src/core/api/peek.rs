//! The jobs that the next pop of a queue would return.

use super::index::Index;
use super::job::Detail;
use crate::clock::moment::Moment;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::json::{Json, Number};
use crate::model::job::{Job, State};
use crate::model::recur::Recurring;
use crate::name::Name;

impl Core {
    /// Returns the jobs that the next pop would return, by the core's `peek`.
    pub fn peek(&mut self, now: Moment, queue: &Name, count: u64) -> Result<Vec<Job>, Error> {
        let call = Call::new(calls::PEEK).arg(queue);
        let Bytes(text) = self.call(now, call.arg(count.to_string()))?;
        let jobs = Json::read(&text)
            .and_then(|jobs| jobs.array())
            .unwrap_or_default();
        let jids = jobs.iter().filter_map(|job| {
            let members = job.object()?;
            members
                .iter()
                .find(|(key, _)| key.as_bytes() == b"jid")?
                .1
                .text()
        });
        let jids: Vec<Name> = jids.collect();
        Ok(self
            .jobs(now, Detail::Brief, &jids)?
            .into_iter()
            .flatten()
            .collect())
    }

    /// Returns the same jobs without any write: this function works out what the core would move or put
    /// first. A job that a recurring one would put has a jid and no state yet.
    pub fn peek_read_only(
        &mut self,
        now: Moment,
        queue: &Name,
        count: u64,
    ) -> Result<Vec<Job>, Error> {
        let sets = [
            Index::Locks,
            Index::Waiting,
            Index::Scheduled,
            Index::Recurring,
        ];
        let wanted = sets.map(|set| (set(queue.clone()), 0));
        let mut parts = self.parts(now, &wanted, count)?.into_iter();
        let mut members = || parts.next().unwrap_or_default().members;
        let (locks, waiting, scheduled, templates) = (members(), members(), members(), members());
        let mut jids = locks.clone();
        jids.extend(waiting.iter().cloned());
        jids.extend(scheduled);
        let mut jobs = self.jobs(now, Detail::Brief, &jids)?.into_iter();
        let mut next: Vec<Job> = jobs.by_ref().take(locks.len()).flatten().collect();
        next.retain(|job| job.state == Some(State::Stalled));
        let mut rest: Vec<Job> = jobs.by_ref().take(waiting.len()).flatten().collect();
        for template in self.recurs(now, &templates)?.into_iter().flatten() {
            rest.extend(due(&template, now, count));
        }
        rest.extend(
            jobs.flatten()
                .filter(|job| job.scheduled_for.is_some_and(|due| due <= now)),
        );
        // A job whose lock was revoked is next, whatever its priority. Then the higher priority is.
        rest.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
        next.append(&mut rest);
        next.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(next)
    }
}

fn rank(job: &Job) -> f64 {
    match (job.state, job.priority) {
        (Some(State::Stalled), _) => f64::INFINITY,
        (_, Some(Number(priority))) => priority,
        (_, None) => 0.0,
    }
}

/// Returns the jobs that a template would put now.
fn due(template: &Recurring, now: Moment, most: u64) -> Vec<Job> {
    let (Some(next), Some(Number(every))) = (template.next, template.every_s) else {
        return Vec::new();
    };
    if every <= 0.0 {
        return Vec::new();
    }
    let (now, mut at) = (now.seconds(), next.seconds().floor());
    let backlog = template.backlog.map_or(0.0, |backlog| backlog.0);
    let late = (now - at) / every;
    if backlog > 0.0 && late > backlog {
        at += (late - backlog).ceil() * every;
    }
    let mut number = template.count.map_or(0, Number::floor);
    let mut jobs = Vec::new();
    while at <= now && (jobs.len() as u64) < most {
        number += 1;
        let mut jid = template.jid.as_bytes().to_vec();
        jid.extend(format!("-{number}").into_bytes());
        jobs.push(Job {
            jid: Name::from(jid),
            klass: template.klass.clone(),
            queue: template.queue.clone(),
            priority: template.priority,
            retries: template.retries,
            remaining: template.retries,
            tags: template.tags.clone(),
            data: template.data.clone(),
            spawned_from: Some(template.jid.clone()),
            scheduled_for: Moment::from_seconds(at),
            ..Job::default()
        });
        at += every;
    }
    jobs
}
