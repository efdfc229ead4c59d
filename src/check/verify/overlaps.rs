//! One damage may be met from several sides: which of them is told, and where it is mended.
//!
//! The set of a queue that is not listed, and the list of such a group, are met only by who walks
//! them: who asks for the job does not see them, takes it for lost or sees less of it. So a repair
//! leaves to the side that sees most what is met from others, too.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::model::verdict::{Location, Verdict, VerdictOutcome};
use crate::name::Name;

/// What stands for what: of the same item, the first tells all that the others would.
pub(crate) const STANDS: [(&str, &[&str]); 3] = [
    ("in-foreign-queue", &["in-no-set", "running-without-lock"]),
    ("failed-stray", &["failed-unlisted"]),
    ("recurring-foreign", &["recurring-unscheduled"]),
];

/// What changes more where more is seen of it.
const SIDED: [&str; 3] = ["job-stub", "in-two-sets", "in-foreign-queue"];

/// What waits while a lock lives.
const MOVES: [&str; 2] = ["in-two-sets", "in-foreign-queue"];

/// How many items are remembered: 10 MB. What is beyond waits for the next round.
const MANY: usize = 100_000;

/// What stands for a finding of this name.
pub(crate) fn stands_for(id: &str) -> Option<&'static str> {
    let stands = STANDS.iter().find(|(_, others)| others.contains(&id));
    stands.map(|(one, _)| *one)
}

/// What a finding of this name stands for.
pub(crate) fn stood_for(id: &str) -> &'static [&'static str] {
    let stands = STANDS.iter().find(|(one, _)| *one == id);
    stands.map_or(&[], |(_, others)| others)
}

/// What was met from several sides.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    hasher: RandomState,
    /// Findings that stand for others, by id and item.
    stand: HashSet<u64>,
    /// Of findings by id, item and detail, how much they change.
    changes: HashMap<u64, usize>,
    /// Of findings by id and item, in which place alone they are mended, if in any.
    only: HashMap<u64, Option<u64>>,
    /// Whether more stand for others than are remembered.
    more: bool,
}

impl Overlaps {
    /// Notes a finding that a repair may mend. Returns whether this side of it is to be told.
    pub(crate) fn meet(&mut self, place: &Location, verdict: &Verdict) -> bool {
        let id = verdict.id.as_str();
        let key = self.key(id, &verdict.item);
        if !stood_for(id).is_empty() {
            match self.stand.len() < MANY {
                true => _ = self.stand.insert(key),
                false => self.more = true,
            }
        }
        if !SIDED.contains(&id) || self.changes.len().max(self.only.len()) >= MANY {
            return false;
        }
        if verdict.outcome != VerdictOutcome::Found {
            if MOVES.contains(&id) {
                // A lock that lives, and that maybe only this side sees.
                self.only.insert(key, None);
            }
            return false;
        }
        let own = (id, &verdict.item, &verdict.detail);
        let own = self.hasher.hash_one(own);
        let count = verdict.changes.len();
        match self.changes.insert(own, count) {
            Some(before) if before < count && self.only.get(&key) != Some(&None) => {
                self.only.insert(key, Some(self.hasher.hash_one(place)));
                true
            }
            Some(before) => {
                self.changes.insert(own, before.max(count));
                false
            }
            None => false,
        }
    }

    /// Returns what is left out where an item is mended in a place, for it is mended elsewhere or
    /// not at all.
    pub(crate) fn left_out(&self, place: &Location, item: &Name) -> Vec<&'static str> {
        let mut out = Vec::new();
        for (one, others) in STANDS {
            if self.more || self.stand.contains(&self.key(one, item)) {
                out.extend(others);
            }
        }
        if self.only.is_empty() {
            return out;
        }
        for id in SIDED {
            let Some(only) = self.only.get(&self.key(id, item)) else {
                continue;
            };
            if only.is_none_or(|only| only != self.hasher.hash_one(place)) {
                out.push(id);
            }
            if only.is_none() {
                // It would wait beside the lock.
                out.push("depends-on-nothing");
            }
        }
        out
    }

    fn key(&self, id: &str, item: &Name) -> u64 {
        self.hasher.hash_one((id, item))
    }
}
