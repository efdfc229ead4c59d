//! The options of a verification.

use super::finding_filter::FindingFilter;
use crate::name::Name;

#[derive(Clone, Debug)]
pub(crate) struct VerifyOptions {
    pub filter: FindingFilter,
    /// Maximum number of examples of each finding.
    pub max_examples: usize,
    /// Whether a repair follows. Then `--only` approves repairs, and the scan queues repairable items.
    pub repair: bool,
    /// The queues that `--queue` selects. Empty if it selects none, so that all are checked.
    pub queues: Vec<Name>,
}

impl VerifyOptions {
    /// Whether only some queues are scanned.
    pub(super) fn scans_only_some_queues(&self) -> bool {
        !self.queues.is_empty()
    }
}
