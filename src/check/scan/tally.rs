//! How many jobs failed on each day in each queue, beside what the counters say.

use std::collections::HashMap;

use crate::core::api::read::{Read, ReadReply};
use crate::error::Error;
use crate::model::verdict::ItemKind;
use crate::name::Name;

use super::Scanner;

/// So many counters are told apart. Of far fewer failed jobs the core judges any.
const MOST: usize = 30_000;

/// What was counted, by `day:queue`.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: HashMap<Vec<u8>, Counted>,
    /// Whether there were more.
    pub over: bool,
}

#[derive(Debug, Default)]
struct Counted {
    jobs: u64,
    /// One of them.
    one: Option<Name>,
}

impl Tally {
    /// Returns what counts a day and queue, if there is room for it.
    fn entry(&mut self, of: Vec<u8>) -> Option<&mut Counted> {
        if self.counts.len() >= MOST && !self.counts.contains_key(&of) {
            self.over = true;
            return None;
        }
        Some(self.counts.entry(of).or_default())
    }

    /// Counts a job that failed.
    pub(super) fn count(&mut self, when: f64, queue: &[u8], jid: &[u8]) {
        const DAY: f64 = 86_400.0;
        let day = when - (when - (when / DAY).floor() * DAY);
        let of = [format!("{day:.0}:").as_bytes(), queue].concat();
        if let Some(counted) = self.entry(of) {
            counted.jobs += 1;
            counted.one.get_or_insert_with(|| Name::from(jid));
        }
    }

    /// Notes a counter that is not 0.
    pub(super) fn note(&mut self, of: &[u8]) {
        _ = self.entry(of.to_vec());
    }
}

impl Scanner<'_> {
    /// Suspects counters that do not say what was counted.
    pub(super) fn counters(&mut self) -> Result<(), Error> {
        let counts = std::mem::take(&mut self.tally.counts);
        let counts: Vec<(Vec<u8>, Counted)> = counts.into_iter().collect();
        for counts in counts.chunks(500) {
            let keys = counts.iter().map(|(of, _)| self.keys.counters(of));
            let keys: Vec<Vec<u8>> = keys.collect();
            let asks = keys.iter().map(|key| Read::field(key, "failed"));
            let told = self.reads(asks.collect())?;
            self.sink.read(self.core, counts.len())?;
            for (((_, counted), key), told) in counts.iter().zip(keys).zip(told) {
                let stored = match told {
                    ReadReply::Text(stored) => stored,
                    _ => None,
                };
                let stored = stored.unwrap_or_else(|| b"0".to_vec());
                if stored == counted.jobs.to_string().into_bytes() {
                    continue;
                }
                let bare = self.keys.without_prefix(&key).to_vec();
                self.suspect(ItemKind::Key, b"", &bare)?;
                // Of a key that is not there only its jobs tell.
                if let Some(jid) = &counted.one {
                    self.suspect(ItemKind::Job, b"", jid.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}
