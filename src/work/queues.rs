//! The queues of a worker: names, globs, stored patterns, and names that are left out.

use super::machine::rotation::QueueOrder;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::queue::Queue;
use crate::model::queue_patterns::{PriorityBucket, QueueIdentifierPatterns, sort_by_priority};
use crate::model::work_queue::{PatternOrIdentifier, QueueSelector};
use crate::name::Name;

/// Maximum number of queues of one finish-and-pop call.
pub(super) const MAX_QUEUES: usize = 500;

/// The queues of a worker as given, in order.
#[derive(Clone, Debug)]
pub(super) struct QueueSelectors {
    pub queues: Vec<QueueSelector>,
    pub order: QueueOrder,
}

/// The queues that were found.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundQueues {
    /// The queues with their weights.
    pub queues: Vec<(Name, u32)>,
    /// The queues grouped by the stored priority patterns. `None` if the worker uses another order.
    pub buckets: Option<Vec<PriorityBucket>>,
    /// Identifiers for which no pattern is stored.
    pub missing: Vec<Name>,
    /// Whether the server's list of queues was read, to find the queues of globs and stored patterns.
    pub are_known: bool,
    /// The queues that the server does not list. All queues, if its list was not read.
    pub unlisted: Vec<Name>,
}

impl FoundQueues {
    pub(super) fn queue_names(&self) -> impl Iterator<Item = &Name> {
        self.queues.iter().map(|(queue, _)| queue)
    }
}

/// Reads the state and the counts of queues. A key of a wrong type is not an error.
pub(super) fn read_queues(
    core: &mut Core,
    now: Moment,
    names: &[Name],
) -> Result<Vec<Queue>, Error> {
    // Do not call without names: the core would return all queues.
    if names.is_empty() {
        return Ok(Vec::new());
    }
    core.queues_including_unreadable(now, names)
}

impl QueueSelectors {
    /// Whether the queues or their order may change while the worker runs.
    pub(super) fn may_queues_change(&self) -> bool {
        self.order == QueueOrder::Patterns
            || self.has_globs()
            || self.uses_stored_identifier_patterns()
    }

    fn has_globs(&self) -> bool {
        let mut included = self.queues.iter().filter(|queue| !queue.is_excluded);
        included.any(|queue| queue.as_plain_name().is_none())
    }

    fn uses_stored_identifier_patterns(&self) -> bool {
        let mut queues = self.queues.iter();
        queues.any(|queue| matches!(queue.names, PatternOrIdentifier::Stored(_)))
    }

    /// Finds the queues. The queues of a glob are sorted by name. Makes no call if there are no globs and no stored
    /// patterns.
    pub(super) fn find_queues(&self, core: &mut Core) -> Result<FoundQueues, Error> {
        let (mut known, mut identifiers) = (Vec::new(), QueueIdentifierPatterns::default());
        let are_known = self.has_globs() || self.uses_stored_identifier_patterns();
        if are_known {
            known = core.index_members(core.now(), &Index::Queues)?;
            known.sort_unstable();
        }
        let by_patterns = self.order == QueueOrder::Patterns;
        if by_patterns || self.uses_stored_identifier_patterns() {
            identifiers = core.queue_identifier_patterns(core.now())?;
        }
        let queues = identifiers.select_queues_with_weights(&self.queues, &known);
        let buckets = if by_patterns {
            let patterns = core.queue_priority_patterns(core.now())?;
            Some(sort_by_priority(&queues, &patterns, &identifiers))
        } else {
            None
        };
        let missing = identifiers.missing_identifiers(&self.queues);
        let is_listed = |queue: &Name| known.binary_search(queue).is_ok();
        let unlisted = queues.iter().map(|(queue, _)| queue);
        let unlisted = unlisted.filter(|queue| !is_listed(queue)).cloned();
        Ok(FoundQueues {
            are_known,
            unlisted: unlisted.collect(),
            missing: missing.into_iter().cloned().collect(),
            queues,
            buckets,
        })
    }
}
