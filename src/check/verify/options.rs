//! The options of a verification.

use super::finding_filter::FindingFilter;
use crate::name::Name;

#[derive(Clone, Debug)]
pub(crate) struct VerifyOptions {
    pub filter: FindingFilter,
    /// Maximum number of examples of each finding.
    pub max_examples: usize,
    /// Whether a repair follows: `--only` approves findings, and repairable items are queued.
    pub repair: bool,
    /// The queues that are scanned; all if empty.
    pub queues: Vec<Name>,
}

impl VerifyOptions {
    /// Whether only some queues are scanned.
    pub(super) fn scans_some_queues(&self) -> bool {
        !self.queues.is_empty()
    }
}
