//! Reading failure groups.

use std::collections::BTreeSet;

use super::index::Index;
use super::job::JobFields;
use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::model::failure::FailureGroup;
use crate::model::job::Job;
use crate::name::Name;

/// A failure group shows the queues of up to this number of its oldest jobs, and of its newest jobs.
const EACH_END: u64 = 100;

/// The offsets at which to read the list of a failure group: that of its oldest jobs and, in a longer list, that of its
/// newest jobs.
fn oldest_and_newest_page_offsets(jobs: u64) -> Vec<u64> {
    match jobs {
        ..=EACH_END => vec![0],
        _ => vec![0, (jobs - EACH_END).max(EACH_END)],
    }
}

impl Core {
    /// The failure groups, each with the number of its jobs, largest first.
    pub fn failed_counts_by_group(&mut self, now: Moment) -> Result<Vec<(Name, u64)>, Error> {
        const CALL: &str = calls::FAILED.name;
        let text = self.call(now, Call::new(calls::FAILED))?;
        let groups = reply::read_json_object(CALL, &text)?.into_iter();
        let counted = groups.map(|(group, jobs)| match jobs.number() {
            Some(jobs) => Ok((group, jobs as u64)),
            None => Err(reply::unexpected_reply(CALL, "a group without a number")),
        });
        let mut groups: Vec<(Name, u64)> = counted.collect::<Result<_, Error>>()?;
        groups.sort_unstable_by(|(one, jobs), (other, more)| {
            more.cmp(jobs).then_with(|| one.cmp(other))
        });
        Ok(groups)
    }

    /// The failure groups, largest first, each with its newest failure and with the queues of its jobs.
    pub fn failed_groups(&mut self, now: Moment) -> Result<Vec<FailureGroup>, Error> {
        let counts = self.failed_counts_by_group(now)?;
        let wanted = counts.iter().flat_map(|(group, jobs)| {
            let from = oldest_and_newest_page_offsets(*jobs).into_iter();
            from.map(|from| (Index::Failed(group.clone()), from))
        });
        let wanted: Vec<(Index, u64)> = wanted.collect();
        let mut parts = self.index_ranges(now, &wanted, EACH_END)?.into_iter();
        let mut groups = Vec::new();
        let mut read: Vec<Name> = Vec::new();
        for (group, jobs) in counts {
            let (before, mut total) = (read.len(), 0);
            for part in parts
                .by_ref()
                .take(oldest_and_newest_page_offsets(jobs).len())
            {
                total = part.total;
                read.extend(part.members);
            }
            let members = read.len() - before;
            groups.push((
                FailureGroup {
                    group,
                    jobs,
                    queues_complete: members as u64 >= total,
                    ..FailureGroup::default()
                },
                members,
            ));
        }
        let mut jobs = self.jobs(now, JobFields::Location, &read)?.into_iter();
        for (group, members) in &mut groups {
            let mut queues = BTreeSet::new();
            for job in jobs.by_ref().take(*members).flatten() {
                // An import may have added older failures behind newer ones: the latest time decides, not the
                // position.
                if let Some(failure) = job.failure.filter(|failure| failure.when >= group.last) {
                    group.last = failure.when;
                    group.sample = Some(failure.message);
                }
                queues.extend(job.queue);
            }
            group.queues = queues.into_iter().collect();
        }
        Ok(groups.into_iter().map(|(group, _)| group).collect())
    }

    /// The newest job of each failure group: the last one of its list, which stands at the position of the given number
    /// of jobs. `None` if the group has fewer jobs by now.
    pub(crate) fn newest_failed_job_per_group(
        &mut self,
        now: Moment,
        groups: &[(Name, u64)],
    ) -> Result<Vec<Option<Job>>, Error> {
        let newest = |(group, jobs): &(Name, u64)| {
            let index = Index::Failed(group.clone());
            (index, jobs.saturating_sub(1))
        };
        let newest: Vec<(Index, u64)> = groups.iter().map(newest).collect();
        let parts = self.index_ranges(now, &newest, 1)?.into_iter();
        let found: Vec<Option<Name>> = parts.map(|mut part| part.members.pop()).collect();
        let jids: Vec<Name> = found.iter().flatten().cloned().collect();
        let mut jobs = self.jobs(now, JobFields::Location, &jids)?.into_iter();
        let job = |found: Option<Name>| found.and_then(|_| jobs.next().flatten());
        Ok(found.into_iter().map(job).collect())
    }

    /// The newest jobs of a failure group, the newest first, and the number of all its jobs.
    pub(crate) fn newest_jobs_and_total_of_group(
        &mut self,
        now: Moment,
        group: &Name,
        limit: u64,
    ) -> Result<(Vec<Job>, u64), Error> {
        let index = Index::Failed(group.clone());
        let total = self.index_range(now, &index, 0, 1)?.total;
        let mut slice = self.index_range(now, &index, total.saturating_sub(limit), limit)?;
        // The list begins with the oldest job, the result with the newest.
        slice.members.reverse();
        let jobs = self.jobs(now, JobFields::BriefExcerpt, &slice.members)?;
        Ok((jobs.into_iter().flatten().collect(), slice.total))
    }
}
