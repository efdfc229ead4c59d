//! Page by page through a set of members, or a list, while others change it.
//!
//! Pages by rank are taken from the last to the first, so that what leaves moves nobody past us.
//! Sorted sets are read in the order of pop, the lowest score last: what is put behind those that
//! wait, and what is renewed to a later time, stays before us or is met again. What enters before
//! us moves the others away: so each page has to end with a member that the one before began with,
//! its witness. Failure lists get their new jobs at the front (`core.md` 3.1), where we begin, and
//! are counted from the end, so that nothing has to be witnessed.

use crate::core::api::read::{Read, ReadReply, START};
use crate::core::script::keys::Part;
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{Scanner, validate};

/// So many sets are begun in one round trip: each may answer a whole page.
pub(super) const SETS_PER_READ: usize = 40;

/// So often the witness of a page is looked for, one time after the other.
const MAX_TRIES: u8 = 3;

/// A set of members, or a list.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub kind: ItemKind,
    pub name: Vec<u8>,
    pub key: Vec<u8>,
    /// Whether each entry is read with its score.
    pub scored: bool,
    cursor: Cursor,
    pub count: u64,
    /// Entries above now, where scores are read.
    pub live: u64,
}

/// Cursor a set goes on.
#[derive(Clone, Debug)]
enum Cursor {
    /// By rank.
    Ranks(Page),
    /// Where the witness is by now, after so many tries.
    Find(Witness, u8),
    /// By ZSCAN, which misses nothing while members come and go, but costs ten times as much.
    Scan(Vec<u8>),
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
    pub(super) fn index_set(&self, kind: ItemKind, name: &[u8]) -> Set {
        let key = match kind {
            ItemKind::Work => self.keys.queue(Part::Work, name),
            ItemKind::Locks => self.keys.queue(Part::Locks, name),
            ItemKind::Scheduled => self.keys.queue(Part::Scheduled, name),
            ItemKind::Depends => self.keys.queue(Part::Depends, name),
            ItemKind::Recur => self.keys.queue(Part::Recur, name),
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
            cursor: match kind {
                ItemKind::Group => Cursor::List(None),
                _ => Cursor::Ranks(Page::default()),
            },
            count: 0,
            live: 0,
        }
    }

    /// Walks sets, the first pages of some together.
    pub(super) fn scan_sets(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        for sets in sets.chunks_mut(self.pages(SETS_PER_READ)) {
            self.read_next_pages(sets)?;
            for set in sets {
                while !matches!(set.cursor, Cursor::Done) {
                    self.read_next_pages(std::slice::from_mut(set))?;
                }
            }
        }
        Ok(())
    }

    /// Reads the next page of each.
    fn read_next_pages(&mut self, sets: &mut [Set]) -> Result<(), Error> {
        let page = self.page(sets.len());
        let asks: Vec<Vec<Read>> = sets.iter().map(|set| set.reads(page as i64)).collect();
        let counts: Vec<usize> = asks.iter().map(Vec::len).collect();
        let mut replies = self
            .read_all(asks.into_iter().flatten().collect())?
            .into_iter();
        let mut read = 0;
        for (set, count) in sets.iter_mut().zip(counts) {
            let replies: Vec<ReadReply> = replies.by_ref().take(count).collect();
            read += set.member_count(&replies);
            let Some(entries) = set.take(replies, page as i64) else {
                let key = set.key.clone();
                self.add_key(&key)?;
                continue;
            };
            for (member, score) in entries {
                self.add_entry(set, &member, score.unwrap_or(f64::NAN))?;
            }
        }
        self.sink.members_read(self.core, read)
    }
}

impl Set {
    /// Returns how many members were replies; a set that has none is looked at, too.
    fn member_count(&self, replies: &[ReadReply]) -> usize {
        let pairs = match &self.cursor {
            Cursor::Ranks(page) => self.scored || page.scores,
            Cursor::Scan(_) => true,
            _ => false,
        };
        let texts = match replies.first() {
            Some(ReadReply::Texts(items)) => items.len(),
            Some(ReadReply::Page(_, items)) => items.len(),
            _ => 1,
        };
        (if pairs { texts / 2 } else { texts }).max(1)
    }

    /// Returns what has to be read next, in a page of so many members.
    fn reads(&self, many: i64) -> Vec<Read> {
        let key = &self.key;
        let page = match &self.cursor {
            Cursor::Ranks(page) => page,
            Cursor::Find(witness, _) => {
                let higher = Read::higher(key, witness.score);
                return vec![higher, Read::score(key, &witness.member)];
            }
            Cursor::Scan(cursor) => return vec![Read::scores(key, cursor, many as usize)],
            Cursor::List(None) => return vec![Read::range(key, 0, many - 1), Read::length(key)],
            Cursor::List(Some(from)) => {
                return vec![Read::range(key, -from, (many - 1 - from).min(-1))];
            }
            Cursor::Done => return Vec::new(),
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

    /// Takes what was replies. `None` if it is of a wrong kind.
    fn take(&mut self, replies: Vec<ReadReply>, many: i64) -> Option<Vec<Entry>> {
        let mut replies = replies.into_iter();
        match (
            std::mem::replace(&mut self.cursor, Cursor::Done),
            replies.next()?,
        ) {
            (Cursor::Ranks(page), ReadReply::Texts(items)) => {
                Some(self.take_ranks(page, items, replies.collect(), many))
            }
            (Cursor::Find(witness, tries), ReadReply::Number(higher)) => {
                let stays = replies.next().as_ref().and_then(scored) == Some(witness.score);
                self.cursor = match stays {
                    // Others may have the same score.
                    true => Cursor::Ranks(Page {
                        from: Some((higher + many / 2, witness)),
                        scores: false,
                        tries,
                    }),
                    false => Cursor::Scan(START.to_vec()),
                };
                Some(Vec::new())
            }
            (Cursor::Scan(_), ReadReply::Page(next, items)) => {
                if let Some(next) = next {
                    self.cursor = Cursor::Scan(next);
                }
                Some(pairs(items))
            }
            (Cursor::List(None), ReadReply::Texts(items)) if items.len() as i64 >= many => {
                // It is read again, from where its place is sure.
                let Some(ReadReply::Number(length)) = replies.next() else {
                    return None;
                };
                self.cursor = Cursor::List(Some(length));
                Some(Vec::new())
            }
            (Cursor::List(from), ReadReply::Texts(items)) => {
                if let Some(from) = from.filter(|from| *from > many) {
                    self.cursor = Cursor::List(Some(from - many));
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
    fn take_ranks(
        &mut self,
        page: Page,
        items: Vec<Option<Vec<u8>>>,
        replies: Vec<ReadReply>,
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
                false => replies.first().and_then(scored),
            };
            if seen.is_none() || score != Some(witness.score) {
                self.cursor = match page.tries < MAX_TRIES {
                    true => Cursor::Find(witness.clone(), page.tries + 1),
                    false => Cursor::Scan(START.to_vec()),
                };
                return Vec::new();
            }
        }
        let ends: Vec<(&Vec<u8>, f64)> = replies.iter().filter_map(end).collect();
        let score = |entry: Option<&Entry>| {
            let (member, score) = entry?;
            let end = ends.iter().find(|(end, _)| *end == member);
            score.or(end.map(|(_, score)| *score))
        };
        let (first, last) = (score(entries.first()), score(entries.last()));
        // The rank of its first member.
        let rank = match (&page.from, replies.first()) {
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
            self.cursor = Cursor::Ranks(Page { scores, ..page });
            return Vec::new();
        }
        if let (true, Some((member, _)), Some(score)) = (more, entries.first(), first) {
            let member = member.clone();
            self.cursor = Cursor::Ranks(Page {
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
fn scored(replies: &ReadReply) -> Option<f64> {
    match replies {
        ReadReply::Text(score) => validate::score(score.as_ref()?),
        _ => None,
    }
}

/// Returns the only member that was asked for, and its score.
fn end(replies: &ReadReply) -> Option<(&Vec<u8>, f64)> {
    match replies {
        ReadReply::Texts(pair) => Some((
            pair.first()?.as_ref()?,
            validate::score(pair.get(1)?.as_ref()?)?,
        )),
        _ => None,
    }
}
