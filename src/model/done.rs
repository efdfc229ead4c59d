//! The result of a write without a reply.

use serde::Serialize;

use super::field::Field;
use crate::clock::moment::Moment;
use crate::name::Name;

/// A command and the things that it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Done {
    /// The command, such as `pause`.
    pub action: &'static str,
    /// The things that it changed.
    pub targets: Vec<Name>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The next runs of a recurring job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_runs: Vec<Moment>,
    /// Whether the targets are printed.
    #[serde(skip)]
    pub prints: bool,
}

impl Done {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::text("action", "the command"),
        Field::name("targets", "the things that it changed").list(),
        Field::bool("dry_run", "true if nothing was changed").optional(),
        Field::moment(
            "next_runs",
            "the next three runs: recur put, set and resume",
        )
        .list()
        .optional(),
    ];
}

impl Done {
    pub(crate) fn new(action: &'static str, targets: Vec<Name>, dry_run: bool) -> Done {
        Done {
            action,
            targets,
            dry_run,
            next_runs: Vec::new(),
            prints: false,
        }
    }

    /// Adds the next runs of a recurring job.
    pub(crate) fn with_next_runs(mut self, runs: &[Moment]) -> Done {
        self.next_runs = runs.to_vec();
        self
    }

    /// Prints the targets, unless nothing was changed.
    pub(crate) fn prints(mut self) -> Done {
        self.prints = !self.dry_run;
        self
    }
}
