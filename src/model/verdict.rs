//! Verdicts of `check.slice`: what was asked about, what was found, what was or would be changed.

use crate::name::Name;

/// The most items that one call judges.
pub const MOST: usize = 200;

/// What items are judged as (`core.md` 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    Job,
    Recurring,
    /// Members of a queue's set of waiting jobs, and of its other sets.
    Work,
    Locks,
    Scheduled,
    Depends,
    Recur,
    Worker,
    Group,
    Tag,
    Completed,
    Tracked,
    /// Members of `queues`, `failures`, `tags`, `workers`, `paused_queues`, `config`.
    Names,
    /// Key names without prefix.
    Key,
    /// Jobs, each of which waits for the next, the last for the first.
    Cycle,
}

impl ItemKind {
    /// Returns the word of the wire.
    pub const fn word(self) -> &'static str {
        match self {
            ItemKind::Job => "job",
            ItemKind::Recurring => "recurring",
            ItemKind::Work => "work",
            ItemKind::Locks => "locks",
            ItemKind::Scheduled => "scheduled",
            ItemKind::Depends => "depends",
            ItemKind::Recur => "recur",
            ItemKind::Worker => "worker",
            ItemKind::Group => "group",
            ItemKind::Tag => "tag",
            ItemKind::Completed => "completed",
            ItemKind::Tracked => "tracked",
            ItemKind::Names => "names",
            ItemKind::Key => "key",
            ItemKind::Cycle => "cycle",
        }
    }
}

/// Where items lie that are judged together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub kind: ItemKind,
    /// The queue, worker, group, tag or list of names; empty elsewhere.
    pub name: Name,
}

impl Location {
    pub fn new(kind: ItemKind, name: impl Into<Name>) -> Location {
        let name = name.into();
        Location { kind, name }
    }
}

/// What is to become of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictOutcome {
    /// A repair would mend it.
    Found,
    /// A repair that names it would.
    Decide,
    /// It can only be told.
    Report,
    Mended,
}

/// One place before and after. `None` is absent. Without item it is a whole key: moved to `after`,
/// or rid of an expiry of `before` milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub key: Name,
    /// A field, a member, or an index of a list.
    pub item: Option<Name>,
    pub before: Option<Name>,
    pub after: Option<Name>,
}

/// A finding about one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The name of the finding, such as `ghost-waiting`.
    pub id: String,
    pub item: Name,
    pub outcome: VerdictOutcome,
    pub detail: Name,
    /// What was changed, or what a repair would change.
    pub changes: Vec<Change>,
}

/// What a call that mends answers.
#[derive(Clone, Debug)]
pub struct RepairReply {
    pub verdicts: Vec<Verdict>,
    /// Whether it was made again after its answer was lost: what the first time mended is not told.
    pub again: bool,
}
