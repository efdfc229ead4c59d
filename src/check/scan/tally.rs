//! Counts the failed jobs by day and queue, and compares the counts with the stored counters.

use std::collections::HashMap;

use crate::clock::moment::SECONDS_PER_DAY;
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::error::Error;
use crate::model::verdict::ItemKind;
use crate::name::Name;

use super::Scanner;

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
    /// Adds as candidates the counters that differ from the number of failed jobs that the scan found.
    pub(super) fn check_failed_counters(&mut self) -> Result<(), Error> {
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
                let bare = self.keys.without_prefix(&key).to_vec();
                self.add_candidate_if_in_scope(ItemKind::Key, b"", &bare)?;
                // A missing counter has no key to verify: verify one of its jobs.
                if let Some(jid) = &counted.example {
                    self.add_candidate_if_in_scope(ItemKind::Job, b"", jid.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}
