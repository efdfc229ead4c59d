//! One SCAN of all keys. The keys of a page are read immediately.

use crate::core::api::read::{PAGE, Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::unmatched::Side;
use super::{Known, MIN_READ, ScanCounts, Scanner, validate};

/// The number of keys of a page: about a millisecond of the server.
const KEYS_PER_PAGE: usize = 1000;

/// Maximum number of hashes of statistics read together.
const HASHES_PER_READ: usize = 100;

/// The keys of a page, by family.
#[derive(Debug, Default)]
struct KeyPage {
    jobs: Vec<Vec<u8>>,
    with_dependencies: Vec<Vec<u8>>,
    with_dependents: Vec<Vec<u8>>,
    templates: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    counters: Vec<Vec<u8>>,
    maybe_unlisted: Vec<(ItemKind, Vec<u8>)>,
    /// Lanes, and the sets of throttles.
    coordination: Vec<(ItemKind, Vec<u8>)>,
    /// Keys that are verified by their names, because a plain read does not show their types.
    candidates: Vec<Vec<u8>>,
    unknown: Vec<Vec<u8>>,
}

impl Scanner<'_> {
    pub(super) fn scan_keys(&mut self) -> Result<(), Error> {
        let pattern = self.keys.with_prefix("*");
        self.each_key_page(pattern.as_bytes(), |scanner, keys| scanner.scan_page(&keys))?;
        self.finish_reads()
    }

    /// Calls `each` with all keys that match a pattern, page by page.
    pub(super) fn each_key_page(
        &mut self,
        pattern: &[u8],
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.sink.pass_begins();
        let count = KEYS_PER_PAGE.min(self.max_batch).max(MIN_READ);
        let page = |cursor: &[u8]| vec![Read::keys(cursor, pattern, count)];
        let mut reads = self.core.send_reads(self.now, page(START));
        loop {
            let reply = self.core.take_reads(self.now, reads)?.pop();
            let Some(ReadReply::Page(next, keys)) = reply else {
                return Err(Error::internal("no page of keys"));
            };
            self.require_place()?;
            let ahead = match &next {
                Some(next) if self.max_ahead > 0 => {
                    Some(self.core.send_reads(self.now, page(next)))
                }
                _ => None,
            };
            let jobs = |key: &&Vec<u8>| matches!(self.keys.family(key), Family::Job(_));
            let seen = ScanCounts {
                keys: keys.len() as u64,
                jobs: keys.iter().filter(jobs).count() as u64,
                queues: 0,
            };
            each(self, keys)?;
            self.sink.keys_scanned(self.core, seen)?;
            reads = match (ahead, next) {
                (Some(ahead), _) => ahead,
                (None, Some(next)) => self.core.send_reads(self.now, page(&next)),
                (None, None) => return Ok(()),
            };
        }
    }

    fn scan_page(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        if self.first_pass && self.expiring {
            self.check_expiries(keys)?;
        }
        let mut page = KeyPage::default();
        for key in keys {
            self.sort_key(key, &mut page)?;
        }
        if self.first_pass {
            self.counts.keys += keys.len() as u64;
            self.counts.jobs += page.jobs.len() as u64;
        }
        self.scan_ahead(page.jobs, page.with_dependencies, page.with_dependents)?;
        self.scan_templates(&page.templates)?;
        self.scan_coordination(&page.coordination)?;
        for (kind, name) in &page.maybe_unlisted {
            self.scan_unlisted(*kind, name)?;
        }
        if self.first_pass && self.covers_all() {
            self.check_values(&page.values)?;
            self.note_counters(&page.counters)?;
            for key in &page.candidates {
                let bare = self.keys.without_prefix(key).to_vec();
                self.add_candidate(ItemKind::Key, b"", &bare)?;
            }
            for key in &page.unknown {
                self.add_key(key)?;
            }
        }
        Ok(())
    }

    fn sort_key(&mut self, key: &[u8], page: &mut KeyPage) -> Result<(), Error> {
        match self.keys.family(key) {
            Family::Job(jid) => page.jobs.push(jid.to_vec()),
            Family::Companion(Companion::History, jid) => {
                let hash = self.hash_history(jid);
                self.unmatched.match_pair(hash, Side::Upper);
            }
            Family::Companion(Companion::Dependencies, jid) => {
                page.with_dependencies.push(jid.to_vec())
            }
            Family::Companion(Companion::Dependents, jid) => {
                page.with_dependents.push(jid.to_vec())
            }
            Family::Companion(Companion::Payloads, jid) => {
                let hash = self.hash_payloads(jid);
                self.unmatched.match_pair(hash, Side::Upper);
            }
            Family::Lane(lane) => page.coordination.push((ItemKind::Lane, lane.to_vec())),
            Family::Slots(id) => page.coordination.push((ItemKind::Slots, id.to_vec())),
            Family::Pending(id) => {
                page.coordination.push((ItemKind::Pending, id.to_vec()));
                // Its throttle may have a free slot.
                page.candidates.push(key.to_vec());
            }
            Family::Throttle(_)
            | Family::Window(_)
            | Family::Fence
            | Family::Releasing
            | Family::Topics
            | Family::Subscriptions => page.candidates.push(key.to_vec()),
            Family::Recurring(id) => page.templates.push(id.to_vec()),
            Family::Queue(_, queue) | Family::CompletedIn(queue) => {
                page.maybe_unlisted.push((ItemKind::Work, queue.to_vec()))
            }
            Family::Worker(worker) => page
                .maybe_unlisted
                .push((ItemKind::Worker, worker.to_vec())),
            Family::Group(group) => page.maybe_unlisted.push((ItemKind::Group, group.to_vec())),
            Family::Tag(tag) => page.maybe_unlisted.push((ItemKind::Tag, tag.to_vec())),
            Family::Values => page.values.push(key.to_vec()),
            Family::Counters(of) => page.counters.push(of.to_vec()),
            Family::Lost
            | Family::Unknown
            | Family::IdentifierPatterns
            | Family::PriorityPatterns => page.unknown.push(key.to_vec()),
            // These keys are read by name.
            Family::Queues
            | Family::Paused
            | Family::Pauses
            | Family::PausedRecurring
            | Family::Workers
            | Family::Failures
            | Family::FailedTimes
            | Family::Completed
            | Family::Tracked
            | Family::Tags
            | Family::Config => {}
        }
        Ok(())
    }

    /// The hash of the history of a job.
    pub(super) fn hash_history(&self, jid: &[u8]) -> u64 {
        let place = self.salt.location(Known::History as u8, b"");
        self.salt.entry(place, jid, 0)
    }

    /// The hash of the payloads of a job.
    pub(super) fn hash_payloads(&self, jid: &[u8]) -> u64 {
        let place = self.salt.location(Known::Payloads as u8, b"");
        self.salt.entry(place, jid, 0)
    }

    fn check_expiries(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        // A throttle may have an expiry, and a window has one.
        let may_expire = |key: &&Vec<u8>| {
            use Family::{Throttle, Window};
            matches!(self.keys.family(key), Throttle(_) | Window(_))
        };
        let keys: Vec<&Vec<u8>> = keys.iter().filter(|key| !may_expire(key)).collect();
        let reads = keys.iter().map(|key| Read::expiry(key)).collect();
        for (key, replies) in keys.into_iter().zip(self.read_all(reads)?) {
            if matches!(replies, ReadReply::Number(ttl) if ttl >= 0) {
                let bare = self.keys.without_prefix(key).to_vec();
                self.add_candidate(ItemKind::Key, b"", &bare)?;
            }
        }
        Ok(())
    }

    /// Adds statistics whose slots do not add up to their total.
    fn check_values(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        for keys in keys.chunks(HASHES_PER_READ) {
            let reads = keys
                .iter()
                .map(|key| Read::hash(key, START, PAGE))
                .collect();
            for (key, replies) in keys.iter().zip(self.read_all(reads)?) {
                let right = match replies {
                    ReadReply::Page(None, fields) => adds_up(&fields),
                    _ => false,
                };
                if !right {
                    self.add_key(key)?;
                }
            }
        }
        Ok(())
    }

    /// Notes counters of failed jobs that are not 0.
    fn note_counters(&mut self, of: &[Vec<u8>]) -> Result<(), Error> {
        let reads = of.iter().map(|of| {
            let key = self.keys.day_counters(of);
            Read::field(&key, "failed")
        });
        let reads = reads.collect();
        for (of, replies) in of.iter().zip(self.read_all(reads)?) {
            match replies {
                ReadReply::Text(None) => {}
                ReadReply::Text(Some(stored)) if stored == b"0" => {}
                ReadReply::Text(_) => self.tally.note(of),
                _ => {
                    let key = self.keys.day_counters(of);
                    self.add_key(&key)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether the slots add up to the total, and mean and deviation are numbers.
fn adds_up(fields: &[Vec<u8>]) -> bool {
    let (mut total, mut slots, mut valid) = (0, 0_u64, true);
    for pair in fields.chunks_exact(2) {
        let (name, text) = (pair[0].as_slice(), pair[1].as_slice());
        let count = || std::str::from_utf8(text).ok()?.parse::<u64>().ok();
        match name {
            b"total" => match count() {
                Some(count) => total = count,
                None => valid = false,
            },
            b"mean" => valid &= validate::number(text).is_some(),
            b"vk" => valid &= validate::number(text).is_some_and(|vk| vk >= 0.0),
            [b's' | b'm' | b'h' | b'd', slot @ ..] if validate::integer(slot) => match count() {
                Some(count) => slots = slots.saturating_add(count),
                None => valid = false,
            },
            _ => {}
        }
    }
    valid && total == slots && total < 1 << 53
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_add_up_to_the_total() {
        let adds_up = |text: &str| {
            let words = text.split(' ').map(|word| word.as_bytes().to_vec());
            adds_up(&words.collect::<Vec<_>>())
        };
        assert!(adds_up("total 3 mean 1.5 vk 0 s1 2 d400 1"));
        assert!(adds_up("total 1 s-5 1"));
        assert!(!adds_up("total 3 mean 1.5 vk 0 s1 2"));
        assert!(!adds_up("total 2 mean nan vk 0 s1 2"));
        assert!(!adds_up("total 2 mean 1 vk -1 s1 2"));
        assert!(!adds_up("total x s1 2"));
    }
}
