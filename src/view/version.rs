//! The version, one line per part.

use super::{Page, View};
use crate::model::version::Version;

impl View for Version {
    const KIND: &'static str = "version";

    fn text(&self, _: &Page) -> String {
        let commit = self.commit.map(|commit| format!("commit {commit}\n"));
        let commit = commit.unwrap_or_default();
        format!("qless {}\n{commit}core {}\n", self.version, self.core)
    }
}
