//! The reply of the core's call `check.slice`: the findings about the items that the call verified, and the changes
//! that a repair made or would make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::finding::{FindingId, Severity, SeverityCondition};
use crate::name::Name;

/// Maximum number of items that one call of `check.slice` verifies.
pub const MAX_ITEMS: usize = 200;

/// The kind of an item to verify: a job, a member of an index, or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ItemKind {
    Job,
    Recurring,
    /// A member of a queue's set of waiting jobs. The next five kinds are members of the queue's other sets.
    Work,
    Locks,
    Scheduled,
    Depends,
    Throttled,
    Recur,
    Worker,
    /// Members of a failure list.
    Group,
    /// Blocks of up to 50 entries of a failure list. The number of entries between a block and the end of the
    /// list names the block.
    Entries,
    /// Failed jobs. The call verifies that the failure list of their group contains them.
    Failed,
    /// Failed jobs that are in no failure list: jid and mark alternately. The caller read the marks before it searched
    /// the lists, so a changed mark shows that the job has changed since.
    Unlisted,
    Tag,
    /// Members of a lane.
    Lane,
    /// Jobs that hold a slot of a throttle.
    Slots,
    /// Jobs that wait for a slot of a throttle.
    Pending,
    Completed,
    /// Members of the set of a queue's completed jobs.
    CompletedIn,
    /// Members of the index of failed jobs by the time of their failure. By it, the core deletes jobs that failed
    /// too long ago.
    FailedTimes,
    Tracked,
    /// Members of a list of names: `queues`, `failures`, `tags`, `workers`, `paused_queues`, `throttles` or `config`.
    Names,
    /// Key names without prefix.
    Key,
    /// The jobs of a possible dependency cycle: each depends on the next, and the last on the first.
    Cycle,
}

impl ItemKind {
    /// The number of arguments of `check.slice` that name one item.
    pub(crate) const fn call_args_per_item(self) -> usize {
        match self {
            ItemKind::Unlisted => 2,
            _ => 1,
        }
    }
}

/// Where items are: their kind and the name of their index. One call of `check.slice` verifies items of one location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemLocation {
    pub kind: ItemKind,
    /// The queue, worker, group, tag, lane, throttle or list of names. Empty for other kinds of items.
    pub name: Name,
}

impl ItemLocation {
    /// The location for jobs that one call must verify: the core does not end such a call early.
    pub(crate) fn for_jobs_verified_together() -> ItemLocation {
        ItemLocation::new(ItemKind::Job, "together")
    }

    pub fn new(kind: ItemKind, name: impl Into<Name>) -> ItemLocation {
        let name = name.into();
        ItemLocation { kind, name }
    }
}

/// Whether a repair has repaired a finding, can repair it, or cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum FindingRepairState {
    /// `--repair` repairs the finding.
    #[serde(rename = "found")]
    Repairable,
    /// `--repair` repairs the finding only if `--only` names it.
    #[serde(rename = "decide")]
    NeedsOnly,
    /// The finding is only reported.
    #[serde(rename = "report")]
    Report,
    #[serde(rename = "mended")]
    Repaired,
}

/// A change of a repair: the value of `item` in `key` before and after, `None` if absent. If `item` is `None`, the
/// whole key changed: it was renamed to `after`, or its expiry in `before` milliseconds was removed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename = "row")]
pub struct KeyChange {
    pub key: Name,
    /// A field of a hash, a member of a set, or an index of a list.
    pub item: Option<Name>,
    pub before: Option<Name>,
    pub after: Option<Name>,
}

/// One item of a finding.
//
// A row of the reply, and an example in the document of `qless check`, which has the line above as its description.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename = "row")]
#[schemars(rename = "FindingExample")]
pub struct Verdict {
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub id: FindingId,
    /// The job, name or key
    pub item: Name,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub outcome: FindingRepairState,
    /// The problem with it
    pub detail: Name,
    /// The jobs of a dependency cycle: each depends on the next, and the last on the first. Empty for other findings.
    #[serde(skip)]
    pub cycle: Vec<Name>,
    /// The changes that were made, or that a repair would make.
    #[serde(rename = "..", skip_serializing)]
    #[schemars(skip)]
    pub changes: Vec<KeyChange>,
}

/// The number of entries of a failure list that are verified as one item, a block.
pub(crate) const BLOCK: u64 = 50;

/// The verdicts of a call.
//
// If the call ended early, or jobs must be verified again, the last row of the reply has the members that are not
// skipped here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "row")]
pub struct VerdictsReply {
    #[serde(skip)]
    pub verdicts: Vec<Verdict>,
    /// The number of items that the call verified. The core ends a call early if its items cost too much.
    pub verified: usize,
    /// Jobs in the failure list of one group that failed in another group. The caller must verify each as an item of
    /// [`ItemKind::Group`].
    #[serde(rename = "..")]
    pub misplaced: Vec<Name>,
    /// Whether the call was sent again because its reply was lost. Then `verdicts` lacks what the first call repaired.
    #[serde(skip)]
    pub repeated: bool,
}

impl Verdict {
    /// A finding that is only reported.
    pub fn report_only(id: FindingId, item: Name, detail: Name) -> Verdict {
        Verdict {
            id,
            item,
            outcome: FindingRepairState::Report,
            detail,
            cycle: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The number in the detail of three findings: of `clock` and `never-due` a time, in seconds since the epoch unless
    /// the client used another unit, and of `recurring-count` a count. `None` for other findings.
    pub fn time_or_count_in_detail(&self) -> Option<f64> {
        let detail = self.detail.as_bytes();
        let number = match self.id {
            FindingId::Clock | FindingId::NeverDue => detail.rsplit(|byte| *byte == b' ').next()?,
            FindingId::RecurringCount => detail,
            _ => return None,
        };
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    /// The severity of the finding. `is_at_head`: its job is at the head of a queue. `is_job_missing`: its job does not
    /// exist.
    pub fn severity(&self, is_at_head: bool, is_job_missing: bool) -> Severity {
        let holds = |when: SeverityCondition| match when {
            SeverityCondition::Head => is_at_head,
            SeverityCondition::HeadAnd(details) => {
                let mut details = details.iter();
                is_at_head && details.any(|detail| detail.as_bytes() == self.detail.as_bytes())
            }
            SeverityCondition::NoJob => is_job_missing,
            SeverityCondition::Reported => self.outcome == FindingRepairState::Report,
            SeverityCondition::DetailBegins(text) => {
                self.detail.as_bytes().starts_with(text.as_bytes())
            }
        };
        let finding = self.id.row();
        let grade = finding.grades.iter().find(|grade| holds(grade.when));
        grade.map_or(finding.severity, |grade| grade.severity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_of_a_finding_decides_on_its_severity() {
        let severity = |id, detail: &str| {
            let verdict = Verdict::report_only(id, Name::from("x"), Name::from(detail));
            [true, false].map(|is_at_head| verdict.severity(is_at_head, false))
        };
        use Severity::{Critical, Error, Warn};
        let unreadable = FindingId::JobUnreadable;
        assert_eq!(severity(unreadable, "no tags"), [Critical, Error]);
        assert_eq!(severity(unreadable, "retries"), [Error, Error]);
        assert_eq!(
            severity(FindingId::Clock, "locked until 99999999"),
            [Error; 2]
        );
        assert_eq!(severity(FindingId::Score, "locked until 9"), [Warn; 2]);
        assert_eq!(severity(FindingId::ConfigValue, "is below 0"), [Warn; 2]);
        let unused = "nobody reads it, is no number";
        assert_eq!(severity(FindingId::ConfigValue, unused), [Warn; 2]);
    }

    #[test]
    fn times_and_counts_are_read_from_details() {
        let number = |id, detail: &str| {
            Verdict::report_only(id, Name::from("x"), Name::from(detail)).time_or_count_in_detail()
        };
        assert_eq!(number(FindingId::Clock, "seen at 1.5e12"), Some(1.5e12));
        assert_eq!(number(FindingId::Clock, "time is soon"), None);
        assert_eq!(number(FindingId::RecurringCount, "7"), Some(7.0));
        assert_eq!(number(FindingId::TagCount, "7"), None);
    }
}
