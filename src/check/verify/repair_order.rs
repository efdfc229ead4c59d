//! The order of repairs within a stage.

use crate::model::finding::RepairStage;
use crate::model::verdict::{ItemKind, ItemLocation};

/// The rank of a location within a stage. A repair begins with the locations of the lowest rank.
pub(crate) fn location_rank(stage: RepairStage, location: &ItemLocation) -> u8 {
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
