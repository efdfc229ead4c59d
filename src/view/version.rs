//! The versions of the binary and its core, a line for each.

use super::document::Document;
use super::{Page, View};
use crate::model::version::Version;

impl View for Version {
    const DOCUMENT: Document =
        Document::new::<Version>("version", "The binary and its core: version");

    fn text(&self, _: &Page) -> String {
        let commit = self.commit.map(|commit| format!("commit {commit}\n"));
        let commit = commit.unwrap_or_default();
        format!("qless {}\n{commit}core {}\n", self.version, self.core)
    }
}
