//! The length of a queue: one number.

use super::document::Document;
use super::{Page, View};
use crate::model::length::Length;

impl View for Length {
    const DOCUMENT: Document = Document::new::<Length>("length", "A queue's length: length");

    fn text(&self, _: &Page) -> String {
        format!("{}\n", self.length)
    }
}
