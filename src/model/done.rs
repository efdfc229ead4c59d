//! The result of a write without a reply.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::moment::Moment;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// A command and the things that it changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct CommandResult {
    /// The command
    pub action: &'static str,
    /// The things that the command changed
    pub targets: Vec<Name>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The next three runs: recur put, set and resume
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_runs: Vec<Moment>,
    /// Whether the targets are printed.
    #[serde(skip)]
    pub prints_targets: bool,
}

impl CommandResult {
    pub(crate) fn new(action: &'static str, targets: Vec<Name>, dry_run: bool) -> CommandResult {
        CommandResult {
            action,
            targets,
            dry_run,
            next_runs: Vec::new(),
            prints_targets: false,
        }
    }

    /// Adds the next runs of a recurring job.
    pub(crate) fn with_next_runs(mut self, runs: &[Moment]) -> CommandResult {
        self.next_runs = runs.to_vec();
        self
    }

    /// Prints the targets, except in a dry run.
    pub(crate) fn printing_targets(mut self) -> CommandResult {
        self.prints_targets = !self.dry_run;
        self
    }
}

impl View for CommandResult {
    const DOCUMENT: DocumentKind = DocumentKind::new::<CommandResult>(
        "done",
        "The result of a write without a reply: pause, log and the like",
    );

    fn text(&self, _: &RenderOptions) -> String {
        String::new()
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(self.targets.iter().collect())
    }

    fn text_is_jids(&self) -> bool {
        self.prints_targets
    }
}
