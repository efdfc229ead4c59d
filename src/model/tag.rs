//! Tags and how many jobs have each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;

/// A tag and how many jobs have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Tag {
    /// The tag
    pub tag: Name,
    /// How many jobs have it
    pub jobs: u64,
}
