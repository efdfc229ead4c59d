//! Verdicts of `check.slice`: the items verified, what was found, and what was or would be changed.

use serde::Deserialize;
use strum::IntoStaticStr;

use super::finding::{FindingId, Severity, SeverityCondition, VerdictDetail};
use crate::name::Name;

/// Maximum number of items that one call verifies.
pub const MAX_ITEMS: usize = 200;

/// The kind of an item to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ItemKind {
    Job,
    Recurring,
    /// A member of a queue's set of waiting jobs. Each of the next kinds is one of another set.
    Work,
    Locks,
    Scheduled,
    Depends,
    Throttled,
    Recur,
    Worker,
    /// Members of a failure list.
    Group,
    /// Blocks of a failure list, each named by the number of entries behind the block.
    Entries,
    /// Jids of failed jobs, to verify that the failure list of their group has each.
    Failed,
    /// Failed jobs that were in no failure list, as jids and marks alternately. The marks were read before the lists.
    Unlisted,
    Tag,
    /// Jobs of a lane, jobs that have a slot of a throttle, and jobs that wait for one.
    Lane,
    Slots,
    Pending,
    Completed,
    /// Jobs that are listed as complete in a queue.
    CompletedIn,
    /// Failed jobs that are deleted when they reach an age.
    FailedTimes,
    Tracked,
    /// Members of `queues`, `failures`, `tags`, `workers`, `paused_queues`, `throttles`, `config`.
    Names,
    /// Key names without prefix.
    Key,
    /// Jobs, each of which depends on the next, and the last on the first.
    Cycle,
}

impl ItemKind {
    /// The number of words of an item.
    pub(crate) const fn words_per_item(self) -> usize {
        match self {
            ItemKind::Unlisted => 2,
            _ => 1,
        }
    }
}

/// The location of items that are verified together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub kind: ItemKind,
    /// The queue, worker, group, tag, lane, throttle or list of names; empty elsewhere.
    pub name: Name,
}

impl Location {
    /// The location for jobs that belong in one call.
    pub(crate) fn of_jobs_in_one_call() -> Location {
        Location::new(ItemKind::Job, "together")
    }

    pub fn new(kind: ItemKind, name: impl Into<Name>) -> Location {
        let name = name.into();
        Location { kind, name }
    }
}

/// What a repair does about a finding, or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum RepairStatus {
    /// A repair repairs it.
    #[serde(rename = "found")]
    Repairable,
    /// A repair repairs it only if `--only` names the finding.
    #[serde(rename = "decide")]
    NeedsOnly,
    /// The finding is only reported.
    #[serde(rename = "report")]
    Report,
    #[serde(rename = "mended")]
    Repaired,
}

/// A value before and after. `None` means absent. Without an item, a change of a whole key: it was renamed to `after`,
/// or was to expire in `before` milliseconds and is persisted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "row")]
pub struct KeyChange {
    pub key: Name,
    /// A field, a member, or an index of a list.
    pub item: Option<Name>,
    pub before: Option<Name>,
    pub after: Option<Name>,
}

/// A finding about one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub id: FindingId,
    pub item: Name,
    pub outcome: RepairStatus,
    pub detail: Name,
    /// The detail as a value, if the program acts on it.
    pub known_detail: VerdictDetail,
    /// The number in the detail, if it decides something.
    pub number: Option<f64>,
    /// The jobs of a dependency cycle, each of which depends on the next, and the last on the first;
    /// empty for other findings.
    pub cycle: Vec<Name>,
    /// The changes that were made, or that a repair would make.
    pub changes: Vec<KeyChange>,
}

/// The number of entries in a block of a failure list.
pub(crate) const BLOCK: u64 = 50;

/// The verdicts of a call.
#[derive(Clone, Debug)]
pub struct VerdictReply {
    /// Jobs in a failure list that failed in another group, to be verified as items of
    /// [`ItemKind::Group`].
    pub misplaced: Vec<Name>,
    pub verdicts: Vec<Verdict>,
    /// The number of items verified. A call ends early if its items cost too much.
    pub verified: usize,
}

impl Verdict {
    /// A finding that is only reported.
    pub fn report_only(id: FindingId, item: Name, detail: Name) -> Verdict {
        Verdict {
            id,
            item,
            outcome: RepairStatus::Report,
            detail,
            known_detail: VerdictDetail::Other,
            number: None,
            cycle: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The severity of the finding. `is_at_head`: its job heads a queue. `is_job_missing`: its job does not exist.
    pub fn severity(&self, is_at_head: bool, is_job_missing: bool) -> Severity {
        let holds = |when: SeverityCondition| match when {
            SeverityCondition::Head => is_at_head,
            SeverityCondition::HeadAnd(detail) => is_at_head && self.known_detail == detail,
            SeverityCondition::NoJob => is_job_missing,
            SeverityCondition::Reported => self.outcome == RepairStatus::Report,
            SeverityCondition::Detail(detail) => self.known_detail == detail,
        };
        let finding = self.id.row();
        let grade = finding.grades.iter().find(|grade| holds(grade.when));
        grade.map_or(finding.severity, |grade| grade.severity)
    }
}

/// The reply of a call that repairs.
#[derive(Clone, Debug)]
pub struct RepairReply {
    pub verdicts: Vec<Verdict>,
    /// The number of items verified.
    pub verified: usize,
    /// Whether the call was repeated because its reply was lost: repairs of the first call are not
    /// reported.
    pub repeated: bool,
}
