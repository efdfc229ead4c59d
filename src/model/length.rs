//! The length of a queue.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// How many jobs a queue has, as the core counts them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueueLength {
    /// The queue
    pub queue: Name,
    /// Waiting, running, stalled and scheduled jobs, as the core counts them
    pub length: i64,
}

impl View for QueueLength {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<QueueLength>("length", "A queue's length: length");

    fn text(&self, _: &RenderOptions) -> String {
        format!("{}\n", self.length)
    }

    fn count_that_is_whole_text(&self) -> Option<i64> {
        Some(self.length)
    }
}
