//! One SCAN of all keys. What a page names is read at once, while the server has it at hand.

use crate::core::api::read::{PAGE, Read, ReadReply, START};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::marks::Side;
use super::{Candidate, FEW, Known, Scanner, validate};

/// How many keys a step passes: about a millisecond of the server.
const KEYS: usize = 1000;

/// How many hashes of statistics are read together.
const VALUES: usize = 100;

/// The keys of a page, by family.
#[derive(Debug, Default)]
struct Page {
    jobs: Vec<Vec<u8>>,
    above: Vec<Vec<u8>>,
    below: Vec<Vec<u8>>,
    templates: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
    counters: Vec<Vec<u8>>,
    strangers: Vec<(ItemKind, Vec<u8>)>,
    odd: Vec<Vec<u8>>,
}

impl Scanner<'_> {
    pub(super) fn scan(&mut self) -> Result<(), Error> {
        let pattern = format!("{}*", self.keys.prefix);
        self.each_page(pattern.as_bytes(), |walk, keys| walk.keys(&keys))
    }

    /// Hands out all keys that match a pattern.
    pub(super) fn each_page(
        &mut self,
        pattern: &[u8],
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut cursor = START.to_vec();
        loop {
            let ask = Read::keys(&cursor, pattern, KEYS.min(self.most).max(FEW));
            let ReadReply::Page(next, keys) = self.core.read(self.now, ask)? else {
                return Err(Error::internal("no page of keys"));
            };
            let jobs = |key: &&Vec<u8>| matches!(self.keys.family(key), Family::Job(_));
            let seen = Candidate {
                keys: keys.len() as u64,
                jobs: keys.iter().filter(jobs).count() as u64,
                queues: 0,
            };
            each(self, keys)?;
            self.sink.seen(self.core, seen)?;
            match next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }

    fn keys(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        if self.first && self.expiring {
            self.expiries(keys)?;
        }
        let mut page = Page::default();
        for key in keys {
            self.sort(key, &mut page)?;
        }
        if self.first {
            self.seen.keys += keys.len() as u64;
            self.seen.jobs += page.jobs.len() as u64;
        }
        self.jobs(&page.jobs)?;
        self.above(&page.above)?;
        self.below(&page.below)?;
        self.templates(&page.templates)?;
        for (kind, name) in &page.strangers {
            self.walk_stranger(*kind, name)?;
        }
        if self.first && self.whole() {
            self.values(&page.values)?;
            self.counted(&page.counters)?;
            for key in &page.odd {
                self.suspect_key(key)?;
            }
        }
        Ok(())
    }

    fn sort(&mut self, key: &[u8], page: &mut Page) -> Result<(), Error> {
        match self.keys.family(key) {
            Family::Job(jid) => page.jobs.push(jid.to_vec()),
            Family::Companion(Companion::History, jid) => {
                let hash = self.history_mark(jid);
                self.marks.pair(hash, Side::Upper);
            }
            Family::Companion(Companion::Dependencies, jid) => page.above.push(jid.to_vec()),
            Family::Companion(Companion::Dependents, jid) => page.below.push(jid.to_vec()),
            Family::Recurring(id) => page.templates.push(id.to_vec()),
            Family::Queue(_, queue) => page.strangers.push((ItemKind::Work, queue.to_vec())),
            Family::Worker(worker) => page.strangers.push((ItemKind::Worker, worker.to_vec())),
            Family::Group(group) => page.strangers.push((ItemKind::Group, group.to_vec())),
            Family::Tag(tag) => page.strangers.push((ItemKind::Tag, tag.to_vec())),
            Family::Values => page.values.push(key.to_vec()),
            Family::Counters(of) => page.counters.push(of.to_vec()),
            Family::Lost | Family::Unknown => page.odd.push(key.to_vec()),
            // Those are read by name.
            Family::Queues
            | Family::Paused
            | Family::Pauses
            | Family::Workers
            | Family::Failures
            | Family::Completed
            | Family::Tracked
            | Family::Tags
            | Family::Config => {}
        }
        Ok(())
    }

    /// Returns what stands for the history of a job.
    pub(super) fn history_mark(&self, jid: &[u8]) -> u64 {
        let place = self.salt.place(Known::History as u8, b"");
        self.salt.entry(place, jid, 0)
    }

    fn expiries(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        let asks = keys.iter().map(|key| Read::expiry(key)).collect();
        for (key, told) in keys.iter().zip(self.reads(asks)?) {
            if matches!(told, ReadReply::Number(left) if left >= 0) {
                let bare = self.keys.without_prefix(key).to_vec();
                self.suspect(ItemKind::Key, b"", &bare)?;
            }
        }
        Ok(())
    }

    /// Streaming values: their slots have as many as they count.
    fn values(&mut self, keys: &[Vec<u8>]) -> Result<(), Error> {
        for keys in keys.chunks(VALUES) {
            let asks = keys
                .iter()
                .map(|key| Read::hash(key, START, PAGE))
                .collect();
            for (key, told) in keys.iter().zip(self.reads(asks)?) {
                let right = match told {
                    ReadReply::Page(None, fields) => adds_up(&fields),
                    _ => false,
                };
                if !right {
                    self.suspect_key(key)?;
                }
            }
        }
        Ok(())
    }

    /// Counters of failed jobs that are not 0.
    fn counted(&mut self, of: &[Vec<u8>]) -> Result<(), Error> {
        let asks = of.iter().map(|of| {
            let key = self.keys.counters(of);
            Read::field(&key, "failed")
        });
        let asks = asks.collect();
        for (of, told) in of.iter().zip(self.reads(asks)?) {
            match told {
                ReadReply::Text(None) => {}
                ReadReply::Text(Some(stored)) if stored == b"0" => {}
                ReadReply::Text(_) => self.tally.note(of),
                _ => {
                    let key = self.keys.counters(of);
                    self.suspect_key(&key)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether slots hold as many as are counted, and mean and deviation are numbers.
fn adds_up(fields: &[Vec<u8>]) -> bool {
    let (mut total, mut slots, mut sound) = (0, 0_u64, true);
    for pair in fields.chunks_exact(2) {
        let (name, text) = (pair[0].as_slice(), pair[1].as_slice());
        let count = || std::str::from_utf8(text).ok()?.parse::<u64>().ok();
        match name {
            b"total" => match count() {
                Some(count) => total = count,
                None => sound = false,
            },
            b"mean" => sound &= validate::number(text).is_some(),
            b"vk" => sound &= validate::number(text).is_some_and(|vk| vk >= 0.0),
            [b's' | b'm' | b'h' | b'd', slot @ ..] if validate::integer(slot) => match count() {
                Some(count) => slots = slots.saturating_add(count),
                None => sound = false,
            },
            _ => {}
        }
    }
    sound && total == slots && total < 1 << 53
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_what_is_counted() {
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
