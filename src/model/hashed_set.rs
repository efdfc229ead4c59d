//! Names that were met before, without keeping them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::name::Name;

/// A set of names, each known by 128 bits of keyed hash: of ten million, two look alike by a
/// chance of one in 10^25. So a million of them take 32 MiB, however long they are.
#[derive(Debug, Default)]
pub(crate) struct HashedSet {
    hashes: HashSet<u128>,
    keys: [RandomState; 2],
}

impl HashedSet {
    /// Returns whether this name was not met before, and meets it.
    pub(crate) fn first(&mut self, name: &Name) -> bool {
        self.hashes.insert(self.hash(name))
    }

    pub(crate) fn knows(&self, name: &Name) -> bool {
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
    fn a_name_is_met_once() {
        let mut met = HashedSet::default();
        let name = Name::from("j");
        assert!(met.is_empty() && !met.knows(&name));
        assert!(met.first(&name));
        assert!(!met.first(&name));
        assert!(met.knows(&name) && !met.knows(&Name::from("k")));
    }
}
