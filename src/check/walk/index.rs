//! The indexes: every entry leaves a mark.

use crate::core::check::Kind;
use crate::core::keys::Part;
use crate::core::read::{Ask, PAGE, START, Told};
use crate::error::Error;

use super::marks::{Met, Side};
use super::{AHEAD, Known, Seen, Walk, sound};

/// So many sets are begun in one round trip: each may answer a whole page.
const SETS: usize = 40;

/// A day: what is due for longer is stuck, in sets of these kinds.
const DAY: f64 = 86_400.0;
const STUCK: [Kind; 3] = [Kind::Locks, Kind::Scheduled, Kind::Recur];

/// A set of members, or a list.
#[derive(Clone, Debug)]
pub struct Set {
    pub kind: Kind,
    pub name: Vec<u8>,
    key: Vec<u8>,
    how: How,
    pub count: u64,
    /// Entries above now, where scores are read.
    live: u64,
}

/// How a set goes on.
#[derive(Clone, Debug)]
enum How {
    /// By rank: the next one, and the last member that was seen. That one is read again, to see
    /// whether the others have moved meanwhile.
    Rank(usize, Option<Vec<u8>>),
    /// The same, for the scores of a page that has several priorities.
    Scores(usize, Option<Vec<u8>>),
    /// By ZSCAN, which misses nothing while members come and go, but costs ten times as much.
    Cursor(Vec<u8>),
    /// An element of a list.
    List(usize),
    Done,
}

/// The number that a score stands for in the mark of a waiting job: the priority of which it is.
pub fn class(score: f64) -> u64 {
    (score.ceil() + 0.0).to_bits()
}

/// The number that a time stands for in a mark: what differs by more than a millisecond is different.
pub fn instant(score: f64) -> u64 {
    (score * 2048.0).floor() as i64 as u64
}

impl Walk<'_> {
    /// Walks all indexes that are listed.
    pub fn indexes(&mut self) -> Result<(), Error> {
        if !self.telling && self.first {
            self.config()?;
            self.pauses()?;
        }
        self.queues()?;
        self.workers()?;
        self.groups()?;
        self.tags()?;
        let completed = self.set(Kind::Completed, b"");
        let mut tracked = vec![self.set(Kind::Tracked, b"")];
        self.walk(&mut [completed])?;
        self.walk(&mut tracked)?;
        if self.first && !self.telling {
            self.completed_ahead()?;
        }
        self.tracks = tracked.iter().any(|set| set.count > 0);
        for kind in [Kind::Completed, Kind::Tracked] {
            self.know(Known::Walked, &[kind as u8]);
        }
        if !self.telling && self.first {
            self.paused()?;
        }
        Ok(())
    }

    /// What was completed later than now.
    fn completed_ahead(&mut self) -> Result<(), Error> {
        let key = self.keys.completed.clone().into_bytes();
        let mut from = self.now() + AHEAD;
        loop {
            // The scores tell where the next page begins.
            let Told::Texts(items) = self.core.read(self.now, Ask::above(&key, from))? else {
                return Ok(());
            };
            let full = items.len() == PAGE;
            let last = items.last().cloned().flatten();
            for jid in items.into_iter().flatten() {
                self.suspect(Kind::Completed, b"", &jid)?;
            }
            let Some(last) = last.filter(|_| full) else {
                return Ok(());
            };
            let score = Ask::score(&key, &last);
            match self.core.read(self.now, score)? {
                Told::Text(Some(score)) => match sound::score(&score) {
                    Some(score) if score > from => from = score,
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    pub fn set(&self, kind: Kind, name: &[u8]) -> Set {
        let key = match kind {
            Kind::Work => self.keys.queue(Part::Work, name),
            Kind::Locks => self.keys.queue(Part::Locks, name),
            Kind::Scheduled => self.keys.queue(Part::Scheduled, name),
            Kind::Depends => self.keys.queue(Part::Depends, name),
            Kind::Recur => self.keys.queue(Part::Recur, name),
            Kind::Worker => self.keys.worker(name),
            Kind::Group => self.keys.group(name),
            Kind::Tag => self.keys.tag(name),
            Kind::Tracked => self.keys.tracked.clone().into_bytes(),
            _ => self.keys.completed.clone().into_bytes(),
        };
        Set {
            kind,
            name: name.to_vec(),
            key,
            how: match kind {
                Kind::Group => How::List(0),
                _ => How::Rank(0, None),
            },
            count: 0,
            live: 0,
        }
    }

    /// Walks sets, the first pages of some together.
    pub fn walk(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        for sets in sets.chunks_mut(SETS) {
            self.step(sets)?;
            for set in sets {
                while !matches!(set.how, How::Done) {
                    self.step(std::slice::from_mut(set))?;
                    self.sink.seen(self.core, Seen::default())?;
                }
            }
        }
        Ok(())
    }

    /// Reads the next page of each.
    fn step(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        let asks: Vec<Vec<Ask>> = sets.iter().map(Set::asks).collect();
        let counts: Vec<usize> = asks.iter().map(Vec::len).collect();
        let mut told = self
            .reads(asks.into_iter().flatten().collect())?
            .into_iter();
        for (set, count) in sets.iter_mut().zip(counts) {
            let told: Vec<Told> = told.by_ref().take(count).collect();
            self.page(set, told)?;
        }
        Ok(())
    }

    fn page(&mut self, set: &mut Set, told: Vec<Told>) -> Result<(), Error> {
        let mut told = told.into_iter();
        match (std::mem::replace(&mut set.how, How::Done), told.next()) {
            (How::Cursor(_), Some(Told::Page(next, items))) => {
                if let Some(next) = next {
                    set.how = How::Cursor(next);
                }
                for pair in items.chunks_exact(2) {
                    let score = sound::score(&pair[1]).unwrap_or(f64::NAN);
                    self.entry(set, &pair[0], score)?;
                }
                Ok(())
            }
            (How::List(from), Some(Told::Texts(items))) => {
                if items.len() == PAGE {
                    set.how = How::List(from + PAGE);
                }
                let mut items = items.into_iter().flatten();
                items.try_for_each(|item| self.entry(set, &item, 0.0))
            }
            (How::Rank(from, last), Some(Told::Texts(items))) => {
                let items: Vec<Vec<u8>> = items.into_iter().flatten().collect();
                if set.scored() {
                    let pairs = items.chunks_exact(2);
                    let pairs = pairs.map(|pair| (&pair[0], sound::score(&pair[1])));
                    return self.ranks(set, from, last, pairs.collect());
                }
                let mut scores = told.map(|told| first_score(&told));
                let one = scores.next().flatten();
                let score = match (one, scores.flatten().next()) {
                    // In order of their scores, those between are of the same priority.
                    (Some(one), Some(other)) if class(one) == class(other) => one,
                    _ if set.kind == Kind::Work && !items.is_empty() => {
                        set.how = How::Scores(from, last);
                        return Ok(());
                    }
                    _ => 0.0,
                };
                let pairs = items.iter().map(|item| (item, Some(score)));
                self.ranks(set, from, last, pairs.collect())
            }
            (How::Scores(from, last), Some(Told::Texts(items))) => {
                let items: Vec<Vec<u8>> = items.into_iter().flatten().collect();
                let pairs = items.chunks_exact(2);
                let pairs = pairs.map(|pair| (&pair[0], sound::score(&pair[1])));
                self.ranks(set, from, last, pairs.collect())
            }
            _ => {
                let key = set.key.clone();
                self.suspect_key(&key)
            }
        }
    }

    /// Takes a page of ranks, if it goes on where the last one ended.
    fn ranks(
        &mut self,
        set: &mut Set,
        from: usize,
        last: Option<Vec<u8>>,
        mut pairs: Vec<(&Vec<u8>, Option<f64>)>,
    ) -> Result<(), Error> {
        let full = pairs.len() == PAGE;
        if let Some(last) = last {
            if pairs.first().is_none_or(|(member, _)| **member != last) {
                set.how = How::Cursor(START.to_vec());
                return Ok(());
            }
            pairs.remove(0);
        }
        if let (Some((member, _)), true) = (pairs.last(), full) {
            set.how = How::Rank(from + PAGE - 1, Some((*member).clone()));
        }
        for (member, score) in pairs {
            self.entry(set, member, score.unwrap_or(f64::NAN))?;
        }
        Ok(())
    }

    fn entry(&mut self, set: &mut Set, member: &[u8], score: f64) -> Result<(), Error> {
        let now = self.now();
        set.count += 1;
        set.live += u64::from(score > now);
        let number = match set.kind {
            Kind::Work => class(score),
            Kind::Locks | Kind::Worker => instant(score),
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
            Kind::Group => self.marks.enter(hash) == Met::Twice,
            Kind::Recur => {
                self.marks.enter(hash);
                self.first && !(score >= 0.0 && score.is_finite())
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
    pub fn walk_queues(&mut self, queues: &[(Vec<u8>, Option<f64>)]) -> Result<(), Error> {
        let kinds = [
            Kind::Work,
            Kind::Locks,
            Kind::Scheduled,
            Kind::Depends,
            Kind::Recur,
        ];
        for queues in queues.chunks(SETS / kinds.len()) {
            for (queue, _) in queues {
                self.know(Known::Walked, &key(Kind::Work, queue));
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
            let due = sets.iter().filter(|set| set.may_be_stuck());
            let asks = due.map(|set| Ask::up_to(&set.key, self.now() - DAY + 1.0));
            let told = self.reads(asks.collect())?;
            let stuck: Vec<bool> = told
                .into_iter()
                .map(|told| !matches!(told, Told::Number(0)))
                .collect();
            let stuck = stuck.chunks(STUCK.len()).map(|stuck| stuck.contains(&true));
            let queues = queues.iter().zip(sets.chunks(kinds.len())).zip(stuck);
            for (((queue, listed), sets), stuck) in queues {
                if stuck || self.odd_queue(queue, *listed, sets) {
                    self.suspect(Kind::Names, b"queues", queue)?;
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
        let locks = sets.iter().find(|set| set.kind == Kind::Locks);
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
            let seen = Seen {
                queues,
                ..Seen::default()
            };
            self.sink.seen(self.core, seen)?;
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
                walk.know(Known::Walked, &self::key(Kind::Worker, &worker));
                if at > ahead && walk.first && !walk.telling {
                    walk.suspect(Kind::Names, b"workers", &worker)?;
                }
                sets.push(walk.set(Kind::Worker, &worker));
            }
            walk.walk(&mut sets)
        })
    }

    fn groups(&mut self) -> Result<(), Error> {
        let key = self.keys.failures.clone().into_bytes();
        self.members(&key, |walk, page| {
            let mut sets = Vec::with_capacity(page.len());
            for group in page {
                walk.know(Known::Walked, &self::key(Kind::Group, &group));
                sets.push(walk.set(Kind::Group, &group));
            }
            walk.walk(&mut sets)?;
            if walk.first && !walk.telling {
                for set in sets.iter().filter(|set| set.count == 0) {
                    walk.suspect(Kind::Names, b"failures", &set.name)?;
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
                walk.know(Known::Walked, &self::key(Kind::Tag, &tag));
                sets.push(walk.set(Kind::Tag, &tag));
            }
            walk.walk(&mut sets)
        })
    }

    /// Walks the sets of a name that no list has, unless that was done. Returns whether it was done
    /// now.
    pub fn walk_stranger(&mut self, kind: Kind, name: &[u8]) -> Result<bool, Error> {
        let kind = match kind {
            Kind::Locks | Kind::Scheduled | Kind::Depends | Kind::Recur => Kind::Work,
            Kind::Completed | Kind::Tracked => return Ok(false),
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
        if kind == Kind::Work {
            self.walk_queues(&[(name.to_vec(), None)])?;
            return Ok(true);
        }
        let mut set = [self.set(kind, name)];
        self.walk(&mut set)?;
        if self.first && !self.telling && set[0].count > 0 {
            match kind {
                Kind::Worker => self.suspect(Kind::Names, b"workers", name)?,
                Kind::Group => self.suspect(Kind::Names, b"failures", name)?,
                _ => self.suspect_late(Kind::Names, b"tags", name),
            }
        }
        Ok(true)
    }

    fn is_listed(&mut self, kind: Kind, name: &[u8]) -> Result<bool, Error> {
        let list = match kind {
            Kind::Work => &self.keys.queues,
            Kind::Worker => &self.keys.workers,
            Kind::Tag => &self.keys.tags,
            _ => return Ok(false),
        };
        let ask = Ask::score(list.as_bytes(), name);
        Ok(matches!(
            self.core.read(self.now, ask)?,
            Told::Text(Some(_))
        ))
    }

    /// Hands out a sorted set of names, page by page, with their scores.
    pub fn scored(
        &mut self,
        key: &[u8],
        mut each: impl FnMut(&mut Self, Vec<(Vec<u8>, f64)>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.paged(
            key,
            |cursor| Ask::scores(key, cursor),
            |walk, items| {
                let mut items = items.into_iter();
                let mut page = Vec::with_capacity(items.len() / 2);
                while let (Some(name), Some(score)) = (items.next(), items.next()) {
                    page.push((name, sound::score(&score).unwrap_or(f64::NAN)));
                }
                each(walk, page)
            },
        )
    }

    /// Hands out a set of names, page by page.
    pub fn members(
        &mut self,
        key: &[u8],
        each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.paged(key, |cursor| Ask::members(key, cursor), each)
    }

    pub fn paged(
        &mut self,
        key: &[u8],
        ask: impl Fn(&[u8]) -> Ask,
        mut each: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut cursor = START.to_vec();
        loop {
            let Told::Page(next, items) = self.core.read(self.now, ask(&cursor))? else {
                return self.suspect_key(key);
            };
            each(self, items)?;
            self.sink.seen(self.core, Seen::default())?;
            match next {
                Some(next) => cursor = next,
                None => return Ok(()),
            }
        }
    }
}

/// What a place is remembered by.
pub fn key(kind: Kind, name: &[u8]) -> Vec<u8> {
    [&[kind as u8], name].concat()
}

impl Set {
    /// Returns what has to be read next.
    fn asks(&self) -> Vec<Ask> {
        match &self.how {
            How::Rank(from, _) if self.scored() => {
                vec![Ask::ranked(&self.key, *from, from + PAGE - 1)]
            }
            How::Rank(from, _) if self.kind == Kind::Work => {
                // The last of a page that is not full is the last of all.
                let last = from + PAGE - 1;
                vec![
                    Ask::ranks(&self.key, *from, last),
                    Ask::ranked(&self.key, *from, *from),
                    Ask::ranked(&self.key, last, last),
                    Ask::last(&self.key),
                ]
            }
            How::Rank(from, _) => vec![Ask::ranks(&self.key, *from, from + PAGE - 1)],
            How::Scores(from, _) => vec![Ask::ranked(&self.key, *from, from + PAGE - 1)],
            How::Cursor(cursor) => vec![Ask::scores(&self.key, cursor)],
            How::List(from) => vec![Ask::range(&self.key, *from, from + PAGE - 1)],
            How::Done => Vec::new(),
        }
    }

    /// Whether each entry is marked with its score.
    fn scored(&self) -> bool {
        matches!(self.kind, Kind::Locks | Kind::Worker | Kind::Recur)
    }

    fn may_be_stuck(&self) -> bool {
        STUCK.contains(&self.kind)
    }
}

/// Returns the score of the only member that was asked for.
fn first_score(told: &Told) -> Option<f64> {
    match told {
        Told::Texts(pair) => sound::score(pair.get(1)?.as_ref()?),
        _ => None,
    }
}
