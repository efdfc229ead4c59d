//! The origin of the jids of submitted jobs.

use crate::json::path::JsonPath;

/// The origin of a jid that the line of the job does not give.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum JidOrigin {
    /// A new jid for each job.
    #[default]
    Fresh,
    /// A hash of the job's content.
    Content,
    /// A path in the data, and the text that was typed for it.
    Path(JsonPath, String),
}
