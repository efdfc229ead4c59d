//! How `put` makes jids.

use crate::json::path::JsonPath;

/// How `put` makes the jid of a job whose line of input has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum JidDerivation {
    /// A new jid for each job.
    #[default]
    Fresh,
    /// A hash of the job's content.
    Content,
    /// A path in the data, and the text that was given for the path.
    Path(JsonPath, String),
}
