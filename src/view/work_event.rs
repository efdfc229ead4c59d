//! What happens to the jobs of `qless work`: a line each.

use super::document::Document;
use super::{Page, View};
use crate::model::work_event::{WorkEvent, WorkEventKind};
use crate::text::{Harmless, duration, measure};

impl View for WorkEvent {
    const DOCUMENT: Document = Document::new::<WorkEvent>(
        "work-event",
        "What happened to a job, as lines of ndjson: work",
    );

    fn text(&self, _: &Page) -> String {
        self.line()
    }
}

impl WorkEvent {
    /// Returns the line for people.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("{:<9} {}", self.event.word(), self.jid);
        if let Some(queue) = &self.queue {
            line.push_str(&format!(" of {queue}"));
        }
        match (self.event, self.elapsed_s) {
            (WorkEventKind::Started, _) => {
                line.push_str(&format!(": {}", self.klass));
                if self.attempt > 1 {
                    line.push_str(&format!(", attempt {}", self.attempt));
                }
            }
            (_, Some(elapsed)) => {
                let elapsed = if elapsed.0 < 1.0 {
                    measure(elapsed.0)
                } else {
                    duration(elapsed.0)
                };
                line.push_str(&format!(" after {elapsed}"));
            }
            _ => {}
        }
        if let Some(message) = &self.message {
            line.push_str(&format!(": {}", Harmless(message)));
        }
        line.push('\n');
        line
    }
}
