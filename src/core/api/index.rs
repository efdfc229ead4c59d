//! Reads the core's indexes: the jids in a set or list, and the names of queues, workers, tags and groups.

use serde::Deserialize;
use strum::IntoStaticStr;

use crate::clock::moment::Moment;
use crate::core::call::{Call, Core, calls};
use crate::error::Error;
use crate::model::hashed_set::HashedSet;
use crate::model::tag::Tag;
use crate::name::Name;

/// Maximum number of members that one call returns.
pub(crate) const MAX_ENTRIES_PER_CALL: u64 = 10_000;

/// Minimum number of members that one read asks for, so that the ranges of two reads can overlap.
const MIN_MEMBERS_PER_READ: u64 = 100;

/// The number of calls in one round trip.
const CALLS_PER_ROUND: usize = 200;

/// A set or list of the core that can be read in ranges: jids or names, each kind in its own order. Its variants have the
/// names that the core takes.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Index {
    /// Waiting jobs of a queue, in the order of the next pops. Jobs whose lock was revoked come first.
    Waiting(Name),
    /// Running and stalled, by expiry.
    Locks(Name),
    /// By due time.
    Scheduled(Name),
    /// Blocked longest first.
    Depends(Name),
    /// Next to run first.
    Throttled(Name),
    /// Templates of a queue, by next run.
    Recurring(Name),
    /// Oldest failure first.
    Failed(Name),
    /// Jobs of a worker, by expiry.
    Worker(Name),
    /// Tagged longest first.
    Tag(Name),
    /// Next to run first.
    Lane(Name),
    /// Newest first.
    Complete,
    /// Tracked longest first.
    Tracked,
    Queues,
    Workers,
    /// By use.
    Tags,
    Groups,
    Paused,
    /// Paused templates, by jid.
    PausedRecurring,
}

impl Index {
    /// The queue that the index belongs to.
    pub(crate) fn queue_of_index(&self) -> Option<&Name> {
        match self {
            Index::Waiting(queue)
            | Index::Locks(queue)
            | Index::Scheduled(queue)
            | Index::Depends(queue)
            | Index::Throttled(queue)
            | Index::Recurring(queue) => Some(queue),
            _ => None,
        }
    }

    /// The kind and the name of the index, as the core takes them.
    fn script_args(&self) -> (&'static str, &[u8]) {
        let name = match self {
            Index::Waiting(name)
            | Index::Locks(name)
            | Index::Scheduled(name)
            | Index::Depends(name)
            | Index::Throttled(name)
            | Index::Recurring(name)
            | Index::Failed(name)
            | Index::Worker(name)
            | Index::Tag(name)
            | Index::Lane(name) => name.as_bytes(),
            _ => b"",
        };
        (self.into_str(), name)
    }
}

/// A part of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename = "row", default)]
pub struct IndexRange {
    /// The number of all members.
    pub total: u64,
    #[serde(rename = "..")]
    pub members: Vec<Name>,
}

impl Core {
    /// The number of jobs.
    pub fn count_jobs_of_all_states(&mut self, now: Moment) -> Result<u64, Error> {
        let queues = self.queues(now, &[])?;
        let queued: u64 = queues
            .iter()
            .map(|queue| {
                let not_running = queue.waiting + queue.scheduled + queue.depends + queue.throttled;
                not_running + queue.running + queue.stalled
            })
            .sum();
        let failed: u64 = self
            .failed_counts_by_group(now)?
            .iter()
            .map(|(_, jobs)| jobs)
            .sum();
        let complete = self.index_range(now, &Index::Complete, 0, 1)?.total;
        Ok(queued + failed + complete)
    }

    /// Up to `count` members from `offset` on.
    pub fn index_range(
        &mut self,
        now: Moment,
        index: &Index,
        offset: u64,
        count: u64,
    ) -> Result<IndexRange, Error> {
        let mut parts = self.index_ranges(now, &[(index.clone(), offset)], count)?;
        Ok(parts.pop().unwrap_or_default())
    }

    /// Up to `count` members of each index, beginning at the offset paired with the index.
    pub fn index_ranges(
        &mut self,
        now: Moment,
        offsets: &[(Index, u64)],
        count: u64,
    ) -> Result<Vec<IndexRange>, Error> {
        let count = count.min(MAX_ENTRIES_PER_CALL).to_string();
        let calls = offsets.iter().map(|(index, offset)| {
            let (kind, name) = index.script_args();
            let call = Call::new(calls::LOOK_INDEX).arg(kind).arg(name);
            call.arg(offset.to_string()).arg(&count)
        });
        self.call_in_rounds(now, calls, CALLS_PER_ROUND)
    }

    /// All members, read range by range.
    pub fn index_members(&mut self, now: Moment, index: &Index) -> Result<Vec<Name>, Error> {
        let mut reader = IndexReader::forward(index.clone(), MAX_ENTRIES_PER_CALL);
        let mut members = Vec::new();
        while let Some(mut slice) = reader.next_members(self, now)? {
            members.append(&mut slice);
        }
        Ok(members)
    }

    /// All tags, each with the number of jobs that have it, most used first.
    pub fn tags(&mut self, now: Moment) -> Result<Vec<Tag>, Error> {
        let names = self.index_members(now, &Index::Tags)?;
        let indexes: Vec<(Index, u64)> = names
            .iter()
            .map(|tag| (Index::Tag(tag.clone()), 0))
            .collect();
        let counts = names.into_iter().zip(self.index_ranges(now, &indexes, 0)?);
        let counts = counts.map(|(tag, part)| Tag {
            tag,
            jobs: part.total,
        });
        let mut tags: Vec<Tag> = counts.filter(|tag| tag.jobs > 0).collect();
        tags.sort_unstable_by(|one, other| {
            other
                .jobs
                .cmp(&one.jobs)
                .then_with(|| one.tag.cmp(&other.tag))
        });
        Ok(tags)
    }
}

/// Reads an index range by range.
///
/// Clients change the index meanwhile: when members leave at its front, the others move towards the front. So each
/// range overlaps the one before; a range that does not is read again, further towards the front. A member that stays
/// in the index is returned once.
#[derive(Debug)]
pub(crate) struct IndexReader {
    pub index: Index,
    size: u64,
    next: u64,
    /// Where the last range of a backward reader began. `None` for a forward one.
    back: Option<u64>,
    seen: HashedSet,
    /// The number of all members, as the last reply reports it.
    pub total: Option<u64>,
    done: bool,
}

impl IndexReader {
    /// Reads forward in ranges of up to `size` members.
    pub(crate) fn forward(index: Index, size: u64) -> IndexReader {
        let size = size.clamp(MIN_MEMBERS_PER_READ, MAX_ENTRIES_PER_CALL);
        IndexReader {
            index,
            size,
            next: 0,
            back: None,
            seen: HashedSet::default(),
            total: None,
            done: false,
        }
    }

    /// Reads from the end to the beginning, for an index that gets new members only at its end.
    pub(crate) fn backward(index: Index, size: u64) -> IndexReader {
        IndexReader {
            back: Some(u64::MAX),
            ..IndexReader::forward(index, size)
        }
    }

    /// The next members; `None` at the end.
    pub(crate) fn next_members(
        &mut self,
        core: &mut Core,
        now: Moment,
    ) -> Result<Option<Vec<Name>>, Error> {
        let index = self.index.clone();
        self.next_members_with(&mut |offset, count| core.index_range(now, &index, offset, count))
    }

    fn next_members_with(&mut self, read: RangeReadFn) -> Result<Option<Vec<Name>>, Error> {
        match self.back {
            _ if self.done => Ok(None),
            Some(end) => self.next_members_backward(read, end).map(Some),
            None => self.next_members_forward(read).map(Some),
        }
    }

    /// The next members of a forward reader, without the members that it has returned before.
    fn next_members_forward(&mut self, read: RangeReadFn) -> Result<Vec<Name>, Error> {
        let overlap = (self.size / 10).min(self.next);
        let mut offset = self.next - overlap;
        let mut part = loop {
            let part = read(offset, self.size)?;
            let seen = |member: &Name| self.seen.contains(member);
            if offset == 0 || part.members.first().is_some_and(seen) {
                break part;
            }
            offset = offset.saturating_sub(self.size);
        };
        self.total = Some(part.total);
        self.next = offset + part.members.len() as u64;
        self.done = self.next >= part.total || part.members.is_empty();
        if !(self.done && self.seen.is_empty()) {
            part.members.retain(|member| self.seen.insert(member));
        }
        Ok(part.members)
    }

    /// The members before position `end`, last first. When members leave, the others move towards the front, so no
    /// unread member gets behind `end`.
    fn next_members_backward(&mut self, read: RangeReadFn, end: u64) -> Result<Vec<Name>, Error> {
        let total = read(0, 0)?.total;
        let end = end.min(total);
        let offset = end.saturating_sub(self.size);
        let mut part = read(offset, end - offset)?;
        self.total = Some(total);
        self.back = Some(offset);
        self.done = offset == 0;
        part.members.reverse();
        part.members.retain(|member| self.seen.insert(member));
        Ok(part.members)
    }
}

/// A function that reads a range of the index. Its arguments are the offset of the first member and the number of
/// members.
type RangeReadFn<'a> = &'a mut dyn FnMut(u64, u64) -> Result<IndexRange, Error>;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn name(number: usize) -> Name {
        Name::from(format!("{number:05}"))
    }

    proptest! {
            /// Meanwhile members leave anywhere, and others join at both ends. Only failure lists are read
            /// backward, and no member joins at their front.
            #[test]
            fn a_member_that_stays_is_returned_once(
                size in 0usize..700,
                back in any::<bool>(),
                moves in proptest::collection::vec((0usize..60, 0usize..8, 0usize..8), 1..8),
            ) {
                let mut list: Vec<Name> = (0..size).map(name).collect();
                let mut stayed: HashSet<Name> = list.iter().cloned().collect();
                let mut reader = if back {
    IndexReader::backward(Index::Tracked, 1)
    } else {
    IndexReader::forward(Index::Tracked, 1)
    };
                let (mut returned, mut fresh, mut moves) = (Vec::new(), size, moves.into_iter().cycle().take(40));
                while let Some(slice) = reader.next_members_with(&mut |offset, count| {
                    let (from, count) = ((offset as usize).min(list.len()), count as usize);
                    let members = list[from..(from + count).min(list.len())].to_vec();
                    Ok(IndexRange { total: list.len() as u64, members })
                }).unwrap() {
                    returned.extend(slice);
                    let Some((leave, some, come)) = moves.next() else { continue };
                    for at in (0..leave.min(list.len())).rev() {
                        stayed.remove(&list.remove(if at % 3 == 0 { at * 7 % list.len() } else { 0 }));
                    }
                    for _ in 0..if back { 0 } else { some } {
                        list.insert(0, name(fresh));
                        fresh += 1;
                    }
                    for _ in 0..come {
                        list.push(name(fresh));
                        fresh += 1;
                    }
                }
                let once: HashSet<&Name> = returned.iter().collect();
                prop_assert_eq!(once.len(), returned.len());
                for member in &stayed {
                    prop_assert!(once.contains(member), "{:?} was missed", member);
                }
            }
        }
}
