//! The result of a write without a reply.

use serde::Serialize;

use super::field::Field;
use crate::name;
use crate::name::Name;

/// A command and the things that it changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Done {
    /// The command, such as `pause`.
    pub action: &'static str,
    /// The things that it changed.
    #[serde(flatten, serialize_with = "name::targets")]
    pub targets: Vec<Name>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
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
    ];
}

impl Done {
    pub(crate) fn new(action: &'static str, targets: Vec<Name>, dry_run: bool) -> Done {
        Done {
            action,
            targets,
            dry_run,
            prints: false,
        }
    }

    /// Prints the targets, unless nothing was changed.
    pub(crate) fn prints(mut self) -> Done {
        self.prints = !self.dry_run;
        self
    }
}
