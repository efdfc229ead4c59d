//! The order of repairs within a stage.

use crate::model::finding::RepairStage;
use crate::model::verdict::{ItemKind, Location};

/// The rank of a location in the order of a stage.
pub(crate) fn location_rank(stage: RepairStage, location: &Location) -> u8 {
    match location.kind {
        // A key that is set aside keeps its expiry, so expiries come first.
        ItemKind::Key if stage == RepairStage::Keys => 0,
        ItemKind::Locks => 0,
        ItemKind::Work => 1,
        ItemKind::Scheduled => 2,
        ItemKind::Recur => 3,
        ItemKind::Depends | ItemKind::Throttled => 4,
        ItemKind::Recurring => 5,
        ItemKind::Job | ItemKind::Cycle => 6,
        // Jobs enter their lanes before entries leave.
        ItemKind::Lane => 7,
        ItemKind::Slots => 8,
        ItemKind::Pending => 9,
        // Jobs enter their lists before they leave others. Blocks are removed by position, so no
        // other repair may remove entries of the same list before.
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
