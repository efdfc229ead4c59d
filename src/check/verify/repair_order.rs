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
        ItemKind::Group => 7,
        ItemKind::Completed => 8,
        ItemKind::Tracked => 9,
        ItemKind::Worker => 10,
        ItemKind::Tag => 11,
        ItemKind::Names => match location.name.as_bytes() {
            b"failures" => 12,
            b"tags" => 14,
            _ => 13,
        },
        ItemKind::Key => 15,
    }
}
