//! What the calls of a worker print: the new state of a job, the new end of a lock.

use super::document::Document;
use super::{Page, View};
use crate::model::complete::{Complete, Lock};
use crate::name::Name;
use crate::text::clean;

impl View for Complete {
    const DOCUMENT: Document = Document::one(
        "complete",
        "A job that was completed or advanced: complete",
        Complete::FIELDS,
    );

    fn text(&self, _: &Page) -> String {
        format!("{}\n", clean(self.state.as_bytes()))
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}

impl View for Lock {
    const DOCUMENT: Document =
        Document::one("lock", "A lock that was extended: heartbeat", Lock::FIELDS);

    fn text(&self, _: &Page) -> String {
        let end = self.expires.rfc3339();
        format!("{}\n", end.unwrap_or_else(|| self.expires.to_string()))
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}
