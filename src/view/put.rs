//! A job that was put: only its jid, so that scripts can store it.

use super::document::Document;
use super::{Page, View};
use crate::model::put::Put;
use crate::name::Name;

impl View for Put {
    const DOCUMENT: Document = Document::new::<Put>("put", "A job that was put: put");

    fn text(&self, _: &Page) -> String {
        String::new()
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }

    fn text_is_jids(&self) -> bool {
        !self.dry_run
    }
}
