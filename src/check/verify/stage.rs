//! The order in which things are mended (`core.md` 8.2.6): what others lean on comes first.

use crate::model::verdict::{ItemKind, Location};

/// A pass of a repair over everything that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Types, expiries, and what is left of jobs: who would write to such a key writes in vain.
    Keys,
    /// Entries of queues, jobs, failures, workers, tags, names.
    Entries,
    /// What only one of two jobs knows of the other. A mend that does not see all who know of a job
    /// takes the others for wrong, so it comes by itself.
    Edges,
    /// What is counted or released once all else is right.
    Counts,
}

impl Stage {
    /// Returns when a finding is mended.
    pub(crate) fn of(id: &str) -> Stage {
        match id {
            "key-type" | "key-expires" | "job-stub" => Stage::Keys,
            "dependency-one-sided" => Stage::Edges,
            "depends-on-nothing" | "tag-count" | "failed-counter" => Stage::Counts,
            _ => Stage::Entries,
        }
    }
}

/// Returns the place of a kind in the order of a stage.
pub(crate) fn rank(stage: Stage, place: &Location) -> u8 {
    match place.kind {
        // What is set aside takes its expiry along.
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
        ItemKind::Names => match place.name.as_bytes() {
            b"failures" => 12,
            b"tags" => 14,
            _ => 13,
        },
        ItemKind::Key => 15,
    }
}
