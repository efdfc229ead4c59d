//! The items that a repair takes from its queue for one stage and location.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use crate::model::finding::{FindingId, RepairStage};
use crate::model::verdict::{ItemKind, Location};
use crate::name::Name;

/// Items of one location that are repaired in one stage.
#[derive(Debug)]
pub(crate) struct RepairBatch {
    pub stage: RepairStage,
    pub location: Location,
    /// Findings that the calls for this batch leave out: another location repairs them, or the next round.
    pub excluded: Vec<FindingId>,
    /// Groups of items that go into one call.
    pub groups: VecDeque<Vec<Name>>,
    /// Items that take the server long: each takes a call of its own.
    pub large: Rc<HashSet<Name>>,
}

impl RepairBatch {
    /// The location that the call for these groups names: jobs of one group have a location of their own.
    pub(crate) fn call_location(&self, groups: &[Vec<Name>]) -> Location {
        let together = groups.iter().any(|group| group.len() > 1);
        if self.location.kind == ItemKind::Job && together {
            Location::of_jobs_in_one_call()
        } else {
            self.location.clone()
        }
    }

    /// Takes the groups of the next call: up to `size` items, or one group.
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
