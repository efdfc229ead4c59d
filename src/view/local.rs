//! The private server of `local:`, a line for each fact.

use super::detail::Detail;
use super::document::Document;
use super::{Page, View};
use crate::model::local::Status;

impl View for Status {
    const DOCUMENT: Document = Document::new::<Status>("local", "The private server: local");

    fn text(&self, page: &Page) -> String {
        let mut detail = Detail::new(page);
        detail.line("running", if self.running { "yes" } else { "no" });
        detail.maybe("pid", self.pid.map(|pid| pid.to_string()));
        detail.line("dir", &self.dir);
        detail.line("url", &self.url);
        detail.maybe("jobs", self.jobs.map(|jobs| page.count(jobs)));
        detail.line("bytes", page.count(self.bytes));
        detail.draw()
    }
}
