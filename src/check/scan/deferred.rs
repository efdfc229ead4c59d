//! Candidates among the options, pauses and throttles, and the candidates that only a complete scan can verify, such as
//! the counters of failed jobs.

use std::collections::HashMap;

use crate::clock::moment::SECONDS_PER_DAY;
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::script::keys::{self, JobCompanionKey, KeyFamily};
use crate::error::Error;
use crate::model::verdict::ItemKind;
use crate::name::Name;

use super::{MAX_DEFERRED_BYTES, Scanner, validate};

/// Options whose value must be a number. Options of single queues are not listed here.
const NUMERIC: [&[u8]; 13] = [
    b"backoff-factor",
    b"backoff-initial-delay",
    b"jobs-failed-history",
    b"heartbeat",
    b"grace-period",
    b"jobs-history",
    b"jobs-history-count",
    b"max-job-history",
    b"max-worker-age",
    b"merge-max",
    b"max-pop-scan",
    b"stats-history",
    b"histogram-history",
];

/// The numeric options that must not be below 0.
const NON_NEGATIVE: [&[u8]; 4] = [
    b"backoff-factor",
    b"backoff-initial-delay",
    b"jobs-failed-history",
    b"max-worker-age",
];

const DEFAULTS: &[u8] = b"-defaults";

const LIMIT: &[u8] = b"-max-concurrency";

/// Maximum number of counters that the scan compares. If there are more, every counter becomes a candidate.
const MAX_COUNTERS: usize = 30_000;

/// The failed jobs, by `day:queue`.
#[derive(Debug, Default)]
pub(super) struct FailedTally {
    counts: HashMap<Vec<u8>, FailedCountWithExample>,
    /// Whether there were more counters.
    pub overflowed: bool,
}

#[derive(Debug, Default)]
struct FailedCountWithExample {
    jobs: u64,
    /// One of the jobs.
    example: Option<Name>,
}

impl FailedTally {
    /// The count of a day and queue. `None` if it would be one count more than [`MAX_COUNTERS`].
    fn count_of_day_unless_full(
        &mut self,
        day_and_queue: Vec<u8>,
    ) -> Option<&mut FailedCountWithExample> {
        if self.counts.len() >= MAX_COUNTERS && !self.counts.contains_key(&day_and_queue) {
            self.overflowed = true;
            return None;
        }
        Some(self.counts.entry(day_and_queue).or_default())
    }

    pub(super) fn count_failed_job(&mut self, failed_at: f64, queue: &[u8], jid: &[u8]) {
        let day = failed_at - (failed_at - (failed_at / SECONDS_PER_DAY).floor() * SECONDS_PER_DAY);
        let of = [format!("{day:.0}:").as_bytes(), queue].concat();
        if let Some(counted) = self.count_of_day_unless_full(of) {
            counted.jobs += 1;
            counted.example.get_or_insert_with(|| Name::from(jid));
        }
    }

    /// Notes a counter that is not 0.
    pub(super) fn note_nonzero_counter(&mut self, day_and_queue: &[u8]) {
        _ = self.count_of_day_unless_full(day_and_queue.to_vec());
    }
}

impl Scanner<'_> {
    pub(super) fn scan_config(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::CONFIG).into_bytes();
        self.for_each_cursor_page(
            &key,
            2,
            |cursor, count| ReadCommand::scan_hash(&key, cursor, count),
            |scanner, items| {
                for pair in items.chunks_exact(2) {
                    scanner.check_config_value_and_note_limit(&pair[0], &pair[1])?;
                }
                Ok(())
            },
        )
    }

    /// Makes an option a candidate if its number is invalid, or if only the core can check it. Notes the limit of a
    /// queue. Other options may have any value.
    fn check_config_value_and_note_limit(
        &mut self,
        option: &[u8],
        value: &[u8],
    ) -> Result<(), Error> {
        if option.ends_with(DEFAULTS) {
            // The option has the defaults of a queue as a JSON object. Only the core knows which fields are valid, so
            // each such option is a candidate. A queue has at most one.
            return self.add_candidate_if_in_scope(ItemKind::Names, b"config", option);
        }
        let queue = option.strip_suffix(LIMIT);
        if queue.is_none() && !NUMERIC.contains(&option) && !option.ends_with(b"-heartbeat") {
            return Ok(());
        }
        let number = validate::parse_number(value);
        if let (Some(queue), true) = (queue, self.limits.len() < 50_000) {
            // A limit that is not a number counts as 1, so that a second lock makes the queue a candidate.
            let limit = number.unwrap_or(1.0);
            self.limits.insert(queue.to_vec(), limit);
        }
        let natural = queue.is_some() || NON_NEGATIVE.contains(&option);
        match number {
            Some(number) if number >= 0.0 || !natural => Ok(()),
            _ => self.add_candidate_if_in_scope(ItemKind::Names, b"config", option),
        }
    }

    /// Adds the key of the pause reasons, and the key of the paused templates, as a candidate if its type is wrong.
    pub(super) fn check_pause_key_types(&mut self) -> Result<(), Error> {
        for name in [keys::PAUSES, keys::PAUSED_RECURRING] {
            let key = self.keys.with_prefix(name).into_bytes();
            if let ReadReply::WrongType = self
                .core
                .run_read(self.now, ReadCommand::hash_field(&key, ""))?
            {
                self.add_key_and_its_job_in_first_pass(&key)?;
            }
        }
        Ok(())
    }

    /// Adds as a candidate each paused queue that is not in the list of queues.
    pub(super) fn check_paused_queues_are_listed(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::PAUSED).into_bytes();
        self.for_each_member_page(&key, |scanner, queues| {
            for queue in queues {
                let listed = scanner.is_remembered(super::RememberedAs::Queue, &queue);
                if !listed {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"paused_queues", &queue)?;
                }
            }
            Ok(())
        })
    }

    /// Adds as a candidate each throttle that is in the list of throttles but has no maximum.
    pub(super) fn check_throttles_have_maxima(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::THROTTLES).into_bytes();
        self.for_each_scored_page(&key, |scanner, listed| {
            let reads = listed.iter().map(|(id, _)| {
                let key = scanner.keys.throttle_key(id);
                ReadCommand::hash_field(&key, "maximum")
            });
            let replies = scanner.run_reads(reads.collect())?;
            for ((id, _), reply) in listed.iter().zip(replies) {
                if matches!(reply, ReadReply::Text(None)) {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"throttles", id)?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn add_deferred_candidates(&mut self) -> Result<(), Error> {
        self.report_one_sided_dependencies()?;
        for (location, item) in std::mem::take(&mut self.deferred) {
            self.add_candidate_if_in_scope(
                location.kind,
                location.name.as_bytes(),
                item.as_bytes(),
            )?;
        }
        if self.covers_all_queues() {
            self.check_tag_counters()?;
            self.check_failed_counters()?;
        }
        if self.deferred_bytes > MAX_DEFERRED_BYTES || self.tally.overflowed {
            self.rescan_for_dropped_candidates()?;
        }
        Ok(())
    }

    fn check_tag_counters(&mut self) -> Result<(), Error> {
        let key = self.keys.with_prefix(keys::TAGS).into_bytes();
        self.for_each_scored_page(&key, |scanner, tags| {
            let reads = tags.iter().map(|(tag, _)| {
                let key = scanner.keys.tag_key(tag);
                ReadCommand::sorted_set_size(&key)
            });
            let reads = reads.collect();
            let replies = scanner.run_reads(reads)?;
            scanner
                .sink
                .note_and_pace_members_read(scanner.core, tags.len())?;
            for ((tag, score), reply) in tags.iter().zip(replies) {
                let right = match reply {
                    ReadReply::Number(count) => count > 0 && *score == Some(count as f64),
                    _ => false,
                };
                if !right {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"tags", tag)?;
                }
            }
            Ok(())
        })
    }

    /// Scans again for the candidates that were dropped because there were too many to keep.
    fn rescan_for_dropped_candidates(&mut self) -> Result<(), Error> {
        let pattern = self.keys.with_prefix("*");
        self.for_each_key_page(pattern.as_bytes(), |scanner, keys| {
            let (mut tags, mut jobs) = (Vec::new(), Vec::new());
            for key in &keys {
                match scanner.keys.family_of_key(key) {
                    KeyFamily::Tag(tag) => tags.push(tag.to_vec()),
                    KeyFamily::Job(jid) => jobs.push(jid.to_vec()),
                    KeyFamily::DayCounters(_) if scanner.tally.overflowed => {
                        scanner.add_key_candidate(key)?;
                    }
                    _ => {}
                }
            }
            let list = scanner.keys.with_prefix(keys::TAGS).into_bytes();
            let reads = tags
                .iter()
                .map(|tag| ReadCommand::member_score(&list, tag))
                .collect();
            for (tag, reply) in tags.iter().zip(scanner.run_reads(reads)?) {
                if matches!(reply, ReadReply::Text(None)) {
                    scanner.add_candidate_if_in_scope(ItemKind::Names, b"tags", tag)?;
                }
            }
            let reads = jobs.iter().flat_map(|jid| {
                let above = scanner
                    .keys
                    .companion_key(JobCompanionKey::Dependencies, jid);
                [
                    ReadCommand::hash_field(&scanner.keys.job_key(jid), "state"),
                    ReadCommand::key_exists(&above),
                ]
            });
            let reads = reads.collect();
            let replies = scanner.run_reads(reads)?;
            for (jid, replies) in jobs.iter().zip(replies.chunks_exact(2)) {
                if let [ReadReply::Text(Some(state)), ReadReply::Number(0)] = replies
                    && state == b"depends"
                    && scanner.was_deferred_without_dependencies(jid)
                {
                    scanner.add_candidate_if_in_scope(ItemKind::Job, b"", jid)?;
                }
            }
            Ok(())
        })
    }

    /// Adds as candidates the counters that differ from the number of failed jobs that the scan found.
    fn check_failed_counters(&mut self) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.tally.counts);
        let counts: Vec<(Vec<u8>, FailedCountWithExample)> = counts.into_iter().collect();
        for counts in counts.chunks(500) {
            let keys = counts.iter().map(|(of, _)| self.keys.day_counters_key(of));
            let keys: Vec<Vec<u8>> = keys.collect();
            let reads = keys
                .iter()
                .map(|key| ReadCommand::hash_field(key, "failed"));
            let replies = self.run_reads(reads.collect())?;
            self.sink
                .note_and_pace_members_read(self.core, counts.len())?;
            for (((_, counted), key), reply) in counts.iter().zip(keys).zip(replies) {
                let stored = match reply {
                    ReadReply::Text(stored) => stored,
                    _ => None,
                };
                let stored = stored.unwrap_or_else(|| b"0".to_vec());
                if stored == counted.jobs.to_string().into_bytes() {
                    continue;
                }
                self.add_key_candidate(&key)?;
                // A missing counter has no key to verify: verify one of its jobs.
                if let Some(jid) = &counted.example {
                    self.add_candidate_if_in_scope(ItemKind::Job, b"", jid.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}
