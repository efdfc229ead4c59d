//! The order of repairs within a stage (`core.md` 8.2.6).

use crate::model::finding::Stage;
use crate::model::verdict::{ItemKind, Location};

/// Returns the rank of a location in the order of a stage.
pub(crate) fn rank(stage: Stage, location: &Location) -> u8 {
    match location.kind {
        // A key that is set aside keeps its expiry, so expiries come first.
        ItemKind::Key if stage == Stage::Keys => 0,
        ItemKind::Locks => 0,
        ItemKind::Work => 1,
        ItemKind::Scheduled => 2,
        ItemKind::Recur => 3,
        ItemKind::Depends => 4,
        ItemKind::Recurring => 5,
        ItemKind::Job | ItemKind::Cycle => 6,
        // Jobs enter their lists before they leave others. Blocks are removed by position, so no
        // other repair may remove entries of the same list before.
        ItemKind::Failed | ItemKind::Unlisted => 7,
        ItemKind::Entries => 8,
        ItemKind::Group => 9,
        ItemKind::Completed => 10,
        ItemKind::Tracked => 11,
        ItemKind::Worker => 12,
        ItemKind::Tag => 13,
        ItemKind::Names => match location.name.as_bytes() {
            b"failures" => 14,
            b"tags" => 16,
            _ => 15,
        },
        ItemKind::Key => 17,
    }
}
