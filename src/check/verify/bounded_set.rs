//! A set of hashes with bounded memory.

use std::collections::HashSet;

/// Maximum number of hashes remembered.
pub(crate) const MAX_HASHES: usize = 100_000;

/// A set of hashes that counts as containing every hash, once more than [`MAX_HASHES`] were added.
#[derive(Debug, Default)]
pub(crate) struct SaturatingHashSet {
    hashes: HashSet<u64>,
    overflowed: bool,
}

impl SaturatingHashSet {
    pub(crate) fn insert(&mut self, hash: u64) {
        if self.hashes.len() < MAX_HASHES {
            _ = self.hashes.insert(hash)
        } else {
            self.overflowed = true
        }
    }

    /// From now on, the set counts as containing every hash.
    pub(crate) fn insert_every_hash(&mut self) {
        self.overflowed = true;
    }

    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        self.overflowed || self.hashes.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_set_may_contain_everything() {
        let mut set = SaturatingHashSet::default();
        set.insert(7);
        assert!(set.may_contain(7) && !set.may_contain(8));
        (0..=MAX_HASHES as u64).for_each(|hash| set.insert(hash));
        assert!(set.may_contain(u64::MAX));
    }
}
