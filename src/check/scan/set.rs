//! Reads a set or a list page by page, while other clients change it.
//!
//! Pages by rank are read from the last to the first, so that a removed member moves no other one
//! past the scan. Sorted sets are read in the order of pop, the lowest score last: a member that is
//! added behind the waiting ones, or that gets a later time, is still to come or is read twice. A
//! member that is added before them moves the others away: so each page must end with the first
//! member of the page before, its witness. Failure lists grow at the front, where the
//! scan begins, and are counted from the end, so they need no witness.

use std::collections::VecDeque;

use crate::core::api::read::{ReadCommand, ReadReply, ReadsAhead, START};
use crate::core::script::keys::{self, QueueKey};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{Scanner, validate};

/// Maximum number of sets read in one round trip: each may return a whole page.
pub(super) const SETS_PER_READ: usize = 40;

/// Maximum number of searches for the witness of a page in a row.
const MAX_TRIES: u8 = 3;

/// A set, a sorted set or a list.
#[derive(Clone, Debug)]
pub(super) struct IndexedSet {
    pub kind: ItemKind,
    pub name: Vec<u8>,
    pub key: Vec<u8>,
    /// The salted hash of kind and name.
    pub location: u64,
    /// Whether each entry is read with its score.
    pub scored: bool,
    cursor: SetCursor,
    /// The number of entries from the first one of the page on, if it is a page of a long list.
    behind: Option<u64>,
    pub count: u64,
    /// The number of entries with a score above now, if scores are read.
    pub live: u64,
}

/// The next read of a set.
#[derive(Clone, Debug)]
enum SetCursor {
    Ranks(RankPage),
    /// A search for the rank of the witness, after this number of searches.
    Find(WitnessMember, u8),
    /// By ZSCAN, which misses no member while others come and go, but costs ten times as much.
    Scan(Vec<u8>),
    /// The elements of a list from this number on, counted from the end. `None` as long as its length
    /// is not known.
    List(Option<i64>),
    Done,
}

/// The position and mode of the next page of a set that is read by rank, from its end.
#[derive(Clone, Debug, Default)]
struct RankPage {
    /// The last rank of this page, and the member that was first on the page read before it and must
    /// still have that rank; `None` for the first page, which is read from the end of the set.
    from: Option<(i64, WitnessMember)>,
    /// Whether this page is read with scores.
    scores: bool,
    tries: u8,
}

/// A member that was read, and its score. While it has that score, no member that is still to come
/// has passed it.
#[derive(Clone, Debug, PartialEq)]
struct WitnessMember {
    member: Vec<u8>,
    score: f64,
}

/// A member, and its score if it was read.
type ScoredMember = (Vec<u8>, Option<f64>);

/// The error for a key that is not a set of the expected type.
struct WrongType;

/// The number that the hash of a waiting job contains: the priority of the score.
pub(super) fn priority_bucket(score: f64) -> u64 {
    (score.ceil() + 0.0).to_bits()
}

/// The number that a hash contains for a time. Times in the same half millisecond are equal.
pub(super) fn time_bucket(score: f64) -> u64 {
    (score * 2048.0).floor() as i64 as u64
}

/// The number that a hash contains for a time that either the job or the index has in whole seconds.
pub(super) fn whole_second_bucket(score: f64) -> u64 {
    score.floor() as i64 as u64
}

impl Scanner<'_> {
    pub(super) fn indexed_set(&self, kind: ItemKind, name: &[u8]) -> IndexedSet {
        let key = match kind {
            ItemKind::Work => self.keys.queue_key(QueueKey::Work, name),
            ItemKind::Locks => self.keys.queue_key(QueueKey::Locks, name),
            ItemKind::Scheduled => self.keys.queue_key(QueueKey::Scheduled, name),
            ItemKind::Depends => self.keys.queue_key(QueueKey::Depends, name),
            ItemKind::Throttled => self.keys.queue_key(QueueKey::Throttled, name),
            ItemKind::Recur => self.keys.queue_key(QueueKey::Recur, name),
            ItemKind::Worker => self.keys.worker_key(name),
            ItemKind::Group => self.keys.group_key(name),
            ItemKind::Tag => self.keys.tag_key(name),
            ItemKind::Lane => self.keys.lane_key(name),
            ItemKind::Slots => self.keys.slots_key(name),
            ItemKind::Pending => self.keys.pending_key(name),
            ItemKind::Tracked => self.keys.with_prefix(keys::TRACKED).into_bytes(),
            ItemKind::FailedTimes => self.keys.with_prefix(keys::FAILED_TIMES).into_bytes(),
            ItemKind::CompletedIn => self.keys.completed_key(name),
            _ => self.keys.with_prefix(keys::COMPLETED).into_bytes(),
        };
        IndexedSet {
            kind,
            name: name.to_vec(),
            key,
            location: match kind {
                // The hash of this set leaves out the queue: a complete job has no field for the queue in which it
                // was completed.
                ItemKind::CompletedIn => self.salt.hash_location(kind as u8, b""),
                kind => self.salt.hash_location(kind as u8, name),
            },
            scored: matches!(
                kind,
                ItemKind::Locks | ItemKind::Worker | ItemKind::Recur | ItemKind::FailedTimes
            ),
            cursor: match kind {
                ItemKind::Group => SetCursor::List(None),
                _ => SetCursor::Ranks(RankPage::default()),
            },
            behind: None,
            count: 0,
            live: 0,
        }
    }

    /// Scans the first pages of several sets together, and their further pages one at a time. The server reads
    /// further pages while one is examined.
    pub(super) fn scan_sets(&mut self, sets: &mut [IndexedSet]) -> Result<(), Error> {
        for sets in sets.chunks_mut(self.pages_per_round_trip(SETS_PER_READ)) {
            self.scan_first_pages(sets)?;
            let long = |at: &usize| !matches!(sets[*at].cursor, SetCursor::Done);
            let mut open: VecDeque<usize> = (0..sets.len()).filter(long).collect();
            let mut sent = VecDeque::new();
            loop {
                while sent.len() < self.max_ahead.max(1)
                    && let Some(at) = open.pop_front()
                {
                    sent.push_back((at, self.send_page(&sets[at])));
                }
                let Some((at, reads)) = sent.pop_front() else {
                    break;
                };
                let replies = self.core.receive_reads(self.now, reads)?;
                let set = &mut sets[at];
                let read = set.member_count(&replies);
                let entries = set.take_page(replies, self.members_per_page(1) as i64);
                let more = !matches!(set.cursor, SetCursor::Done);
                if more && self.max_ahead > 0 {
                    sent.push_back((at, self.send_page(set)));
                }
                self.add_entries(set, entries)?;
                self.sink.note_members_read(self.core, read)?;
                if more && self.max_ahead == 0 {
                    open.push_front(at);
                }
            }
        }
        Ok(())
    }

    fn send_page(&mut self, set: &IndexedSet) -> ReadsAhead {
        let reads = set.next_reads(self.members_per_page(1) as i64);
        self.core.send_reads(self.now, reads)
    }

    fn scan_first_pages(&mut self, sets: &mut [IndexedSet]) -> Result<(), Error> {
        let page = self.members_per_page(sets.len()) as i64;
        let asks: Vec<Vec<ReadCommand>> = sets.iter().map(|set| set.next_reads(page)).collect();
        let counts: Vec<usize> = asks.iter().map(Vec::len).collect();
        let mut replies = self
            .run_reads(asks.into_iter().flatten().collect())?
            .into_iter();
        let mut read = 0;
        for (set, count) in sets.iter_mut().zip(counts) {
            let replies: Vec<ReadReply> = replies.by_ref().take(count).collect();
            read += set.member_count(&replies);
            let entries = set.take_page(replies, page);
            self.add_entries(set, entries)?;
        }
        self.sink.note_members_read(self.core, read)
    }

    /// Adds the entries of a page.
    fn add_entries(
        &mut self,
        set: &mut IndexedSet,
        entries: Result<Vec<ScoredMember>, WrongType>,
    ) -> Result<(), Error> {
        let Ok(entries) = entries else {
            let key = set.key.clone();
            return self.add_key_candidate(&key);
        };
        // The number of entries of the list behind the current one.
        let mut behind = set.behind.unwrap_or(entries.len() as u64);
        for (member, score) in entries {
            behind = behind.saturating_sub(1);
            self.add_index_entry(set, &member, score.unwrap_or(f64::NAN), behind)?;
        }
        Ok(())
    }
}

impl IndexedSet {
    pub(super) fn is_read_completely(&self) -> bool {
        matches!(self.cursor, SetCursor::Done)
    }

    /// The number of members in the replies, at least 1.
    fn member_count(&self, replies: &[ReadReply]) -> usize {
        let pairs = match &self.cursor {
            SetCursor::Ranks(page) => self.scored || page.scores,
            SetCursor::Scan(_) => true,
            _ => false,
        };
        let texts = match replies.first() {
            Some(ReadReply::Texts(items)) => items.len(),
            Some(ReadReply::Page(_, items)) => items.len(),
            _ => 1,
        };
        (if pairs { texts / 2 } else { texts }).max(1)
    }

    /// The next reads, for a page of `page_size` members.
    fn next_reads(&self, page_size: i64) -> Vec<ReadCommand> {
        let key = &self.key;
        let page = match &self.cursor {
            SetCursor::Ranks(page) => page,
            SetCursor::Find(witness, _) => {
                let higher = ReadCommand::count_above(key, witness.score);
                return vec![higher, ReadCommand::member_score(key, &witness.member)];
            }
            SetCursor::Scan(cursor) => {
                return vec![ReadCommand::scan_sorted_set(
                    key,
                    cursor,
                    page_size as usize,
                )];
            }
            SetCursor::List(None) => {
                return vec![
                    ReadCommand::list_range(key, 0, page_size - 1),
                    ReadCommand::list_length(key),
                ];
            }
            SetCursor::List(Some(from)) => {
                return vec![ReadCommand::list_range(
                    key,
                    -from,
                    (page_size - 1 - from).min(-1),
                )];
            }
            SetCursor::Done => return Vec::new(),
        };
        let (first, last) = page.rank_range(page_size);
        let scored = self.scored || page.scores;
        let mut asks = vec![if scored {
            ReadCommand::members_with_scores(key, first, last)
        } else {
            ReadCommand::members_from_highest(key, first, last)
        }];
        let work = self.kind == ItemKind::Work;
        match &page.from {
            None if scored => asks.push(ReadCommand::sorted_set_size(key)),
            None if work => {
                asks.push(ReadCommand::sorted_set_size(key));
                // An incomplete page begins at rank 0, so the member of that rank is read, too.
                let ends = [first, 0, last];
                asks.extend(ends.map(|at| ReadCommand::members_with_scores(key, at, at)));
            }
            Some((_, witness)) if !scored => {
                asks.push(ReadCommand::member_score(key, &witness.member));
                asks.push(ReadCommand::members_with_scores(key, first, first));
                if work {
                    asks.push(ReadCommand::members_with_scores(key, last, last));
                }
            }
            _ => {}
        }
        asks
    }

    /// Reads a page from its replies, and moves the cursor to the next one.
    fn take_page(
        &mut self,
        replies: Vec<ReadReply>,
        page_size: i64,
    ) -> Result<Vec<ScoredMember>, WrongType> {
        let mut replies = replies.into_iter();
        match (
            std::mem::replace(&mut self.cursor, SetCursor::Done),
            replies.next().ok_or(WrongType)?,
        ) {
            (SetCursor::Ranks(page), ReadReply::Texts(items)) => {
                Ok(self.take_rank_page(page, items, replies.collect(), page_size))
            }
            (SetCursor::Find(witness, tries), ReadReply::Number(higher)) => {
                let stays = replies.next().as_ref().and_then(score_in_reply) == Some(witness.score);
                self.cursor = if stays {
                    // Read the page with the witness in its middle, since other members may have the same score.
                    SetCursor::Ranks(RankPage {
                        from: Some((higher + page_size / 2, witness)),
                        scores: false,
                        tries,
                    })
                } else {
                    SetCursor::Scan(START.to_vec())
                };
                Ok(Vec::new())
            }
            (SetCursor::Scan(_), ReadReply::Page(next, items)) => {
                if let Some(next) = next {
                    self.cursor = SetCursor::Scan(next);
                }
                Ok(pair_with_scores(items))
            }
            (SetCursor::List(None), ReadReply::Texts(items)) if items.len() as i64 >= page_size => {
                // The list has more than one page: drop this page, and read pages counted from the end, whose
                // number is known now.
                let Some(ReadReply::Number(length)) = replies.next() else {
                    return Err(WrongType);
                };
                self.cursor = SetCursor::List(Some(length));
                Ok(Vec::new())
            }
            (SetCursor::List(from), ReadReply::Texts(items)) => {
                self.behind = from.and_then(|from| u64::try_from(from).ok());
                if let Some(from) = from.filter(|from| *from > page_size) {
                    self.cursor = SetCursor::List(Some(from - page_size));
                }
                let items = items.into_iter().flatten();
                Ok(items.map(|item| (item, None)).collect())
            }
            _ => Err(WrongType),
        }
    }

    /// Takes a page of ranks, if it has its witness.
    fn take_rank_page(
        &mut self,
        page: RankPage,
        items: Vec<Option<Vec<u8>>>,
        replies: Vec<ReadReply>,
        page_size: i64,
    ) -> Vec<ScoredMember> {
        let with_scores = self.scored || page.scores;
        let work = self.kind == ItemKind::Work;
        let items = items.into_iter().flatten();
        let mut entries: Vec<ScoredMember> = if with_scores {
            pair_with_scores(items.collect())
        } else {
            items.map(|item| (item, None)).collect()
        };
        let mut seen = None;
        if let Some((_, witness)) = &page.from {
            let at = |(member, _): &ScoredMember| *member == witness.member;
            seen = entries.iter().rposition(at);
            let score = if with_scores {
                seen.and_then(|at| entries[at].1)
            } else {
                replies.first().and_then(score_in_reply)
            };
            if seen.is_none() || score != Some(witness.score) {
                self.cursor = if page.tries < MAX_TRIES {
                    SetCursor::Find(witness.clone(), page.tries + 1)
                } else {
                    SetCursor::Scan(START.to_vec())
                };
                return Vec::new();
            }
        }
        let ends: Vec<(&Vec<u8>, f64)> = replies
            .iter()
            .filter_map(single_member_with_score)
            .collect();
        let score = |entry: Option<&ScoredMember>| {
            let (member, score) = entry?;
            let end = ends.iter().find(|(end, _)| *end == member);
            score.or(end.map(|(_, score)| *score))
        };
        let (first, last) = (score(entries.first()), score(entries.last()));
        // The rank of the page's first member.
        let rank = match (&page.from, replies.first()) {
            (Some((from, _)), _) => from + 1 - page_size,
            (None, Some(ReadReply::Number(all))) => all - page_size,
            (None, _) => i64::from(entries.len() as i64 >= page_size),
        };
        let more = rank > 0;
        // Members are in the order of their scores: if the first and the last have the same priority, so have all
        // others. If that, or the score of the next page's witness, is unknown, read this page again with scores.
        let alike = matches!((first, last), (Some(one), Some(other)) if priority_bucket(one) == priority_bucket(other));
        let unsure = work && !alike || more && first.is_none();
        if unsure && !with_scores && !entries.is_empty() {
            let scores = true;
            self.cursor = SetCursor::Ranks(RankPage { scores, ..page });
            return Vec::new();
        }
        if let (true, Some((member, _)), Some(score)) = (more, entries.first(), first) {
            let member = member.clone();
            self.cursor = SetCursor::Ranks(RankPage {
                from: Some((rank, WitnessMember { member, score })),
                ..RankPage::default()
            });
        }
        entries.truncate(seen.unwrap_or(entries.len()));
        if work && !with_scores {
            entries.iter_mut().for_each(|(_, score)| *score = first);
        }
        entries
    }
}

impl RankPage {
    /// The page's first and its last rank.
    fn rank_range(&self, page_size: i64) -> (i64, i64) {
        match self.from {
            Some((from, _)) => ((from + 1 - page_size).max(0), from),
            None => (-page_size, -1),
        }
    }
}

fn pair_with_scores(items: Vec<Vec<u8>>) -> Vec<ScoredMember> {
    let mut items = items.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(member), Some(score)) = (items.next(), items.next()) {
        pairs.push((member, validate::parse_score(&score)));
    }
    pairs
}

fn score_in_reply(reply: &ReadReply) -> Option<f64> {
    match reply {
        ReadReply::Text(score) => validate::parse_score(score.as_ref()?),
        _ => None,
    }
}

fn single_member_with_score(reply: &ReadReply) -> Option<(&Vec<u8>, f64)> {
    match reply {
        ReadReply::Texts(pair) => Some((
            pair.first()?.as_ref()?,
            validate::parse_score(pair.get(1)?.as_ref()?)?,
        )),
        _ => None,
    }
}
