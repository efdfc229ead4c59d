//! Where the jids of submitted jobs come from.

use crate::json::path::Path;

/// Where jids come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum JidSource {
    /// A new one for each job.
    #[default]
    Fresh,
    /// What the job is.
    Content,
    /// A place in the data, and how it was typed.
    Path(Path, String),
}
