//! The items that a repair takes from its queue for one stage and location.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::{ItemKind, ItemLocation};
use crate::name::Name;

/// Items of one location that are repaired in one stage.
#[derive(Debug)]
pub(crate) struct RepairBatch {
    pub stage: RepairStage,
    pub location: ItemLocation,
    /// Findings that the calls for this batch do not repair, because another location or the next round repairs them.
    pub excluded: Vec<FindingId>,
    /// Groups of items that go into one call.
    pub groups: VecDeque<Vec<Name>>,
    /// Items that take the server long: each takes a call of its own.
    pub large: Rc<HashSet<Name>>,
}

impl RepairBatch {
    /// The location that the call for these groups names: a special one if a group has several jobs.
    pub(crate) fn call_location(&self, groups: &[Vec<Name>]) -> ItemLocation {
        let together = groups.iter().any(|group| group.len() > 1);
        if self.location.kind == ItemKind::Job && together {
            ItemLocation::for_jobs_verified_together()
        } else {
            self.location.clone()
        }
    }

    /// Removes the groups for the next call: at least one group, and further groups up to `size` items in total.
    pub(crate) fn take_groups(&mut self, size: usize) -> Option<Vec<Vec<Name>>> {
        let mut groups = vec![self.groups.pop_front()?];
        let mut items = groups[0].len();
        let is_large = |group: &Vec<Name>| group.iter().any(|item| self.large.contains(item));
        while !is_large(&groups[0])
            && let Some(next) = self.groups.front()
            && items + next.len() <= size
            && !is_large(next)
        {
            items += next.len();
            groups.extend(self.groups.pop_front());
        }
        Some(groups)
    }
}
