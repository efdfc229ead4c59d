//! The result of a write without a reply: no text, or the things that it changed.

use super::document::Document;
use super::{Page, View};
use crate::model::done::Done;
use crate::name::Name;

impl View for Done {
    const DOCUMENT: Document = Document::new::<Done>(
        "done",
        "The result of a write without a reply: pause, log and the like",
    );

    fn text(&self, _: &Page) -> String {
        String::new()
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.targets.iter().collect())
    }

    fn text_is_jids(&self) -> bool {
        self.prints
    }
}
