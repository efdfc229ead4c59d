//! The version, one line per part.

use super::{Page, View};
use crate::model::version::Version;

impl View for Version {
    const KIND: &'static str = "version";

    fn text(&self, _: &Page) -> String {
        format!("qless {}\ncore {}\n", self.version, self.core)
    }
}
