//! The kinds of findings of `qless check`. One table has the name, severity, meaning and repair of each, for the help,
//! the manual, the scan and the repair.

mod table;
pub(crate) mod text;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumCount, EnumString, IntoStaticStr, VariantArray};

pub use self::table::{FINDINGS, LIMITS};

/// The id of a kind of finding. Its row of [`FINDINGS`] has its severity, meaning and repair.
///
/// Users see a variant by its name, such as `ghost-waiting`. A name never changes and is never reused.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumCount,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum FindingId {
    GhostWaiting,
    GhostLock,
    GhostScheduled,
    GhostDepends,
    GhostThrottled,
    GhostRecurring,
    InTwoSets,
    InForeignQueue,
    InNoSet,
    QueueUnlisted,
    QueueEmpty,
    QueueStuck,
    OverLimit,
    JobStub,
    JobUnreadable,
    FieldLeftover,
    Remaining,
    Score,
    Clock,
    NeverDue,
    RunningWithoutLock,
    LockWithoutRun,
    WorkerStray,
    WorkerGap,
    WorkerUnknown,
    DependencyMissing,
    DependencyComplete,
    DependencyOneSided,
    DependencyCycle,
    DependsOnNothing,
    DependsOnFailed,
    LaneStray,
    LaneUnlisted,
    LaneEdge,
    LaneOrder,
    LaneUnmarked,
    SlotStray,
    SlotMissing,
    PendingStray,
    ThrottledByNothing,
    ThrottleIdle,
    ThrottleUnlisted,
    ThrottleGone,
    PayloadsStray,
    PayloadsMissing,
    PayloadsData,
    FailedStray,
    FailedUnlisted,
    FailedTwice,
    GroupSet,
    FailedTime,
    FailedTimeGhost,
    FailedCounter,
    CompletedStray,
    CompletedUnlisted,
    CompletedInQueue,
    TagIndex,
    TagCount,
    TrackedGone,
    RecurringUnscheduled,
    RecurringForeign,
    RecurringInvalid,
    RecurringCount,
    KeyType,
    KeyExpires,
    ServerEvicts,
    KeyUnknown,
    HistoryOrphan,
    EdgesOrphan,
    LostKey,
    StatsSum,
    ConfigValue,
    NotJudged,
}

impl FindingId {
    pub fn row(self) -> &'static FindingKind {
        &FINDINGS[self as usize]
    }

    /// Whether the repair of this finding may let a job run that depends on other jobs or waits in its lane.
    pub fn repair_may_release_job(self) -> bool {
        matches!(
            self,
            FindingId::DependencyMissing
                | FindingId::DependencyComplete
                | FindingId::DependsOnNothing
                | FindingId::LaneStray
        )
    }

    pub fn from_name(name: &str) -> Option<FindingId> {
        name.parse().ok()
    }

    pub fn all() -> impl Iterator<Item = FindingId> {
        FindingId::VARIANTS.iter().copied()
    }

    /// The finding that [covers](FindingKind::covers) this one. If an item has both, only that finding is reported.
    pub fn covered_by(self) -> Option<FindingId> {
        FindingId::all().find(|id| id.row().covers.contains(&self))
    }

    /// Whether this finding is about a failure list. The counters of failed jobs are verified only if no such finding
    /// remains.
    pub fn is_about_failure_list(self) -> bool {
        FindingId::FailedCounter.row().requires.contains(&self)
    }
}

/// How bad a finding is. The worst is last.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    IntoStaticStr,
    EnumString,
    VariantArray,
    Serialize,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Needs no action.
    Info,
    /// Wrong bookkeeping.
    Warn,
    /// Loses, doubles or blocks a job.
    Error,
    /// Clients with the reference core can pop no more jobs from a queue.
    Critical,
}

impl Severity {
    pub const fn severity_meaning(self) -> &'static str {
        match self {
            Severity::Critical => "wedges a queue for clients with the reference core",
            Severity::Error => "loses, doubles or blocks a job",
            Severity::Warn => "is wrong bookkeeping",
            Severity::Info => "needs no action",
        }
    }
}

/// The approval that a repair requires before it repairs a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairApproval {
    /// Nothing beyond the approval of the plan.
    Automatic,
    /// `--only` must name the finding.
    Named,
    /// `--only` must name the finding, and the operator must type the number of keys that the repair deletes.
    Typed,
    /// The finding is only reported.
    Never,
}

/// The words for what a repair does, such as `remove`, `removed` and `the id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemedyWords {
    pub verb: &'static str,
    pub past: &'static str,
    pub what: &'static str,
}

/// A case in which a finding requires another approval than usual.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalException {
    /// The name of the case in the Lua core.
    pub word: &'static str,
    pub approval: RepairApproval,
    /// The condition of the case, for people.
    pub says: &'static str,
}

/// A condition under which a finding has another severity than usual. A detail is text for people, which `check.slice`
/// or `check/verify/mod.rs` writes.
#[derive(Clone, Copy, Debug)]
pub enum SeverityCondition {
    /// The job is at the head of a queue.
    Head,
    /// The job is at the head of a queue, and the finding has one of these details.
    HeadAnd(&'static [&'static str]),
    /// The job does not exist.
    NoJob,
    /// The finding cannot be repaired.
    Reported,
    /// The detail of the finding begins with this text.
    DetailBegins(&'static str),
}

/// A severity that a finding has under a condition, instead of its usual one.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalSeverity {
    pub severity: Severity,
    pub when: SeverityCondition,
    /// The condition, for people.
    pub says: &'static str,
}

/// How a table shows the examples of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleForm {
    /// `3f2a…`
    Jid,
    /// `mail: 3f2a…, 81c0…`: a detail, such as a queue, and the jids of the examples with this detail.
    JidIn,
    /// `3f2a…: tags`
    JidIs,
    /// `c41d… needs p-77`
    Needs,
    /// `a needs b needs a`: a dependency cycle. The item is its first jid, the detail is the rest.
    Chain,
    /// `mail`
    Name,
    /// `eu: 412, is 409`
    NameIs,
}

/// A pass of a repair over all candidates. A repair makes the passes in this order, because later repairs rely on
/// earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairStage {
    /// Keys of a wrong type or with an expiry, and remnants of jobs. First, because later writes to such a key would
    /// fail or be lost.
    Keys,
    /// Entries of queues, jobs, failure lists, workers, tags and lists of names.
    Entries,
    /// Dependencies that only one of the two jobs lists. This is a pass of its own, because its repair must see all
    /// dependents of a job: it would remove the ones that it does not see.
    Edges,
    /// Wrong counts, and jobs in state `depends` that depend on no job. Last, because earlier repairs cause or remove
    /// both.
    Counts,
}

/// From which location a repair changes an item, if verdicts of several locations report one finding about the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairLocationChoice {
    /// From any location: all verdicts have the same changes.
    AnyLocation,
    /// Only from the location whose verdict has the most changes, because it sees most of the problem.
    LargestWins,
    /// As `LargestWins`, but from no location if the verdict of one of them says that the job is locked.
    LargestUnlessLocked,
}

/// The known cause of a finding, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownCause {
    NoEvidence,
    /// The server lost a key, for example by eviction.
    KeyLoss,
    /// A bug of the reference core in this call.
    ReferenceClient(&'static str),
}

/// A kind of finding: one row of the table of findings.
#[derive(Clone, Copy, Debug)]
pub struct FindingKind {
    pub id: FindingId,
    pub severity: Severity,
    /// The numbers of the invariants that the finding breaks: 1 to 37 for I-01 … I-37, 101 to 110 for E-01 … E-10.
    pub invariants: &'static [u8],
    /// The problem, in a line.
    pub problem: &'static str,
    pub form: ExampleForm,
    /// Whether one item may have this finding several times, each with another detail.
    pub by_detail: bool,
    /// Whether the finding is about a dependency. Then the detail may name the other job.
    pub is_edge: bool,
    pub approval: RepairApproval,
    pub remedy: Option<RemedyWords>,
    pub stage: RepairStage,
    /// The findings that must be absent before this one can be verified.
    pub requires: &'static [FindingId],
    /// The findings that are not reported for an item that has this one, because this one includes them.
    pub covers: &'static [FindingId],
    pub repair_at: RepairLocationChoice,
    pub evidence: KnownCause,
    pub grades: &'static [ConditionalSeverity],
    pub cases: &'static [ApprovalException],
    /// What the operator can do about the finding if no repair does it, each with its command.
    pub choices: &'static [&'static str],
}

impl FindingKind {
    /// The names of the invariants that the finding breaks.
    pub fn broken_invariant_names(&self) -> impl Iterator<Item = String> {
        self.invariants.iter().copied().map(invariant_name)
    }

    /// Whether the severity of the finding depends on whether its job is at the head of a queue.
    pub fn severity_depends_on_head(&self) -> bool {
        self.grades.iter().any(|grade| {
            matches!(
                grade.when,
                SeverityCondition::Head | SeverityCondition::HeadAnd(_)
            )
        })
    }

    /// Whether the severity of the finding depends on whether its job exists.
    pub fn severity_depends_on_job_existence(&self) -> bool {
        self.grades
            .iter()
            .any(|grade| matches!(grade.when, SeverityCondition::NoJob))
    }
}

/// The name of an invariant in docs/check.md: `I-03` for 3, `E-01` for 101. Invariants of lanes and throttles begin
/// with `E`.
pub fn invariant_name(number: u8) -> String {
    match number {
        0..=100 => format!("I-{number:02}"),
        101.. => format!("E-{:02}", number - 100),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The outcome of each finding, and of each case, in the Lua core.
    fn outcomes() -> BTreeMap<String, String> {
        let text = include_str!("../../../lua/check/repair/outcomes.lua");
        let lines = text.lines().filter_map(|line| {
            let line = line.trim().strip_prefix("['")?;
            let (name, rest) = line.split_once("'] = '")?;
            Some((name.to_owned(), rest.trim_end_matches("',").to_owned()))
        });
        lines.collect()
    }

    fn word(approval: RepairApproval) -> String {
        match approval {
            RepairApproval::Automatic => "found",
            RepairApproval::Named | RepairApproval::Typed => "decide",
            RepairApproval::Never => "report",
        }
        .to_owned()
    }

    #[test]
    fn the_table_has_the_outcomes_of_the_lua_core() {
        let mut table = BTreeMap::new();
        for finding in &FINDINGS {
            table.insert(finding.id.to_string(), word(finding.approval));
            for case in finding.cases {
                let name = format!("{} {}", finding.id, case.word);
                table.insert(name, word(case.approval));
            }
        }
        assert_eq!(table, outcomes());
    }

    #[test]
    fn every_invariant_has_a_finding() {
        let covered: BTreeSet<u8> = FINDINGS
            .iter()
            .flat_map(|finding| finding.invariants.iter().copied())
            .collect();
        assert_eq!(
            covered,
            (1..=37)
                .chain([101, 102, 103, 106, 107, 108, 109, 110])
                .collect()
        );
    }

    #[test]
    fn names_are_unique_and_findings_without_automatic_repair_have_a_choice() {
        let mut names = BTreeSet::new();
        for finding in &FINDINGS {
            let name = finding.id.into_str();
            assert!(names.insert(name), "{name}");
            assert_eq!(FindingId::from_name(name), Some(finding.id));
            let repairs = finding.approval != RepairApproval::Never;
            assert_eq!(finding.remedy.is_some(), repairs, "{name}");
            assert!(
                finding.approval == RepairApproval::Automatic || !finding.choices.is_empty(),
                "{name}"
            );
            assert!(finding.problem.len() <= 50, "{name}");
        }
    }

    #[test]
    fn a_finding_is_covered_by_at_most_one_other() {
        for id in FindingId::all() {
            let covering = FindingId::all().filter(|other| other.row().covers.contains(&id));
            assert!(covering.count() <= 1, "{id}");
        }
    }
}
