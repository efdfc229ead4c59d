//! Reads that are sent before their replies are needed: the server works on them while replies to
//! earlier reads are examined.

use std::collections::VecDeque;

use crate::core::api::read::{OutstandingReads, ReadCommand};
use crate::core::script::keys::JobCompanionKey;
use crate::error::Error;

use super::Scanner;
use super::edges::SETS_PER_READ;
use super::extra_reads::ScannedJob;

/// Maximum number of requests that wait for their replies while this code examines earlier replies.
pub(super) const MAX_AHEAD: usize = 3;

/// The reads to send next, and the reads that wait for their replies.
#[derive(Debug, Default)]
pub(super) struct ReadPipeline {
    jobs: Vec<Vec<u8>>,
    /// Jobs about which more has to be read.
    open_jobs: Vec<ScannedJob>,
    dependencies: Vec<Vec<u8>>,
    dependents: Vec<Vec<u8>>,
    sent: VecDeque<(ReadSubject, OutstandingReads)>,
}

/// What the reads of a request are about: jobs with their histories, further keys of jobs, or sets of dependencies or
/// dependents.
#[derive(Debug)]
enum ReadSubject {
    Jobs(Vec<Vec<u8>>),
    JobsWithExtraReads(Vec<ScannedJob>),
    Dependencies(Vec<Vec<u8>>),
    Dependents(Vec<Vec<u8>>),
}

impl Scanner<'_> {
    /// Queues jobs to scan, and jobs whose set of dependencies or of dependents is to scan. Sends full requests, and
    /// examines replies. The rest waits for more jobs, or for [`Scanner::send_and_examine_remaining_reads`].
    pub(super) fn queue_reads_and_send_full_requests(
        &mut self,
        jobs: Vec<Vec<u8>>,
        dependencies: Vec<Vec<u8>>,
        dependents: Vec<Vec<u8>>,
    ) -> Result<(), Error> {
        self.pipeline.jobs.extend(jobs);
        self.pipeline.dependencies.extend(dependencies);
        self.pipeline.dependents.extend(dependents);
        match self.max_ahead {
            0 => self.send_and_examine_remaining_reads(),
            _ => self.send_queued_reads(false),
        }
    }

    /// Sends all queued reads, and examines all replies.
    pub(super) fn send_and_examine_remaining_reads(&mut self) -> Result<(), Error> {
        loop {
            self.send_queued_reads(true)?;
            if !self.examine_oldest_replies_if_any()? {
                return Ok(());
            }
        }
    }

    /// Queues a job of which the scan has to read further keys, before it knows whether the job is a candidate.
    pub(super) fn queue_extra_reads(&mut self, job: ScannedJob) {
        self.pipeline.open_jobs.push(job);
    }

    /// Sends the queued reads. Jobs stay queued until they fill one round trip, unless `sends_all`.
    fn send_queued_reads(&mut self, sends_all: bool) -> Result<(), Error> {
        while let Some((subject, reads)) = self.next_reads(sends_all) {
            let reads = self.core.send_reads(self.now, reads);
            self.pipeline.sent.push_back((subject, reads));
            if self.pipeline.sent.len() > self.max_ahead {
                self.examine_oldest_replies_if_any()?;
            }
        }
        Ok(())
    }

    /// The next reads of one round trip.
    fn next_reads(&mut self, sends_all: bool) -> Option<(ReadSubject, Vec<ReadCommand>)> {
        let max_sets = self.pages_per_round_trip(SETS_PER_READ);
        let max_jobs = self.jobs_per_read();
        let next = &mut self.pipeline;
        if !next.open_jobs.is_empty() {
            let jobs = take_first(&mut next.open_jobs, max_jobs);
            let reads = self.extra_reads_of_jobs(&jobs);
            return Some((ReadSubject::JobsWithExtraReads(jobs), reads));
        }
        if !next.dependencies.is_empty() {
            let jids = take_first(&mut next.dependencies, max_sets);
            let reads = self.edge_and_state_reads(JobCompanionKey::Dependencies, &jids);
            return Some((ReadSubject::Dependencies(jids), reads));
        }
        if !next.dependents.is_empty() {
            let jids = take_first(&mut next.dependents, max_sets);
            let reads = self.edge_and_state_reads(JobCompanionKey::Dependents, &jids);
            return Some((ReadSubject::Dependents(jids), reads));
        }
        let jobs = &mut self.pipeline.jobs;
        if jobs.len() < max_jobs && !sends_all || jobs.is_empty() {
            return None;
        }
        let jids = take_first(jobs, max_jobs);
        let reads = self.job_and_history_reads(&jids);
        Some((ReadSubject::Jobs(jids), reads))
    }

    /// Examines the replies to the oldest request. Returns false if no request waits for replies.
    fn examine_oldest_replies_if_any(&mut self) -> Result<bool, Error> {
        let Some((subject, reads)) = self.pipeline.sent.pop_front() else {
            return Ok(false);
        };
        let replies = self.core.receive_reads(self.now, reads)?.into_iter();
        match subject {
            ReadSubject::Jobs(jids) => self.examine_jobs(&jids, replies),
            ReadSubject::JobsWithExtraReads(jobs) => {
                self.examine_jobs_with_extra_reads(jobs, replies)
            }
            ReadSubject::Dependencies(jids) => self.match_dependencies_of_jobs(&jids, replies),
            ReadSubject::Dependents(jids) => self.match_dependents_of_jobs(&jids, replies),
        }?;
        Ok(true)
    }
}

/// Removes the first items of a list, up to `max`, and returns them.
fn take_first<T>(items: &mut Vec<T>, max: usize) -> Vec<T> {
    items.drain(..max.min(items.len())).collect()
}
