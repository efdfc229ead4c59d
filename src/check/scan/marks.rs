//! The marks of a walk: 8 bytes for each entry of an index, until its job strikes it off.
//!
//! A mark is a salted hash of what it stands for. The table never takes more than 32 MiB. When it is
//! full it gives up the upper half of the hashes that it holds, and the walk begins again for those.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// At most so many slots, of 8 bytes.
const MOST: usize = 1 << 22;

/// So many at first.
const FEW: usize = 1 << 14;

/// The lowest bits of a slot.
const KIND: u64 = 3;

/// What a mark waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// An entry of an index, for its job.
    Entry = 1,
    /// The two sides of a pair, each for the other.
    Upper = 2,
    Lower = 3,
}

/// What became of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It was new, or what it was to meet is not there.
    Alone,
    /// It met what it stands for, and is gone.
    Paired,
    /// It was there already.
    Twice,
    /// It belongs to another part.
    Elsewhere,
}

/// Hashes names, otherwise in each run.
#[derive(Debug, Default)]
pub(super) struct Salt(RandomState);

impl Salt {
    /// Returns what stands for a place.
    pub(super) fn place(&self, kind: u8, name: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u8(kind);
        hasher.write(name);
        hasher.finish()
    }

    /// Returns what stands for a member of a place that has a number there.
    pub(super) fn entry(&self, place: u64, member: &[u8], number: u64) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write_u64(place);
        hasher.write_u64(number);
        hasher.write(member);
        hasher.finish()
    }
}

/// The table: open addressing, the next slot if one is taken.
#[derive(Debug)]
pub(super) struct Marks {
    slots: Vec<u64>,
    most: usize,
    /// How many marks there are of each side.
    counts: [usize; 4],
    /// The part: hashes from the first to the last of them.
    from: u64,
    to: u64,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::new(MOST)
    }
}

impl Marks {
    /// A table of at most so many slots, a power of two.
    pub(super) fn new(most: usize) -> Marks {
        Marks {
            slots: vec![0; most.min(FEW)],
            most,
            counts: [0; 4],
            from: 0,
            to: u64::MAX,
        }
    }

    /// Goes on to the next part. Returns whether there is one.
    pub(super) fn next_part(&mut self) -> bool {
        if self.to == u64::MAX {
            return false;
        }
        self.slots.fill(0);
        self.counts = [0; 4];
        self.from = self.to + 1;
        self.to = u64::MAX;
        true
    }

    /// Returns how many marks of a side are left.
    pub(super) fn left(&self, side: Side) -> usize {
        self.counts[side as usize]
    }

    /// Marks an entry of an index.
    pub(super) fn enter(&mut self, hash: u64) -> Met {
        if !self.holds(hash) {
            return Met::Elsewhere;
        }
        match self.find(hash, Side::Entry) {
            Ok(_) => Met::Twice,
            Err(at) => {
                self.insert(at, hash, Side::Entry);
                Met::Alone
            }
        }
    }

    /// Strikes an entry off, which has to be there.
    pub(super) fn strike(&mut self, hash: u64) -> Met {
        if !self.holds(hash) {
            return Met::Elsewhere;
        }
        match self.find(hash, Side::Entry) {
            Ok(at) => {
                self.remove(at);
                Met::Paired
            }
            Err(_) => Met::Alone,
        }
    }

    /// Marks one side of a pair; if the other is there, both are gone.
    pub(super) fn pair(&mut self, hash: u64, side: Side) -> Met {
        if !self.holds(hash) {
            return Met::Elsewhere;
        }
        let other = match side {
            Side::Lower => Side::Upper,
            _ => Side::Lower,
        };
        if let Ok(at) = self.find(hash, other) {
            self.remove(at);
            return Met::Paired;
        }
        match self.find(hash, side) {
            Ok(_) => Met::Twice,
            Err(at) => {
                self.insert(at, hash, side);
                Met::Alone
            }
        }
    }

    /// Whether a mark is left.
    pub(super) fn is_left(&self, hash: u64, side: Side) -> bool {
        self.holds(hash) && self.find(hash, side).is_ok()
    }

    fn holds(&self, hash: u64) -> bool {
        (self.from..=self.to).contains(&hash)
    }

    fn home(&self, slot: u64) -> usize {
        (slot >> 2) as usize & (self.slots.len() - 1)
    }

    /// Returns where a mark is, or where it would be.
    fn find(&self, hash: u64, side: Side) -> Result<usize, usize> {
        let wanted = hash & !KIND | side as u64;
        let mut at = self.home(wanted);
        loop {
            match self.slots[at] {
                0 => return Err(at),
                slot if slot == wanted => return Ok(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn insert(&mut self, at: usize, hash: u64, side: Side) {
        self.slots[at] = hash & !KIND | side as u64;
        self.counts[side as usize] += 1;
        if self.counts.iter().sum::<usize>() * 4 > self.slots.len() * 3 {
            match self.slots.len() < self.most {
                true => self.grow(),
                false => self.halve(),
            }
        }
    }

    /// Takes a mark out; those behind it move up.
    fn remove(&mut self, at: usize) {
        let mask = self.slots.len() - 1;
        self.counts[(self.slots[at] & KIND) as usize] -= 1;
        let (mut hole, mut next) = (at, at);
        loop {
            next = (next + 1) & mask;
            let slot = self.slots[next];
            if slot == 0 {
                break;
            }
            let home = self.home(slot);
            // It may move to the hole only if that is not before its home.
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(hole) & mask {
                self.slots[hole] = slot;
                hole = next;
            }
        }
        self.slots[hole] = 0;
    }

    /// Takes more room. The last step is the largest, so that old and new together stay small.
    fn grow(&mut self) {
        let len = match self.slots.len() * 4 {
            more if more * 2 > self.most => self.most,
            more => more,
        };
        let old = std::mem::replace(&mut self.slots, vec![0; len]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = self.home(slot);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Leaves the upper half of the part for later.
    fn halve(&mut self) {
        // No two marks of one slot lie in different parts.
        self.to = (self.from + (self.to - self.from) / 2) | KIND;
        let mut at = 0;
        while at < self.slots.len() {
            match self.slots[at] {
                slot if slot != 0 && slot & !KIND > self.to => self.remove(at),
                _ => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u64) -> u64 {
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ n
    }

    #[test]
    fn what_is_struck_is_gone_and_the_rest_is_left() {
        let mut marks = Marks::default();
        for n in 1..100_000 {
            assert_eq!(marks.enter(hash(n)), Met::Alone);
        }
        assert_eq!(marks.enter(hash(7)), Met::Twice);
        for n in (1..100_000).filter(|n| n % 1000 != 0) {
            assert_eq!(marks.strike(hash(n)), Met::Paired, "{n}");
        }
        assert_eq!(marks.strike(hash(1)), Met::Alone);
        assert_eq!(marks.left(Side::Entry), 99);
        for n in 1..100_000 {
            assert_eq!(marks.is_left(hash(n), Side::Entry), n % 1000 == 0, "{n}");
        }
        assert!(!marks.next_part());
    }

    #[test]
    fn pairs_cancel_out_from_either_side() {
        let mut marks = Marks::default();
        for n in 1..1000 {
            let (one, other) = match n % 2 {
                0 => (Side::Upper, Side::Lower),
                _ => (Side::Lower, Side::Upper),
            };
            assert_eq!(marks.pair(hash(n), one), Met::Alone);
            assert_eq!(marks.pair(hash(n), one), Met::Twice);
            if n % 10 != 0 {
                assert_eq!(marks.pair(hash(n), other), Met::Paired);
            }
        }
        assert_eq!(marks.left(Side::Upper), 99);
        assert_eq!(marks.left(Side::Lower), 0);
        assert!(marks.is_left(hash(10), Side::Upper));
        assert!(!marks.is_left(hash(10), Side::Entry));
    }

    #[test]
    fn a_full_table_takes_as_many_passes_as_it_needs() {
        let mut marks = Marks::new(1 << 10);
        let (mut struck, mut left, mut parts) = (0, 0, 0);
        loop {
            parts += 1;
            // Some are struck before the table is full, some after.
            for n in 1..10_000u64 {
                marks.enter(hash(n));
                if n % 3 == 0 {
                    struck += usize::from(marks.strike(hash(n - 1)) == Met::Paired);
                }
            }
            // What was given up half-way is no part of this.
            let held = |n: &u64| marks.is_left(hash(*n), Side::Entry);
            left += (1..10_000).filter(held).count();
            assert!(marks.slots.len() <= 1 << 10);
            if !marks.next_part() {
                break;
            }
        }
        assert!(parts > 5, "{parts}");
        assert_eq!(left, 9_999 - 3_333);
        assert!(struck >= 3_333, "{struck}");
    }

    #[test]
    fn each_run_has_its_own_salt() {
        let (one, other) = (Salt::default(), Salt::default());
        assert_ne!(one.place(1, b"q"), other.place(1, b"q"));
        assert_eq!(one.place(1, b"q"), one.place(1, b"q"));
        let place = one.place(1, b"q");
        assert_ne!(one.entry(place, b"a", 0), one.entry(place, b"a", 1));
        assert_ne!(one.entry(place, b"a", 0), one.entry(place, b"b", 0));
    }
}
