//! The items that a repair takes from its queue for one stage and location, and the order of the locations of a stage.

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
    pub(crate) fn take_groups_for_next_call(&mut self, size: usize) -> Option<Vec<Vec<Name>>> {
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

/// The rank of a location within a stage. A repair begins with the locations of the lowest rank.
pub(super) fn location_rank(stage: RepairStage, location: &ItemLocation) -> u8 {
    match location.kind {
        // Remove expiries first: a key that a repair sets aside keeps its expiry.
        ItemKind::Key if stage == RepairStage::Keys => 0,
        ItemKind::Locks => 0,
        ItemKind::Work => 1,
        ItemKind::Scheduled => 2,
        ItemKind::Recur => 3,
        ItemKind::Depends | ItemKind::Throttled => 4,
        ItemKind::Recurring => 5,
        ItemKind::Job | ItemKind::Cycle => 6,
        // Lanes come after jobs, so that missing jobs enter their lanes before wrong entries leave.
        ItemKind::Lane => 7,
        ItemKind::Slots => 8,
        ItemKind::Pending => 9,
        // Failed jobs enter their failure list before their wrong entries leave other lists. The name of a block of
        // entries is its position, so no other repair may remove entries of the list before.
        ItemKind::Failed | ItemKind::Unlisted => 10,
        ItemKind::Entries => 11,
        ItemKind::Group => 12,
        ItemKind::Completed | ItemKind::CompletedIn | ItemKind::FailedTimes => 13,
        ItemKind::Tracked => 14,
        ItemKind::Worker => 15,
        ItemKind::Tag => 16,
        ItemKind::Names => match location.name.as_bytes() {
            b"failures" => 17,
            b"tags" => 19,
            _ => 18,
        },
        ItemKind::Key => 20,
    }
}
