//! Scans all keys with SCAN, page by page, and examines what the keys of each page hold before the next page. Reads are
//! sent before their replies are needed: the server works on them while replies to earlier reads are examined.

use std::collections::VecDeque;

use crate::core::api::read::{OutstandingReads, PAGE, ReadCommand, ReadReply, START};
use crate::core::script::keys::{JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::dependencies::SETS_PER_READ;
use super::extra_reads::ScannedJob;
use super::unmatched::IndexEntryOrPairSide;
use super::{MIN_READ, ScanCounts, Scanner, validate};

/// The number of keys of a page. The server takes about a millisecond for a page.
const KEYS_PER_PAGE: usize = 1000;

/// Maximum number of hashes with statistics that the scan reads in one round trip.
const HASHES_PER_READ: usize = 100;

/// The keys of a page that the scan examines before the next page, by family.
#[derive(Debug, Default)]
struct KeysByFamily {
    templates: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    counters: Vec<Vec<u8>>,
    maybe_unlisted: Vec<(ItemKind, Vec<u8>)>,
    /// Lanes, and the sets of throttles.
    coordination: Vec<(ItemKind, Vec<u8>)>,
    /// Keys that are always candidates, because only the core can verify their values.
    candidates: Vec<Vec<u8>>,
    unknown: Vec<Vec<u8>>,
}

/// Maximum number of requests that wait for their replies while this code examines earlier replies.
pub(super) const MAX_AHEAD: usize = 3;

/// The reads to send next, and the reads that wait for their replies.
#[derive(Debug, Default)]
pub(super) struct ReadPipeline {
    jobs: Vec<Vec<u8>>,
    /// Jobs about which more has to be read.
    pub open_jobs: Vec<ScannedJob>,
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
    pub(super) fn scan_keys(&mut self) -> Result<(), Error> {
        let pattern = self.keys.with_prefix("*");
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            scanner.scan_key_page(&keys)
        })?;
        self.send_and_examine_remaining_reads()
    }

    /// Calls `each` with all keys that match a pattern, page by page.
    pub(super) fn for_each_key_page(
        &mut self,
        pattern: &[u8],
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.sink.note_scan_pass_start();
        let count = KEYS_PER_PAGE.min(self.max_members_per_read).max(MIN_READ);
        let page = |cursor: &[u8]| vec![ReadCommand::scan_keys(cursor, pattern, count)];
        let mut reads = self.core.send_reads(self.now, page(START));
        loop {
            let reply = self.core.receive_reads(self.now, reads)?.pop();
            let Some(ReadReply::Page(next, keys)) = reply else {
                return Err(Error::internal("no page of keys"));
            };
            self.require_unmoved_keys()?;
            let ahead = match &next {
                Some(next) if self.max_ahead > 0 => {
                    Some(self.core.send_reads(self.now, page(next)))
                }
                _ => None,
            };
            let jobs = |key: &&Vec<u8>| matches!(self.keys.family_of_key(key), KeyFamily::Job(_));
            let seen = ScanCounts {
                keys: keys.len() as u64,
                jobs: keys.iter().filter(jobs).count() as u64,
                queues: 0,
            };
            each(self, keys)?;
            self.sink.note_and_pace_keys_scanned(self.core, seen)?;
            reads = match (ahead, next) {
                (Some(ahead), _) => ahead,
                (None, Some(next)) => self.core.send_reads(self.now, page(&next)),
                (None, None) => return Ok(()),
            };
        }
    }

    fn scan_key_page(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        if self.first_pass && self.expiring {
            self.check_expiries(keys)?;
        }
        let mut page = KeysByFamily::default();
        for key in keys {
            self.queue_job_key_or_add_to_page(key, &mut page);
        }
        match self.max_ahead {
            0 => self.send_and_examine_remaining_reads()?,
            // Jobs that do not fill a request wait for the jobs of the next page.
            _ => self.send_queued_reads(false)?,
        }
        self.scan_templates(&page.templates)?;
        self.scan_lane_and_throttle_entries(&page.coordination)?;
        for (kind, name) in &page.maybe_unlisted {
            self.scan_unlisted_once(*kind, name)?;
        }
        if self.first_pass && self.covers_all_queues() {
            self.check_statistics_totals(&page.values)?;
            self.note_nonzero_failed_counters(&page.counters)?;
            for key in &page.candidates {
                self.add_key_candidate(key)?;
            }
            for key in &page.unknown {
                self.add_key_and_its_job_in_first_pass(key)?;
            }
        }
        Ok(())
    }

    /// Queues a key of a job, or adds another key to `page`.
    fn queue_job_key_or_add_to_page(&mut self, key: &[u8], page: &mut KeysByFamily) {
        let family = self.keys.family_of_key(key);
        match indexed_set(family) {
            Some((kind @ (ItemKind::Lane | ItemKind::Slots | ItemKind::Pending), name)) => {
                page.coordination.push((kind, name.to_vec()))
            }
            Some((kind, name)) => page.maybe_unlisted.push((kind, name.to_vec())),
            None => {}
        }
        match family {
            KeyFamily::Job(jid) => self.pipeline.jobs.push(jid.to_vec()),
            KeyFamily::Companion(
                which @ (JobCompanionKey::History | JobCompanionKey::Payloads),
                jid,
            ) => self.match_companion_key(which, jid, IndexEntryOrPairSide::Upper),
            KeyFamily::Companion(JobCompanionKey::Dependencies, jid) => {
                self.pipeline.dependencies.push(jid.to_vec())
            }
            KeyFamily::Companion(JobCompanionKey::Dependents, jid) => {
                self.pipeline.dependents.push(jid.to_vec())
            }
            // Of the jobs that wait for a throttle, only the core can verify whether the throttle has a free slot.
            KeyFamily::ThrottlePending(_)
            | KeyFamily::Throttle(_)
            | KeyFamily::Window(_)
            | KeyFamily::Fence
            | KeyFamily::Releasing
            | KeyFamily::Topics
            | KeyFamily::Subscriptions => page.candidates.push(key.to_vec()),
            KeyFamily::Recurring(id) => page.templates.push(id.to_vec()),
            KeyFamily::DayDurations => page.values.push(key.to_vec()),
            KeyFamily::DayCounters(of) => page.counters.push(of.to_vec()),
            KeyFamily::Lost
            | KeyFamily::Unknown
            | KeyFamily::IdentifierPatterns
            | KeyFamily::PriorityPatterns => page.unknown.push(key.to_vec()),
            KeyFamily::Queue(..)
            | KeyFamily::CompletedIn(_)
            | KeyFamily::Worker(_)
            | KeyFamily::Group(_)
            | KeyFamily::Tag(_)
            | KeyFamily::Lane(_)
            | KeyFamily::ThrottleSlots(_) => {}
            // Other parts of the scan read these keys by their fixed names.
            KeyFamily::Queues
            | KeyFamily::Paused
            | KeyFamily::Pauses
            | KeyFamily::PausedRecurring
            | KeyFamily::Workers
            | KeyFamily::Failures
            | KeyFamily::FailedTimes
            | KeyFamily::Completed
            | KeyFamily::Tracked
            | KeyFamily::Tags
            | KeyFamily::Throttles
            | KeyFamily::Config => {}
        }
    }

    /// Sends all queued reads, and examines all replies.
    fn send_and_examine_remaining_reads(&mut self) -> Result<(), Error> {
        loop {
            self.send_queued_reads(true)?;
            if !self.examine_oldest_replies_if_any()? {
                return Ok(());
            }
        }
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

    fn check_expiries(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        // A throttle may have an expiry, and a window of uniqueness always has one: both are no finding.
        let may_expire = |key: &&Vec<u8>| {
            use KeyFamily::{Throttle, Window};
            matches!(self.keys.family_of_key(key), Throttle(_) | Window(_))
        };
        let keys: Vec<&Vec<u8>> = keys.iter().filter(|key| !may_expire(key)).collect();
        let reads = keys
            .iter()
            .map(|key| ReadCommand::seconds_to_expiry(key))
            .collect();
        for (key, reply) in keys.into_iter().zip(self.run_reads(reads)?) {
            if matches!(reply, ReadReply::Number(ttl) if ttl >= 0) {
                self.add_key_candidate(key)?;
            }
        }
        Ok(())
    }

    /// Adds as candidates the keys of statistics whose buckets do not add up to their total.
    fn check_statistics_totals(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        for keys in keys.chunks(HASHES_PER_READ) {
            let reads = keys
                .iter()
                .map(|key| ReadCommand::scan_hash(key, START, PAGE))
                .collect();
            for (key, reply) in keys.iter().zip(self.run_reads(reads)?) {
                let right = match reply {
                    ReadReply::Page(None, fields) => buckets_match_total(&fields),
                    _ => false,
                };
                if !right {
                    self.add_key_and_its_job_in_first_pass(key)?;
                }
            }
        }
        Ok(())
    }

    /// Notes the counters of failed jobs that are not 0, to compare them later with the jobs that the scan found.
    fn note_nonzero_failed_counters(&mut self, days_and_queues: &[Vec<u8>]) -> Result<(), Error> {
        let reads = days_and_queues.iter().map(|day_and_queue| {
            let key = self.keys.day_counters_key(day_and_queue);
            ReadCommand::hash_field(&key, "failed")
        });
        let reads = reads.collect();
        for (day_and_queue, reply) in days_and_queues.iter().zip(self.run_reads(reads)?) {
            match reply {
                ReadReply::Text(None) => {}
                ReadReply::Text(Some(stored)) if stored == b"0" => {}
                ReadReply::Text(_) => self.tally.note_nonzero_counter(day_and_queue),
                _ => {
                    let key = self.keys.day_counters_key(day_and_queue);
                    self.add_key_and_its_job_in_first_pass(&key)?;
                }
            }
        }
        Ok(())
    }
}

/// The set that a key is, if it has entries that the scan matches with jobs: its kind, and the name of its queue, worker,
/// failure group, tag, lane or throttle.
pub(super) fn indexed_set(family: KeyFamily<'_>) -> Option<(ItemKind, &[u8])> {
    Some(match family {
        KeyFamily::Queue(_, queue) | KeyFamily::CompletedIn(queue) => (ItemKind::Work, queue),
        KeyFamily::Worker(worker) => (ItemKind::Worker, worker),
        KeyFamily::Group(group) => (ItemKind::Group, group),
        KeyFamily::Tag(tag) => (ItemKind::Tag, tag),
        KeyFamily::Lane(lane) => (ItemKind::Lane, lane),
        KeyFamily::ThrottleSlots(id) => (ItemKind::Slots, id),
        KeyFamily::ThrottlePending(id) => (ItemKind::Pending, id),
        _ => return None,
    })
}

/// Removes the first items of a list, up to `max`, and returns them.
fn take_first<T>(items: &mut Vec<T>, max: usize) -> Vec<T> {
    items.drain(..max.min(items.len())).collect()
}

/// Whether the buckets add up to the total, and mean and deviation are numbers.
fn buckets_match_total(fields: &[Vec<u8>]) -> bool {
    let (mut total, mut buckets, mut valid) = (0, 0_u64, true);
    for pair in fields.chunks_exact(2) {
        let (name, text) = (pair[0].as_slice(), pair[1].as_slice());
        let count = || std::str::from_utf8(text).ok()?.parse::<u64>().ok();
        match name {
            b"total" => match count() {
                Some(count) => total = count,
                None => valid = false,
            },
            b"mean" => valid &= validate::parse_finite_decimal(text).is_some(),
            b"vk" => valid &= validate::parse_finite_decimal(text).is_some_and(|vk| vk >= 0.0),
            [b's' | b'm' | b'h' | b'd', bucket @ ..] if validate::is_integer(bucket) => {
                match count() {
                    Some(count) => buckets = buckets.saturating_add(count),
                    None => valid = false,
                }
            }
            _ => {}
        }
    }
    valid && total == buckets && total < 1 << 53
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_add_up_to_the_total() {
        let adds_up = |text: &str| {
            let words = text.split(' ').map(|word| word.as_bytes().to_vec());
            buckets_match_total(&words.collect::<Vec<_>>())
        };
        assert!(adds_up("total 3 mean 1.5 vk 0 s1 2 d400 1"));
        assert!(adds_up("total 1 s-5 1"));
        assert!(!adds_up("total 3 mean 1.5 vk 0 s1 2"));
        assert!(!adds_up("total 2 mean nan vk 0 s1 2"));
        assert!(!adds_up("total 2 mean 1 vk -1 s1 2"));
        assert!(!adds_up("total x s1 2"));
    }
}
