//! Tags: a row for each.

use super::document::Document;
use super::list::Row;
use super::table::Column;
use crate::model::tag::Tag;

impl Row for Tag {
    const LIST: Document = Document::list::<Tag>("tags", "Tags: tag");

    const COLUMNS: &'static [Column<Tag>] = &[
        Column::name("TAG", |tag| &tag.tag),
        Column::count("JOBS", |tag| tag.jobs),
    ];
}
