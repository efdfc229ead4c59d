//! A set that stores hashes of names instead of the names.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::name::Name;

/// A set of names that stores 128 bits of keyed hash for each. Of ten million names, two collide with a probability of
/// one in 10^25. A million names take about 34 MiB, however long the names are.
#[derive(Debug, Default)]
pub(crate) struct HashedSet {
    hashes: HashSet<u128>,
    keys: [RandomState; 2],
}

impl HashedSet {
    /// Inserts the name. Returns whether it was new.
    pub(crate) fn insert(&mut self, name: &Name) -> bool {
        self.hashes.insert(self.hash(name))
    }

    pub(crate) fn contains(&self, name: &Name) -> bool {
        self.hashes.contains(&self.hash(name))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    fn hash(&self, name: &Name) -> u128 {
        let [one, other] = &self.keys;
        let half = |key: &RandomState| u128::from(key.hash_one(name));
        half(one) << 64 | half(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        let mut names = HashedSet::default();
        let name = Name::from("j");
        assert!(names.is_empty() && !names.contains(&name));
        assert!(names.insert(&name));
        assert!(!names.insert(&name));
        assert!(names.contains(&name) && !names.contains(&Name::from("k")));
    }
}
