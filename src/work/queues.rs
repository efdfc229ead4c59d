//! The queues of a worker: names, globs, stored patterns, and names that are left out.

use super::machine::rotation::QueueOrder;
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::queue::Queue;
use crate::model::queue_patterns::{IdentifierPatterns, PriorityBucket, sort_by_priority};
use crate::model::work_queue::{QueueSelector, SelectedNames};
use crate::name::Name;

/// Maximum number of queues of one finish-and-pop call.
pub(super) const MAX_QUEUES: usize = 500;

/// The queues of a worker as given, in order.
#[derive(Clone, Debug)]
pub(super) struct QueueList {
    pub queues: Vec<QueueSelector>,
    pub order: QueueOrder,
}

/// The queues that were found.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundQueues {
    /// The queues with their weights.
    pub queues: Vec<(Name, u32)>,
    /// The queues grouped by the stored priority patterns, if these order them.
    pub buckets: Option<Vec<PriorityBucket>>,
    /// Identifiers for which no pattern is stored.
    pub missing: Vec<Name>,
    /// Whether known queues may be among them.
    pub are_known: bool,
    /// The queues that the server does not list, or whose listing was not read.
    pub unlisted: Vec<Name>,
}

impl FoundQueues {
    pub(super) fn queue_names(&self) -> impl Iterator<Item = &Name> {
        self.queues.iter().map(|(queue, _)| queue)
    }
}

/// Reads queues. A queue with keys of a wrong type is no error.
pub(super) fn read_queues(
    core: &mut Core,
    now: Moment,
    names: &[Name],
) -> Result<Vec<Queue>, Error> {
    // Do not call without names: the core would return all queues.
    if names.is_empty() {
        return Ok(Vec::new());
    }
    core.queues_with_unreadable(now, names)
}

impl QueueList {
    /// Whether the queues or their order may change while the worker runs.
    pub(super) fn has_patterns(&self) -> bool {
        self.order == QueueOrder::Patterns || self.has_globs() || self.has_identifiers()
    }

    fn has_globs(&self) -> bool {
        let mut included = self.queues.iter().filter(|queue| !queue.is_excluded);
        included.any(|queue| queue.as_plain_name().is_none())
    }

    fn has_identifiers(&self) -> bool {
        let mut queues = self.queues.iter();
        queues.any(|queue| matches!(queue.names, SelectedNames::Stored(_)))
    }

    /// Finds the queues. The queues of a glob come in the order of their names. Without globs and stored
    /// patterns there is no call.
    pub(super) fn find_queues(&self, core: &mut Core) -> Result<FoundQueues, Error> {
        let (mut known, mut identifiers) = (Vec::new(), IdentifierPatterns::default());
        let are_known = self.has_globs() || self.has_identifiers();
        if are_known {
            known = core.index_members(core.now(), &Index::Queues)?;
            known.sort_unstable();
        }
        let by_patterns = self.order == QueueOrder::Patterns;
        if by_patterns || self.has_identifiers() {
            identifiers = core.identifier_patterns(core.now())?;
        }
        let queues = identifiers.select_queues(&self.queues, &known);
        let buckets = if by_patterns {
            let patterns = core.priority_patterns(core.now())?;
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
