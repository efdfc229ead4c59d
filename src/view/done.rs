//! Writes that answer nothing print nothing, or what they were done to.

use super::{Page, View};
use crate::model::done::Done;
use crate::name::Name;
use crate::text::clean;

impl View for Done {
    const KIND: &'static str = "done";

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
