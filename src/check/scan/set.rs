//! Reads a set or a list page by page, while other clients change it.
//!
//! The scan reads a sorted set by ranks, of which the highest score has the first. It reads the pages from the last to
//! the first, so that no unread member moves past the scan when another client removes a member. A member that gets a
//! later time moves towards the first rank, so the scan reads it later or twice. A member that is added among the
//! unread ranks shifts the members behind it towards the pages already read. To notice this, each page must end with
//! the first member of the page read before it: the witness of the page. A failure list grows at its front, and the
//! scan counts its pages from the end, so they need no witness.

use std::collections::VecDeque;

use crate::core::api::read::{OutstandingReads, ReadCommand, ReadReply, START};
use crate::core::script::keys::{self, QueueKey};
use crate::error::Error;
use crate::model::verdict::ItemKind;

use super::{Scanner, validate};

/// Maximum number of sets read in one round trip: each may return a whole page.
pub(super) const SETS_PER_READ: usize = 40;

/// Maximum number of searches in a row for the witness of a page. After them, the scan reads the set by ZSCAN.
const MAX_TRIES: u8 = 3;

/// A set, a sorted set or a list.
#[derive(Clone, Debug)]
pub(super) struct ScannedSet {
    pub kind: ItemKind,
    pub name: Vec<u8>,
    pub key: Vec<u8>,
    /// The salted hash of kind and name.
    pub location: u64,
    /// Whether each entry is read with its score.
    pub scored: bool,
    cursor: SetCursor,
    /// In a list of several pages, the number of entries from the first entry of the page to the end of the list.
    behind: Option<u64>,
    pub count: u64,
    /// The number of entries whose score is a time in the future, if the scan reads the scores.
    pub live: u64,
}

/// The next read of a set.
#[derive(Clone, Debug)]
enum SetCursor {
    Ranks(RankPageToRead),
    /// A search for the rank of the witness. The number counts the searches for it so far.
    Find(LastReadMember, u8),
    /// A page by ZSCAN, which misses no member while other clients add and remove members, but costs ten times more.
    Scan(Vec<u8>),
    /// A page of a list. The number is the distance of its first entry from the end of the list. `None` until the
    /// length of the list is known.
    List(Option<i64>),
    Done,
}

/// The next page of a sorted set that the scan reads by rank, from the last rank to the first.
#[derive(Clone, Debug, Default)]
struct RankPageToRead {
    /// The last rank of this page, and the witness: the first member of the page read before, which this page must
    /// contain. `None` for the page at the end of the set, which is read first.
    from: Option<(i64, LastReadMember)>,
    /// Whether this page is read with scores.
    scores: bool,
    tries: u8,
}

/// A member that the scan has read, with its score. As long as the member has this score, all unread members are
/// still before it in the order of ranks.
#[derive(Clone, Debug, PartialEq)]
struct LastReadMember {
    member: Vec<u8>,
    score: f64,
}

/// A member, and its score if it was read.
pub(super) type ScoredMember = (Vec<u8>, Option<f64>);

/// The part of a waiting job's score that enters the hash of its entry: the priority.
pub(super) fn priority_bucket(score: f64) -> u64 {
    (score.ceil() + 0.0).to_bits()
}

/// The part of a time that enters the hash of an entry: times within one half millisecond count as equal.
pub(super) fn time_bucket(score: f64) -> u64 {
    (score * 2048.0).floor() as i64 as u64
}

/// The part of a time that enters the hash of an entry, if the job or the index has the time in whole seconds.
pub(super) fn whole_second_bucket(score: f64) -> u64 {
    score.floor() as i64 as u64
}

impl Scanner<'_> {
    /// The key of the index of this kind and name.
    pub(super) fn index_key(&self, kind: ItemKind, name: &[u8]) -> Vec<u8> {
        match kind {
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
            ItemKind::Slots => self.keys.throttle_slots_key(name),
            ItemKind::Pending => self.keys.throttle_pending_key(name),
            ItemKind::Tracked => self.keys.with_prefix(keys::TRACKED).into_bytes(),
            ItemKind::FailedTimes => self.keys.with_prefix(keys::FAILED_TIMES).into_bytes(),
            ItemKind::CompletedIn => self.keys.completed_key(name),
            _ => self.keys.with_prefix(keys::COMPLETED).into_bytes(),
        }
    }

    pub(super) fn new_scanned_set(&self, kind: ItemKind, name: &[u8]) -> ScannedSet {
        ScannedSet {
            kind,
            name: name.to_vec(),
            key: self.index_key(kind, name),
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
                _ => SetCursor::Ranks(RankPageToRead::default()),
            },
            behind: None,
            count: 0,
            live: 0,
        }
    }

    /// Scans the first pages of several sets in one round trip, and their further pages one by one. The server already
    /// reads the next page while this code examines one.
    pub(super) fn scan_sets(&mut self, sets: &mut [ScannedSet]) -> Result<(), Error> {
        for sets in sets.chunks_mut(self.pages_per_round_trip(SETS_PER_READ)) {
            self.scan_first_pages(sets)?;
            let long = |at: &usize| !matches!(sets[*at].cursor, SetCursor::Done);
            let mut open: VecDeque<usize> = (0..sets.len()).filter(long).collect();
            let mut sent = VecDeque::new();
            loop {
                while sent.len() < self.max_ahead.max(1)
                    && let Some(at) = open.pop_front()
                {
                    sent.push_back((at, self.send_next_page_read(&sets[at])));
                }
                let Some((at, reads)) = sent.pop_front() else {
                    break;
                };
                let replies = self.core.receive_reads(self.now, reads)?;
                let set = &mut sets[at];
                let read = set.count_members_in_replies(&replies);
                let entries = set.take_page(replies, self.members_per_page(1) as i64);
                let more = !matches!(set.cursor, SetCursor::Done);
                if more && self.max_ahead > 0 {
                    sent.push_back((at, self.send_next_page_read(set)));
                }
                self.add_page_entries(set, entries)?;
                self.sink.pace_members_read(self.core, read)?;
                if more && self.max_ahead == 0 {
                    open.push_front(at);
                }
            }
        }
        Ok(())
    }

    fn send_next_page_read(&mut self, set: &ScannedSet) -> OutstandingReads {
        let reads = set.next_reads(self.members_per_page(1) as i64);
        self.core.send_reads(self.now, reads)
    }

    fn scan_first_pages(&mut self, sets: &mut [ScannedSet]) -> Result<(), Error> {
        let page = self.members_per_page(sets.len()) as i64;
        let asks: Vec<Vec<ReadCommand>> = sets.iter().map(|set| set.next_reads(page)).collect();
        let counts: Vec<usize> = asks.iter().map(Vec::len).collect();
        let mut replies = self
            .run_reads(asks.into_iter().flatten().collect())?
            .into_iter();
        let mut read = 0;
        for (set, count) in sets.iter_mut().zip(counts) {
            let replies: Vec<ReadReply> = replies.by_ref().take(count).collect();
            read += set.count_members_in_replies(&replies);
            let entries = set.take_page(replies, page);
            self.add_page_entries(set, entries)?;
        }
        self.sink.pace_members_read(self.core, read)
    }

    /// Adds the entries of a page. Without entries, the key is of another type.
    fn add_page_entries(
        &mut self,
        set: &mut ScannedSet,
        entries: Option<Vec<ScoredMember>>,
    ) -> Result<(), Error> {
        let Some(entries) = entries else {
            let key = set.key.clone();
            return self.add_key_and_its_job_in_first_pass(&key);
        };
        // The number of entries of the list behind the current one.
        let mut behind = set.behind.unwrap_or(entries.len() as u64);
        for (member, score) in entries {
            behind = behind.saturating_sub(1);
            self.add_unmatched_or_candidate_entry(set, &member, score.unwrap_or(f64::NAN), behind)?;
        }
        Ok(())
    }
}

impl ScannedSet {
    pub(super) fn is_read_completely(&self) -> bool {
        matches!(self.cursor, SetCursor::Done)
    }

    /// The number of members in the replies, at least 1.
    fn count_members_in_replies(&self, replies: &[ReadReply]) -> usize {
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

    /// The reads for the next page of `page_size` members, or for the search for its witness.
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
            ReadCommand::members_and_scores_from_highest(key, first, last)
        } else {
            ReadCommand::members_from_highest(key, first, last)
        }];
        let work = self.kind == ItemKind::Work;
        match &page.from {
            None if scored => asks.push(ReadCommand::sorted_set_size(key)),
            None if work => {
                asks.push(ReadCommand::sorted_set_size(key));
                // If the set has less than one page, the page begins at rank 0: also read the score of that member.
                let ends = [first, 0, last];
                asks.extend(
                    ends.map(|at| ReadCommand::members_and_scores_from_highest(key, at, at)),
                );
            }
            Some((_, witness)) if !scored => {
                asks.push(ReadCommand::member_score(key, &witness.member));
                asks.push(ReadCommand::members_and_scores_from_highest(
                    key, first, first,
                ));
                if work {
                    asks.push(ReadCommand::members_and_scores_from_highest(
                        key, last, last,
                    ));
                }
            }
            _ => {}
        }
        asks
    }

    /// Takes the entries of a page from its replies, and moves the cursor to the next page. `None` if the key is not a set
    /// of the expected type.
    fn take_page(&mut self, replies: Vec<ReadReply>, page_size: i64) -> Option<Vec<ScoredMember>> {
        let mut replies = replies.into_iter();
        match (
            std::mem::replace(&mut self.cursor, SetCursor::Done),
            replies.next()?,
        ) {
            (SetCursor::Ranks(page), ReadReply::Texts(items)) => {
                Some(self.take_rank_page_if_witnessed(page, items, replies.collect(), page_size))
            }
            (SetCursor::Find(witness, tries), ReadReply::Number(higher)) => {
                let stays = replies.next().as_ref().and_then(score_in_reply) == Some(witness.score);
                self.cursor = if stays {
                    // Read the page with the witness in its middle, since other members may have the same score.
                    SetCursor::Ranks(RankPageToRead {
                        from: Some((higher + page_size / 2, witness)),
                        scores: false,
                        tries,
                    })
                } else {
                    SetCursor::Scan(START.to_vec())
                };
                Some(Vec::new())
            }
            (SetCursor::Scan(_), ReadReply::Page(next, items)) => {
                if let Some(next) = next {
                    self.cursor = SetCursor::Scan(next);
                }
                Some(pair_with_scores(items))
            }
            (SetCursor::List(None), ReadReply::Texts(items)) if items.len() as i64 >= page_size => {
                // The list has more than one page. Drop this page, and read pages counted from the end of the list,
                // whose length is known now.
                let Some(ReadReply::Number(length)) = replies.next() else {
                    return None;
                };
                self.cursor = SetCursor::List(Some(length));
                Some(Vec::new())
            }
            (SetCursor::List(from), ReadReply::Texts(items)) => {
                self.behind = from.and_then(|from| u64::try_from(from).ok());
                if let Some(from) = from.filter(|from| *from > page_size) {
                    self.cursor = SetCursor::List(Some(from - page_size));
                }
                let items = items.into_iter().flatten();
                Some(items.map(|item| (item, None)).collect())
            }
            _ => None,
        }
    }

    /// Takes the entries of a page of ranks. If the page lacks its witness, takes none and starts a search for it.
    fn take_rank_page_if_witnessed(
        &mut self,
        page: RankPageToRead,
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
        // Members are in the order of their scores: if the first and the last have one priority, all members have it.
        // If they differ, or if the score of the next page's witness is unknown, read this page again with scores.
        let alike = matches!((first, last), (Some(one), Some(other)) if priority_bucket(one) == priority_bucket(other));
        let unsure = work && !alike || more && first.is_none();
        if unsure && !with_scores && !entries.is_empty() {
            let scores = true;
            self.cursor = SetCursor::Ranks(RankPageToRead { scores, ..page });
            return Vec::new();
        }
        if let (true, Some((member, _)), Some(score)) = (more, entries.first(), first) {
            let member = member.clone();
            self.cursor = SetCursor::Ranks(RankPageToRead {
                from: Some((rank, LastReadMember { member, score })),
                ..RankPageToRead::default()
            });
        }
        entries.truncate(seen.unwrap_or(entries.len()));
        if work && !with_scores {
            entries.iter_mut().for_each(|(_, score)| *score = first);
        }
        entries
    }
}

impl RankPageToRead {
    /// The page's first and its last rank.
    fn rank_range(&self, page_size: i64) -> (i64, i64) {
        match self.from {
            Some((from, _)) => ((from + 1 - page_size).max(0), from),
            None => (-page_size, -1),
        }
    }
}

pub(super) fn pair_with_scores(items: Vec<Vec<u8>>) -> Vec<ScoredMember> {
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
