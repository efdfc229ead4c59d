//! How `put` makes jids.

use crate::json::path::JsonPath;

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
