//! The order in which a call pops from its queues, if that order depends on lags or patterns that the server has.

use std::collections::HashSet;

use super::machine::rotation::{QueueOrder, QueueRotation};
use super::queues::{FoundQueues, MAX_QUEUES};
use crate::core::call::Core;
use crate::model::popped_job::PoppedJob;
use crate::model::queue_patterns::PriorityBucket;
use crate::name::Name;

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
        let mut arrangement = match order {
            QueueOrder::Ordered | QueueOrder::RoundRobin => PopOrder::AsAsked,
            QueueOrder::Lag => PopOrder::ByLag,
            QueueOrder::Patterns => PopOrder::ByPatterns(Vec::new()),
        };
        arrangement.set_queues(found);
        arrangement
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
