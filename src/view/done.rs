//! Writes that answer nothing print nothing, or what they were done to.

use super::document::Document;
use super::{Page, View};
use crate::model::done::Done;
use crate::name::Name;
use crate::text::clean;

impl View for Done {
    const DOCUMENT: Document = Document::one(
        "done",
        "The result of a write without a reply: pause, log and the like",
        Done::FIELDS,
    );

    fn text(&self, _: &Page) -> String {
        match self.prints {
            true => self.targets.iter().map(|name| clean(name) + "\n").collect(),
            false => String::new(),
        }
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.targets.iter().collect())
    }
}
