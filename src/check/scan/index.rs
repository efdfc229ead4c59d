//! The indexes: every entry leaves a mark.

use crate::core::api::read::{Read, ReadReply, START};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::marks::{Met, Side};
use super::set::{SETS, Set, class, instant};
use super::{AHEAD, Known, ScanCounts, Scanner, validate};

/// A day: what is due for longer is stuck, in sets of these kinds.
const DAY: f64 = 86_400.0;
const STUCK: [ItemKind; 3] = [ItemKind::Locks, ItemKind::Scheduled, ItemKind::Recur];

impl Scanner<'_> {
    /// Walks all indexes that are listed.
    pub(super) fn indexes(&mut self) -> Result<(), Error> {
        if !self.telling && self.first {
            self.config()?;
            self.pauses()?;
        }
        self.queues()?;
        self.workers()?;
        self.groups()?;
        self.tags()?;
        let mut completed = self.set(ItemKind::Completed, b"");
        completed.scored = self.first && !self.telling && self.completed_ahead(&completed)?;
        let mut tracked = vec![self.set(ItemKind::Tracked, b"")];
        self.walk(&mut [completed])?;
        self.walk(&mut tracked)?;
        self.tracks = tracked.iter().any(|set| set.count > 0);
        for kind in [ItemKind::Completed, ItemKind::Tracked] {
            self.know(Known::Walked, &[kind as u8]);
        }
        if !self.telling && self.first {
            self.paused()?;
        }
        Ok(())
    }

    /// Whether anything was completed later than now.
    fn completed_ahead(&mut self, completed: &Set) -> Result<bool, Error> {
        let ask = Read::higher(&completed.key, self.now() + AHEAD);
        let told = self.core.read(self.now, ask)?;
        Ok(matches!(told, ReadReply::Number(some) if some > 0))
    }

    /// Takes an entry; the score of one that was read without is no number.
    pub(super) fn entry(&mut self, set: &mut Set, member: &[u8], score: f64) -> Result<(), Error> {
        let now = self.now();
        set.count += 1;
        set.live += u64::from(score > now);
        let number = match set.kind {
            ItemKind::Work => class(score),
            ItemKind::Locks | ItemKind::Worker => instant(score),
            _ => 0,
        };
        let hash = self.mark(set.kind, &set.name, member, number);
        if self.telling {
            if self.marks.is_left(hash, Side::Entry) {
                self.marks.strike(hash);
                self.suspect(set.kind, &set.name, member)?;
            }
            return Ok(());
        }
        let odd = match set.kind {
            // A set may name a member twice while it grows.
            ItemKind::Group => self.marks.enter(hash) == Met::Twice,
            ItemKind::Recur => {
                self.marks.enter(hash);
                self.first && !(score >= 0.0 && score.is_finite())
            }
            ItemKind::Completed => {
                self.marks.enter(hash);
                self.first && score > now + AHEAD
            }
            _ => {
                self.marks.enter(hash);
                false
            }
        };
        match odd {
            true => self.suspect(set.kind, &set.name, member),
            false => Ok(()),
        }
    }

    /// Walks the sets of queues that are listed, or are not.
    pub(super) fn walk_queues(&mut self, queues: &[(Vec<u8>, Option<f64>)]) -> Result<(), Error> {
        let kinds = [
            ItemKind::Work,
            ItemKind::Locks,
            ItemKind::Scheduled,
            ItemKind::Depends,
            ItemKind::Recur,
        ];
        for queues in queues.chunks((self.pages(SETS) / kinds.len()).max(1)) {
            for (queue, _) in queues {
                self.know(Known::Walked, &key(ItemKind::Work, queue));
            }
            let sets = queues.iter().flat_map(|(queue, _)| {
                let set = |kind| self.set(kind, queue);
                kinds.map(set)
            });
            let mut sets: Vec<Set> = sets.collect();
            self.walk(&mut sets)?;
            if self.telling || !self.first {
                continue;
            }
            let due = sets.iter().filter(|set| STUCK.contains(&set.kind));
            let asks = due.map(|set| Read::up_to(&set.key, self.now() - DAY + 1.0));
            let told = self.reads(asks.collect())?;
            let stuck: Vec<bool> = told
                .into_iter()
                .map(|told| !matches!(told, ReadReply::Number(0)))
                .collect();
            let stuck = stuck.chunks(STUCK.len()).map(|stuck| stuck.contains(&true));
            let queues = queues.iter().zip(sets.chunks(kinds.len())).zip(stuck);
            for (((queue, listed), sets), stuck) in queues {
                if stuck || self.odd_queue(queue, *listed, sets) {
                    self.suspect(ItemKind::Names, b"queues", queue)?;
                }
            }
        }
        Ok(())
    }

    fn odd_queue(&self, queue: &[u8], listed: Option<f64>, sets: &[Set]) -> bool {
        let now = self.now();
        let Some(since) = listed else {
            return true;
        };
        let used = sets.iter().any(|set| set.count > 0);
        let locks = sets.iter().find(|set| set.kind == ItemKind::Locks);
        let limit = self.limits.get(queue).copied().unwrap_or(f64::INFINITY);
        let over = locks.is_some_and(|set| limit >= 1.0 && set.live as f64 > limit.floor());
        !used || over || since > now + AHEAD
    }

    fn queues(&mut self) -> Result<(), Error> {
        let key = self.keys.queues.clone().into_bytes();
        let mut listed = 0;
        self.scored(&key, |walk, page| {
            listed += page.len() as u64;
            for (queue, _) in &page {
                walk.know(Known::Queue, queue);
            }
            let page: Vec<_> = page
                .into_iter()
                .map(|(name, at)| (name, Some(at)))
                .collect();
            walk.walk_queues(&page)
        })?;
        if self.first && !self.telling {
            self.seen.queues = listed;
            let queues = listed;
            let seen = ScanCounts {
                queues,
                ..ScanCounts::default()
            };
            self.sink.keys_scanned(self.core, seen)?;
        }
        Ok(())
    }

    fn workers(&mut self) -> Result<(), Error> {
        let key = self.keys.workers.clone().into_bytes();
        self.scored(&key, |walk, page| {
            let ahead = walk.now() + AHEAD;
            let mut sets = Vec::with_capacity(page.len());
            for (worker, at) in page {
                walk.know(Known::Worker, &worker);
                walk.know(Known::Walked, &self::key(ItemKind::Worker, &worker));
                if at > ahead && walk.first && !walk.telling {
                    walk.suspect(ItemKind::Names, b"workers", &worker)?;
                }
                sets.push(walk.set(ItemKind::Worker, &worker));
            }
            walk.walk(&mut sets)
        })
    }

    fn groups(&mut self) -> Result<(), Error> {
        let key = self.keys.failures.clone().into_bytes();
        self.members(&key, |walk, page| {
            let mut sets = Vec::with_capacity(page.len());
            for group in page {
                walk.know(Known::Walked, &self::key(ItemKind::Group, &group));
                sets.push(walk.set(ItemKind::Group, &group));
            }
            walk.walk(&mut sets)?;
            if walk.first && !walk.telling {
                for set in sets.iter().filter(|set| set.count == 0) {
                    walk.suspect(ItemKind::Names, b"failures", &set.name)?;
                }
            }
            Ok(())
        })
    }

    fn tags(&mut self) -> Result<(), Error> {
        let key = self.keys.tags.clone().into_bytes();
        self.scored(&key, |walk, page| {
            let mut sets = Vec::with_capacity(page.len());
            for (tag, _) in page {
                walk.know(Known::Walked, &self::key(ItemKind::Tag, &tag));
                sets.push(walk.set(ItemKind::Tag, &tag));
            }
            walk.walk(&mut sets)
        })
    }

    /// Walks the sets of a name that no list has, unless that was done. Returns whether it was done
    /// now.
    pub(super) fn walk_stranger(&mut self, kind: ItemKind, name: &[u8]) -> Result<bool, Error> {
        let kind = match kind {
            ItemKind::Locks | ItemKind::Scheduled | ItemKind::Depends | ItemKind::Recur => {
                ItemKind::Work
            }
            ItemKind::Completed | ItemKind::Tracked => return Ok(false),
            kind => kind,
        };
        if !self.know(Known::Walked, &key(kind, name)) {
            return Ok(false);
        }
        // Too many names to remember them all.
        if self.known.len() >= super::KNOWN && self.is_listed(kind, name)? {
            return Ok(false);
        }
        self.strangers = true;
        if kind == ItemKind::Work {
            self.walk_queues(&[(name.to_vec(), None)])?;
            return Ok(true);
        }
        let mut set = [self.set(kind, name)];
        self.walk(&mut set)?;
        if self.first && !self.telling && set[0].count > 0 {
            match kind {
                ItemKind::Worker => self.suspect(ItemKind::Names, b"workers", name)?,
                ItemKind::Group => self.suspect(ItemKind::Names, b"failures", name)?,
                _ => self.suspect_late(ItemKind::Names, b"tags", name),
            }
        }
        Ok(true)
    }

    fn is_listed(&mut self, kind: ItemKind, name: &[u8]) -> Result<bool, Error> {
        let list = match kind {
            ItemKind::Work => &self.keys.queues,
            ItemKind::Worker => &self.keys.workers,
            ItemKind::Tag => &self.keys.tags,
            _ => return Ok(false),
        };
        let ask = Read::score(list.as_bytes(), name);
        Ok(matches!(
            self.core.read(self.now, ask)?,
            ReadReply::Text(Some(_))
        ))
    }

    /// Hands out a sorted set of names, page by page, with their scores.
    pub(super) fn scored(
        &mut self,
        key: &[u8],
        mut each: impl FnMut(&mut Self, Vec<(Vec<u8>, f64)>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.paged(
            key,
            2,
            |cursor, count| Read::scores(key, cursor, count),
            |walk, items| {
                let mut items = items.into_iter();
                let mut page = Vec::with_capacity(items.len() / 2);
                while let (Some(name), Some(score)) = (items.next(), items.next()) {
                    page.push((name, validate::score(&score).unwrap_or(f64::NAN)));
                }
                each(walk, page)
            },
        )
    }

    /// Hands out a set of names, page by page.
    pub(super) fn members(
        &mut self,
        key: &[u8],
        each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.paged(
            key,
            1,
            |cursor, count| Read::members(key, cursor, count),
            each,
        )
    }

    /// Hands out what is read by a cursor, page by page; `words` stand for one member.
    pub(super) fn paged(
        &mut self,
        key: &[u8],
        words: usize,
        ask: impl Fn(&[u8], usize) -> Read,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut cursor = START.to_vec();
        let count = self.page(1);
        loop {
            let ReadReply::Page(next, items) = self.core.read(self.now, ask(&cursor, count))?
            else {
                return self.suspect_key(key);
            };
            let read = items.len() / words;
            each(self, items)?;
            self.sink.members_read(self.core, read)?;
            match next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }
}

/// What a place is remembered by.
pub(super) fn key(kind: ItemKind, name: &[u8]) -> Vec<u8> {
    [&[kind as u8], name].concat()
}
