//! The result of `put`.

use serde::Serialize;

use super::field::Field;
use crate::name::Name;

/// A job that was put, or that existed already.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Put {
    pub jid: Name,
    pub queue: Option<Name>,
    pub state: Option<Name>,
    /// False for a job that existed and was not changed.
    pub created: bool,
    /// Whether the put made a job. False if it went into a job that waits, was left out for one, or if
    /// the job existed.
    pub new: bool,
    /// The job before it in its lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_behind: Option<Name>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Put {
    /// The fields of its document.
    pub(crate) const FIELDS: &'static [Field] = &[
        Field::name("jid", "the job's id"),
        Field::name("queue", "its queue").null(),
        Field::name(
            "state",
            "its state now; a throttle without a free slot may hold it later",
        )
        .null(),
        Field::bool("created", "false if the job existed and was not changed"),
        Field::bool(
            "new",
            "false if the job existed, or another one took the put: `--merge`, `--unique`, `--dup`",
        ),
        Field::name("queued_behind", "the job before it in its lane").optional(),
        Field::bool("dry_run", "true if nothing was changed").optional(),
    ];
}
