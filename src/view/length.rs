//! A queue's length: one number.

use super::{Page, View};
use crate::model::length::Length;

impl View for Length {
    const KIND: &'static str = "length";

    fn text(&self, _: &Page) -> String {
        format!("{}\n", self.length)
    }
}
