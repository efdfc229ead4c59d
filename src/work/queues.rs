//! The queues of a worker: names, globs, and names that are left out.

use crate::core::api::index::Index;
use crate::core::call::Core;
use crate::error::Error;
use crate::model::work_queue::WorkQueue;
use crate::name::Name;

/// The queues of a worker as typed, in order.
#[derive(Clone, Debug)]
pub(super) struct QueueList(pub Vec<WorkQueue>);

impl QueueList {
    /// Whether the queues may change while the worker runs.
    pub(super) fn has_globs(&self) -> bool {
        let included = self.0.iter().filter(|queue| !queue.is_excluded);
        included
            .into_iter()
            .any(|queue| queue.pattern.plain().is_none())
    }

    /// Returns the queues with their weights, each once, where it is named first. The queues of a glob
    /// come in the order of their names. Without globs there is no call.
    pub(super) fn resolve(&self, core: &mut Core) -> Result<Vec<(Name, u32)>, Error> {
        let mut known = Vec::new();
        if self.has_globs() {
            known = core.members(core.now(), &Index::Queues)?;
            known.sort();
        }
        let mut queues: Vec<(Name, u32)> = Vec::new();
        for queue in self.0.iter().filter(|queue| !queue.is_excluded) {
            let names: Vec<&Name> = match queue.pattern.plain() {
                Some(name) => vec![name],
                None => known
                    .iter()
                    .filter(|name| queue.pattern.matches(name))
                    .collect(),
            };
            for name in names {
                if !queues.iter().any(|(other, _)| other == name) {
                    queues.push((name.clone(), queue.weight));
                }
            }
        }
        let is_excluded = |name: &Name| {
            let excluded = self.0.iter().filter(|queue| queue.is_excluded);
            excluded
                .into_iter()
                .any(|queue| queue.pattern.matches(name))
        };
        queues.retain(|(name, _)| !is_excluded(name));
        Ok(queues)
    }
}
