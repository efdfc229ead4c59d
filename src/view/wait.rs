//! Jobs that were waited for: a line each when its wait ends.

use super::document::Document;
use super::{Lines, Page, View};
use crate::model::job::State;
use crate::model::wait::{Wait, WaitItem};
use crate::name::Name;
use crate::text;

impl View for Wait {
    const DOCUMENT: Document = Document::new::<Wait>("wait", "Jobs that were waited for: wait");

    fn text(&self, page: &Page) -> String {
        self.items.iter().map(|item| item.line(page)).collect()
    }

    fn lines(&self, lines: &mut Lines) -> Result<(), serde_json::Error> {
        lines.items(&self.items)
    }

    fn jids(&self) -> Option<Vec<&Name>> {
        Some(self.items.iter().map(|item| &item.jid).collect())
    }
}

impl WaitItem {
    /// Returns the line of a job whose wait has ended.
    pub(crate) fn line(&self, page: &Page) -> String {
        let gap = if page.terminal { "  " } else { "\t" };
        let elapsed = self.elapsed_s.map_or(0.0, |elapsed| elapsed.0);
        let elapsed = text::duration(elapsed);
        let jid = page.name(&self.jid);
        format!("{jid}{gap}{}{gap}{elapsed}\n", self.result.word())
    }
}

/// Returns a line about a job that is still waited for.
pub(crate) fn pending(jid: &Name, state: Option<State>, elapsed: f64) -> String {
    let state = state.map_or("gone", State::word);
    format!("{jid}  {state}  {}", text::duration(elapsed))
}
