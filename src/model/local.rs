//! The private server of `local:`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::name::Name;
use crate::view::detail::DetailLines;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// The state of the private server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LocalStatus {
    /// Whether the server runs
    pub running: bool,
    /// The server's process
    pub pid: Option<u32>,
    /// The server's directory
    pub dir: Name,
    /// The server's address for other clients
    pub url: Name,
    /// Jobs that it holds
    pub jobs: Option<u64>,
    /// Size on disk
    pub bytes: u64,
}

impl View for LocalStatus {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<LocalStatus>("local", "The private server: local");

    fn text(&self, options: &RenderOptions) -> String {
        let mut detail = DetailLines::new(options);
        detail.add_line("running", if self.running { "yes" } else { "no" });
        detail.add_line_or_missing("pid", self.pid.map(|pid| pid.to_string()));
        detail.add_line("dir", &self.dir);
        detail.add_line("url", &self.url);
        detail.add_line_or_missing("jobs", self.jobs.map(|jobs| options.count(jobs)));
        detail.add_line("bytes", options.count(self.bytes));
        detail.into_text()
    }
}
