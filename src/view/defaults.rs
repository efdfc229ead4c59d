//! The defaults of a queue: their JSON on one line.

use super::document::Document;
use super::{Page, View};
use crate::model::defaults::QueueDefaults;

impl View for QueueDefaults {
    const DOCUMENT: Document = Document::one(
        "defaults",
        "The options for puts into a queue that do not give them: defaults",
        QueueDefaults::FIELDS,
    );

    fn text(&self, _: &Page) -> String {
        match &self.defaults {
            Some(defaults) => format!("{}\n", defaults.to_name()),
            None => String::new(),
        }
    }
}
