//! The queues of a worker: names, globs, stored patterns, and names that are left out; and the order in which a call
//! pops from them, if it depends on lags or patterns that the server has.

use std::collections::HashSet;

use super::machine::rotation::{QueueOrder, QueueRotation};
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::popped_job::PoppedJob;
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

/// The order in which a call pops from the queues.
#[derive(Debug)]
pub(super) enum PopOrder {
    /// As the machine asks.
    AsAsked,
    /// The largest lag first.
    ByLag,
    /// Bucket by bucket, as the stored priority patterns group the queues. The queues of a fair bucket take turns, by
    /// its [`QueueRotation`].
    ByPatterns(Vec<(PriorityBucket, Option<QueueRotation>)>),
}

impl PopOrder {
    pub(super) fn new(order: QueueOrder, found: &FoundQueues) -> PopOrder {
        let mut pop_order = match order {
            QueueOrder::Ordered | QueueOrder::RoundRobin => PopOrder::AsAsked,
            QueueOrder::Lag => PopOrder::ByLag,
            QueueOrder::Patterns => PopOrder::ByPatterns(Vec::new()),
        };
        pop_order.set_queues(found);
        pop_order
    }

    /// Replaces the queues. The rotation of each fair bucket goes on with the queue that was next.
    pub(super) fn set_queues(&mut self, found: &FoundQueues) {
        let (PopOrder::ByPatterns(buckets), Some(new)) = (self, &found.buckets) else {
            return;
        };
        let mut old = std::mem::take(buckets).into_iter();
        for bucket in new {
            let kept = old.next().and_then(|(_, rotation)| rotation);
            let rotation = bucket.is_fair.then(|| match kept {
                Some(mut rotation) => {
                    rotation.set_queues_if_changed(bucket.queues.clone());
                    rotation
                }
                None => QueueRotation::new(QueueOrder::RoundRobin, bucket.queues.clone()),
            });
            buckets.push((bucket.clone(), rotation));
        }
    }

    /// Puts the queues of a call into their order. If the lags cannot be read, the queues stay as they are: the call
    /// itself then reports the problem of the server or a queue.
    pub(super) fn order_requested_queues(
        &mut self,
        core: &mut Core,
        max_jobs: u64,
        requested: Vec<(Name, u64)>,
    ) -> Vec<(Name, u64)> {
        match self {
            _ if requested.len() < 2 => requested,
            PopOrder::AsAsked => requested,
            PopOrder::ByLag => {
                let names: Vec<Name> = requested.iter().map(|(queue, _)| queue.clone()).collect();
                let Ok(lags) = core.seconds_since_poppable(core.now(), &names) else {
                    return requested;
                };
                let mut queues: Vec<(f64, (Name, u64))> = lags.into_iter().zip(requested).collect();
                // Queues without a lag come last. They are popped all the same, since a pop puts due recurring jobs.
                queues.sort_by(|(one, _), (other, _)| other.total_cmp(one));
                queues.into_iter().map(|(_, queue)| queue).collect()
            }
            PopOrder::ByPatterns(buckets) => {
                let mut order = Vec::with_capacity(requested.len());
                let names: Vec<Name> = requested.iter().map(|(name, _)| name.clone()).collect();
                for (bucket, rotation) in buckets {
                    if let Some(rotation) = rotation {
                        rotation.set_ready_queues(&names);
                    }
                    let names = bucket.queues.iter().map(|(name, _)| name);
                    let all = names.map(|name| (name.clone(), max_jobs));
                    match rotation {
                        None => order.extend(all),
                        Some(rotation) => {
                            let shares = rotation.queues_to_pop(max_jobs);
                            // List the queues of the bucket twice: with their shares, then without a limit. If a queue
                            // has fewer jobs than its share, the others give the rest before the next bucket.
                            if max_jobs == 1 || shares.len() == 1 {
                                order.extend(shares);
                            } else if 2 * requested.len() <= MAX_QUEUES {
                                order.extend(shares);
                                order.extend(all);
                            } else {
                                order.extend(shares.into_iter().map(|(name, _)| (name, max_jobs)));
                            }
                        }
                    }
                }
                let mut new: HashSet<&Name> = requested.iter().map(|(name, _)| name).collect();
                order.retain(|(name, _)| new.contains(name));
                order.iter().for_each(|(name, _)| _ = new.remove(name));
                let new = requested.iter().filter(|(name, _)| new.contains(name));
                order.extend(new.cloned());
                order
            }
        }
    }

    /// Advances the rotations past the queues of the popped jobs.
    pub(super) fn advance_past_popped(&mut self, jobs: &[PoppedJob]) {
        if let PopOrder::ByPatterns(buckets) = self {
            for rotation in buckets
                .iter_mut()
                .filter_map(|(_, rotation)| rotation.as_mut())
            {
                rotation.advance_past(jobs.iter().map(|job| &job.queue));
            }
        }
    }
}
