//! How `put` makes jids, and its result.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::path::JsonPath;
use crate::name::Name;
use crate::view::document::DocumentKind;
use crate::view::{RenderOptions, View};

/// How `put` makes the jid of a job whose input line gives none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum JidDerivation {
    /// A new jid for each job.
    #[default]
    Fresh,
    /// A hash of the job's content.
    Content,
    /// The text at a path in the data. The second field is the path as the user typed it.
    Path(JsonPath, String),
}

/// A job that was put, or that existed already.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Put {
    /// The job's id
    pub jid: Name,
    /// The job's queue
    pub queue: Option<Name>,
    /// The job's state now; a throttle without a free slot may hold it later
    pub state: Option<Name>,
    /// False if the job existed and was not changed
    pub created: bool,
    /// False if the job existed, or the put was a duplicate of another job: `--merge`, `--unique`, `--dup`
    pub new: bool,
    /// The job before it in its lane
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_behind: Option<Name>,
    /// True if nothing was changed
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl View for Put {
    const DOCUMENT: DocumentKind = DocumentKind::new::<Put>("put", "A job that was put: put");

    fn text(&self, _: &RenderOptions) -> String {
        String::new()
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(vec![&self.jid])
    }

    fn text_is_jids(&self) -> bool {
        !self.dry_run
    }
}
