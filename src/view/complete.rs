//! The output of `complete` and `heartbeat`: a job's new state, a lock's new expiry.

use super::document::Document;
use super::{Page, View};
use crate::model::complete::{Complete, Lock};
use crate::name::Name;

impl View for Complete {
    const DOCUMENT: Document =
        Document::new::<Complete>("complete", "A job that was completed or advanced: complete");

    fn text(&self, _: &Page) -> String {
        format!("{}\n", self.state)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}

impl View for Lock {
    const DOCUMENT: Document = Document::new::<Lock>("lock", "A lock that was extended: heartbeat");

    fn text(&self, _: &Page) -> String {
        let expires = self.expires.rfc3339();
        format!("{}\n", expires.unwrap_or_else(|| self.expires.to_string()))
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }
}
