//! A tag and how many jobs carry it.

use serde::Serialize;

use crate::name;
use crate::name::Name;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tag {
    #[serde(flatten, serialize_with = "name::tag")]
    pub tag: Name,
    pub jobs: u64,
}
