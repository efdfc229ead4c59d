//! What is asked when everything was walked; and the settings, which are asked first.

use crate::core::api::read::{Read, ReadReply};
use crate::core::script::keys::{Companion, Family};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{LATE, Scanner, validate};

/// Settings that have to be numbers, beside those of queues.
const NUMERIC: [&[u8]; 8] = [
    b"heartbeat",
    b"grace-period",
    b"jobs-history",
    b"jobs-history-count",
    b"max-job-history",
    b"max-worker-age",
    b"stats-history",
    b"histogram-history",
];

const LIMIT: &[u8] = b"-max-concurrency";

impl Scanner<'_> {
    pub(super) fn config(&mut self) -> Result<(), Error> {
        let key = self.keys.config.clone().into_bytes();
        self.paged(
            &key,
            2,
            |cursor, count| Read::hash(&key, cursor, count),
            |walk, items| {
                for pair in items.chunks_exact(2) {
                    walk.setting(&pair[0], &pair[1])?;
                }
                Ok(())
            },
        )
    }

    fn setting(&mut self, option: &[u8], value: &[u8]) -> Result<(), Error> {
        let queue = option.strip_suffix(LIMIT);
        if queue.is_none() && !NUMERIC.contains(&option) && !option.ends_with(b"-heartbeat") {
            return Ok(());
        }
        let number = validate::number(value);
        if let (Some(queue), true) = (queue, self.limits.len() < 50_000) {
            // Where it can't be told, any lock is too many.
            let limit = number.unwrap_or(1.0);
            self.limits.insert(queue.to_vec(), limit);
        }
        let natural = queue.is_some() || option == b"max-worker-age";
        match number {
            Some(number) if number >= 0.0 || !natural => Ok(()),
            _ => self.suspect(ItemKind::Names, b"config", option),
        }
    }

    /// Reads reasons of pauses only for their kind.
    pub(super) fn pauses(&mut self) -> Result<(), Error> {
        let key = self.keys.pauses.clone().into_bytes();
        match self.core.read(self.now, Read::field(&key, ""))? {
            ReadReply::Wrong => self.suspect_key(&key),
            _ => Ok(()),
        }
    }

    pub(super) fn paused(&mut self) -> Result<(), Error> {
        let key = self.keys.paused.clone().into_bytes();
        self.members(&key, |walk, queues| {
            for queue in queues {
                let listed = walk.knows(super::Known::Queue, &queue);
                if !listed {
                    walk.suspect(ItemKind::Names, b"paused_queues", &queue)?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn later(&mut self) -> Result<(), Error> {
        for (place, item) in std::mem::take(&mut self.late) {
            self.suspect(place.kind, place.name.as_bytes(), item.as_bytes())?;
        }
        if self.whole() {
            self.tag_counters()?;
            self.counters()?;
        }
        if self.late_bytes > LATE || self.tally.over {
            self.late_again()?;
        }
        Ok(())
    }

    fn tag_counters(&mut self) -> Result<(), Error> {
        let key = self.keys.tags.clone().into_bytes();
        self.scored(&key, |walk, tags| {
            let asks = tags.iter().map(|(tag, _)| {
                let key = walk.keys.tag(tag);
                Read::count(&key)
            });
            let asks = asks.collect();
            let told = walk.reads(asks)?;
            walk.sink.read(walk.core, tags.len())?;
            for ((tag, score), told) in tags.iter().zip(told) {
                let right = match told {
                    ReadReply::Number(count) => count > 0 && *score == count as f64,
                    _ => false,
                };
                if !right {
                    walk.suspect(ItemKind::Names, b"tags", tag)?;
                }
            }
            Ok(())
        })
    }

    /// Finds again what was too much to be kept.
    fn late_again(&mut self) -> Result<(), Error> {
        let pattern = format!("{}*", self.keys.prefix);
        self.each_page(pattern.as_bytes(), |walk, keys| {
            let (mut tags, mut jobs) = (Vec::new(), Vec::new());
            for key in &keys {
                match walk.keys.family(key) {
                    Family::Tag(tag) => tags.push(tag.to_vec()),
                    Family::Job(jid) => jobs.push(jid.to_vec()),
                    Family::Counters(_) if walk.tally.over => {
                        let bare = walk.keys.without_prefix(key).to_vec();
                        walk.suspect(ItemKind::Key, b"", &bare)?;
                    }
                    _ => {}
                }
            }
            let list = walk.keys.tags.clone().into_bytes();
            let asks = tags.iter().map(|tag| Read::score(&list, tag)).collect();
            for (tag, told) in tags.iter().zip(walk.reads(asks)?) {
                if matches!(told, ReadReply::Text(None)) {
                    walk.suspect(ItemKind::Names, b"tags", tag)?;
                }
            }
            let asks = jobs.iter().flat_map(|jid| {
                let above = walk.keys.companion(Companion::Dependencies, jid);
                [
                    Read::field(&walk.keys.job(jid), "state"),
                    Read::exists(&above),
                ]
            });
            let asks = asks.collect();
            let told = walk.reads(asks)?;
            for (jid, told) in jobs.iter().zip(told.chunks_exact(2)) {
                if let [ReadReply::Text(Some(state)), ReadReply::Number(0)] = told
                    && state == b"depends"
                {
                    walk.suspect(ItemKind::Job, b"", jid)?;
                }
            }
            Ok(())
        })
    }
}
