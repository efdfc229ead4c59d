//! Page by page through a set of members, or a list, while others change it.
//!
//! Pages by rank are taken from the last to the first, so that what leaves moves nobody past us.
//! Sorted sets are read in the order of pop, the lowest score last: what is put behind those that
//! wait, and what is renewed to a later time, stays before us or is met again. What enters before
//! us moves the others away: so each page has to end with a member that the one before began with,
//! its witness. Failure lists get their new jobs at the front (`core.md` 3.1), where we begin, and
//! are counted from the end, so that nothing has to be witnessed.

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::QueueSet;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{Scanner, validate};

/// So many sets are begun in one round trip: each may answer a whole page.
pub(super) const SETS: usize = 40;

/// So often the witness of a page is looked for, one time after the other.
const TRIES: u8 = 3;

/// A set of members, or a list.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub kind: ItemKind,
    pub name: Vec<u8>,
    pub key: Vec<u8>,
    /// Whether each entry is read with its score.
    pub scored: bool,
    how: How,
    pub count: u64,
    /// Entries above now, where scores are read.
    pub live: u64,
}

/// How a set goes on.
#[derive(Clone, Debug)]
enum How {
    /// By rank.
    Ranks(Page),
    /// Where the witness is by now, after so many tries.
    Find(Witness, u8),
    /// By ZSCAN, which misses nothing while members come and go, but costs ten times as much.
    Cursor(Vec<u8>),
    /// The elements of a list from so many on, counted from the end. First it is not known how many
    /// there are.
    List(Option<i64>),
    Done,
}

/// A page of ranks.
#[derive(Clone, Debug, Default)]
struct Page {
    /// Its last rank, and who was the first of those that were seen; at first there is no such.
    from: Option<(i64, Witness)>,
    /// Whether it is read with scores for once.
    scores: bool,
    tries: u8,
}

/// A member that was seen, and its score: as long as it has that, none that is still to come has
/// passed it.
#[derive(Clone, Debug, PartialEq)]
struct Witness {
    member: Vec<u8>,
    score: f64,
}

/// A member, and its score if that was read.
type Entry = (Vec<u8>, Option<f64>);

/// The number that a score stands for in the mark of a waiting job: the priority of which it is.
pub(super) fn class(score: f64) -> u64 {
    (score.ceil() + 0.0).to_bits()
}

/// The number that a time stands for in a mark: what differs by more than a millisecond is different.
pub(super) fn instant(score: f64) -> u64 {
    (score * 2048.0).floor() as i64 as u64
}

impl Scanner<'_> {
    pub(super) fn set(&self, kind: ItemKind, name: &[u8]) -> Set {
        let key = match kind {
            ItemKind::Work => self.keys.queue(QueueSet::Work, name),
            ItemKind::Locks => self.keys.queue(QueueSet::Locks, name),
            ItemKind::Scheduled => self.keys.queue(QueueSet::Scheduled, name),
            ItemKind::Depends => self.keys.queue(QueueSet::Depends, name),
            ItemKind::Recur => self.keys.queue(QueueSet::Recur, name),
            ItemKind::Worker => self.keys.worker(name),
            ItemKind::Group => self.keys.group(name),
            ItemKind::Tag => self.keys.tag(name),
            ItemKind::Tracked => self.keys.tracked.clone().into_bytes(),
            _ => self.keys.completed.clone().into_bytes(),
        };
        Set {
            kind,
            name: name.to_vec(),
            key,
            scored: matches!(kind, ItemKind::Locks | ItemKind::Worker | ItemKind::Recur),
            how: match kind {
                ItemKind::Group => How::List(None),
                _ => How::Ranks(Page::default()),
            },
            count: 0,
            live: 0,
        }
    }

    /// Walks sets, the first pages of some together.
    pub(super) fn walk(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        for sets in sets.chunks_mut(self.pages(SETS)) {
            self.step(sets)?;
            for set in sets {
                while !matches!(set.how, How::Done) {
                    self.step(std::slice::from_mut(set))?;
                }
            }
        }
        Ok(())
    }

    /// Reads the next page of each.
    fn step(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        let page = self.page(sets.len());
        let asks: Vec<Vec<Read>> = sets.iter().map(|set| set.asks(page as i64)).collect();
        let counts: Vec<usize> = asks.iter().map(Vec::len).collect();
        let mut told = self
            .reads(asks.into_iter().flatten().collect())?
            .into_iter();
        let mut read = 0;
        for (set, count) in sets.iter_mut().zip(counts) {
            let told: Vec<ReadReply> = told.by_ref().take(count).collect();
            read += set.read(&told);
            let Some(entries) = set.take(told, page as i64) else {
                let key = set.key.clone();
                self.suspect_key(&key)?;
                continue;
            };
            for (member, score) in entries {
                self.entry(set, &member, score.unwrap_or(f64::NAN))?;
            }
        }
        self.sink.read(self.core, read)
    }
}

impl Set {
    /// Returns how many members were told; a set that has none is looked at, too.
    fn read(&self, told: &[ReadReply]) -> usize {
        let pairs = match &self.how {
            How::Ranks(page) => self.scored || page.scores,
            How::Cursor(_) => true,
            _ => false,
        };
        let texts = match told.first() {
            Some(ReadReply::Texts(items)) => items.len(),
            Some(ReadReply::Page(_, items)) => items.len(),
            _ => 1,
        };
        (if pairs { texts / 2 } else { texts }).max(1)
    }

    /// Returns what has to be read next, in a page of so many members.
    fn asks(&self, many: i64) -> Vec<Read> {
        let key = &self.key;
        let page = match &self.how {
            How::Ranks(page) => page,
            How::Find(witness, _) => {
                let higher = Read::higher(key, witness.score);
                return vec![higher, Read::score(key, &witness.member)];
            }
            How::Cursor(cursor) => return vec![Read::scores(key, cursor, many as usize)],
            How::List(None) => return vec![Read::range(key, 0, many - 1), Read::length(key)],
            How::List(Some(from)) => {
                return vec![Read::range(key, -from, (many - 1 - from).min(-1))];
            }
            How::Done => return Vec::new(),
        };
        let (first, last) = page.range(many);
        let scored = self.scored || page.scores;
        let mut asks = vec![match scored {
            true => Read::ranked(key, first, last),
            false => Read::ranks(key, first, last),
        }];
        let work = self.kind == ItemKind::Work;
        match &page.from {
            None if scored => asks.push(Read::count(key)),
            None if work => {
                asks.push(Read::count(key));
                // The first of a page that is not full is the first of all.
                let ends = [first, 0, last];
                asks.extend(ends.map(|at| Read::ranked(key, at, at)));
            }
            Some((_, witness)) if !scored => {
                asks.push(Read::score(key, &witness.member));
                asks.push(Read::ranked(key, first, first));
                if work {
                    asks.push(Read::ranked(key, last, last));
                }
            }
            _ => {}
        }
        asks
    }

    /// Takes what was told. `None` if it is of a wrong kind.
    fn take(&mut self, told: Vec<ReadReply>, many: i64) -> Option<Vec<Entry>> {
        let mut told = told.into_iter();
        match (std::mem::replace(&mut self.how, How::Done), told.next()?) {
            (How::Ranks(page), ReadReply::Texts(items)) => {
                Some(self.ranks(page, items, told.collect(), many))
            }
            (How::Find(witness, tries), ReadReply::Number(higher)) => {
                let stays = told.next().as_ref().and_then(scored) == Some(witness.score);
                self.how = match stays {
                    // Others may have the same score.
                    true => How::Ranks(Page {
                        from: Some((higher + many / 2, witness)),
                        scores: false,
                        tries,
                    }),
                    false => How::Cursor(START.to_vec()),
                };
                Some(Vec::new())
            }
            (How::Cursor(_), ReadReply::Page(next, items)) => {
                if let Some(next) = next {
                    self.how = How::Cursor(next);
                }
                Some(pairs(items))
            }
            (How::List(None), ReadReply::Texts(items)) if items.len() as i64 >= many => {
                // It is read again, from where its place is sure.
                let Some(ReadReply::Number(length)) = told.next() else {
                    return None;
                };
                self.how = How::List(Some(length));
                Some(Vec::new())
            }
            (How::List(from), ReadReply::Texts(items)) => {
                if let Some(from) = from.filter(|from| *from > many) {
                    self.how = How::List(Some(from - many));
                }
                Some(
                    items
                        .into_iter()
                        .flatten()
                        .map(|item| (item, None))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Takes a page of ranks, if its witness is there.
    fn ranks(
        &mut self,
        page: Page,
        items: Vec<Option<Vec<u8>>>,
        told: Vec<ReadReply>,
        many: i64,
    ) -> Vec<Entry> {
        let with_scores = self.scored || page.scores;
        let work = self.kind == ItemKind::Work;
        let items = items.into_iter().flatten();
        let mut entries: Vec<Entry> = match with_scores {
            true => pairs(items.collect()),
            false => items.map(|item| (item, None)).collect(),
        };
        let mut seen = None;
        if let Some((_, witness)) = &page.from {
            let at = |(member, _): &Entry| *member == witness.member;
            seen = entries.iter().rposition(at);
            let score = match with_scores {
                true => seen.and_then(|at| entries[at].1),
                false => told.first().and_then(scored),
            };
            if seen.is_none() || score != Some(witness.score) {
                self.how = match page.tries < TRIES {
                    true => How::Find(witness.clone(), page.tries + 1),
                    false => How::Cursor(START.to_vec()),
                };
                return Vec::new();
            }
        }
        let ends: Vec<(&Vec<u8>, f64)> = told.iter().filter_map(end).collect();
        let score = |entry: Option<&Entry>| {
            let (member, score) = entry?;
            let end = ends.iter().find(|(end, _)| *end == member);
            score.or(end.map(|(_, score)| *score))
        };
        let (first, last) = (score(entries.first()), score(entries.last()));
        // The rank of its first member.
        let rank = match (&page.from, told.first()) {
            (Some((from, _)), _) => from + 1 - many,
            (None, Some(ReadReply::Number(all))) => all - many,
            (None, _) => i64::from(entries.len() as i64 >= many),
        };
        let more = rank > 0;
        // In order of their scores, those between are of the same priority.
        let alike = matches!((first, last), (Some(one), Some(other)) if class(one) == class(other));
        let unsure = work && !alike || more && first.is_none();
        if unsure && !with_scores && !entries.is_empty() {
            let scores = true;
            self.how = How::Ranks(Page { scores, ..page });
            return Vec::new();
        }
        if let (true, Some((member, _)), Some(score)) = (more, entries.first(), first) {
            let member = member.clone();
            self.how = How::Ranks(Page {
                from: Some((rank, Witness { member, score })),
                ..Page::default()
            });
        }
        entries.truncate(seen.unwrap_or(entries.len()));
        if work && !with_scores {
            entries.iter_mut().for_each(|(_, score)| *score = first);
        }
        entries
    }
}

impl Page {
    /// Returns its first and its last rank.
    fn range(&self, many: i64) -> (i64, i64) {
        match self.from {
            Some((from, _)) => ((from + 1 - many).max(0), from),
            None => (-many, -1),
        }
    }
}

fn pairs(items: Vec<Vec<u8>>) -> Vec<Entry> {
    let mut items = items.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(member), Some(score)) = (items.next(), items.next()) {
        pairs.push((member, validate::score(&score)));
    }
    pairs
}

/// Returns a score that was asked for.
fn scored(told: &ReadReply) -> Option<f64> {
    match told {
        ReadReply::Text(score) => validate::score(score.as_ref()?),
        _ => None,
    }
}

/// Returns the only member that was asked for, and its score.
fn end(told: &ReadReply) -> Option<(&Vec<u8>, f64)> {
    match told {
        ReadReply::Texts(pair) => Some((
            pair.first()?.as_ref()?,
            validate::score(pair.get(1)?.as_ref()?)?,
        )),
        _ => None,
    }
}
