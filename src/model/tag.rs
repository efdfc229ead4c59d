//! Tags and how many jobs have each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::Column;

/// A tag and how many jobs have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Tag {
    /// The tag
    pub tag: Name,
    /// How many jobs have it
    pub jobs: u64,
}

impl Row for Tag {
    const LIST: DocumentKind = DocumentKind::of_list::<Tag>("tags", "Tags: tag");

    const COLUMNS: &'static [Column<Tag>] = &[
        Column::of_names("TAG", |tag| &tag.tag),
        Column::of_counts("JOBS", |tag| tag.jobs),
    ];
}
