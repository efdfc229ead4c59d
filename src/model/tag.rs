//! Tags and how many jobs have each.

use serde::Serialize;

use super::field::Field;
use crate::name::Name;

/// A tag and how many jobs have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tag {
    pub tag: Name,
    pub jobs: u64,
}

impl Tag {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("tag", "the tag"),
        Field::count("jobs", "how many jobs have it"),
    ];
}
