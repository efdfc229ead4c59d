//! A job that was put: its jid and nothing else, so that scripts can keep it.

use super::document::Document;
use super::{Page, View};
use crate::model::put::Put;
use crate::name::Name;
use crate::text::clean;

impl View for Put {
    const DOCUMENT: Document = Document::one("put", "A job that was put: put", Put::FIELDS);

    fn text(&self, _: &Page) -> String {
        match self.dry_run {
            true => String::new(),
            false => format!("{}\n", clean(self.jid.as_bytes())),
        }
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}
