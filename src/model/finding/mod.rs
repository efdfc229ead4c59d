//! The findings of `qless check`: the name, severity, meaning and repair of each. The help, the manual, the scan
//! and the repair all read one table.

mod table;
pub(crate) mod text;

use serde::Serialize;
use strum::{Display, EnumCount, EnumString, IntoStaticStr, VariantArray};

pub use self::table::{FINDINGS, LIMITS};

/// The id of a finding. Everything that is fixed about it is in its row of [`FINDINGS`]. The few
/// rules that hold for one finding alone name its variant.
///
/// The variants are the public names, such as `ghost-waiting`: a name is stable, and never used again.
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
    pub fn row(self) -> &'static Finding {
        &FINDINGS[self as usize]
    }

    /// Whether the repair of this finding may release a job that waits for others.
    pub fn may_release_job(self) -> bool {
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

    /// The finding that covers this one for the same item.
    pub fn covered_by(self) -> Option<FindingId> {
        FindingId::all().find(|id| id.row().covers.contains(&self))
    }

    /// Whether this finding is about a failure list. Counters of failed jobs are compared only after such
    /// findings are repaired.
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
    /// Wedges a queue for clients with the reference core.
    Critical,
}

impl Severity {
    pub const fn meaning(self) -> &'static str {
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
pub enum Approval {
    /// Nothing beyond the approval of the plan.
    Automatic,
    /// `--only` must name the finding.
    Named,
    /// `--only` must name the finding, and a number must be typed, because keys are deleted.
    Typed,
    /// The finding is only reported.
    Never,
}

/// The action of a repair: `remove`, `removed`, `the id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub verb: &'static str,
    pub past: &'static str,
    pub what: &'static str,
}

/// A case of a finding with an approval of its own. The Lua core knows the case by this word.
#[derive(Clone, Copy, Debug)]
pub struct FindingCase {
    pub word: &'static str,
    pub approval: Approval,
    /// When the finding is this case.
    pub says: &'static str,
}

/// A detail of a verdict that decides something. `check.slice` and the diagnosis write details as
/// text for people. [`VerdictDetail::parse`] is the only reader of that text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VerdictDetail {
    /// Only text.
    #[default]
    Other,
    /// The unreadable field is one that `pop` reads.
    ReadByPop,
    /// A job that waits has an unreadable field, and pop raises.
    BlocksPop,
    /// The failed job is in no failure list.
    InNoList,
    /// A lock expires too far in the future.
    LockedUntil,
    /// The value of an option is below 0.
    BelowZero,
    /// No command reads the option.
    Unused,
    /// The core uses the default of the option.
    Ignored,
    /// The server evicts only keys with an expiry.
    EvictsExpiring,
    /// The server has an eviction policy but no memory limit.
    NoMemoryLimit,
}

impl VerdictDetail {
    pub fn parse(id: FindingId, text: &[u8]) -> VerdictDetail {
        match (id, text) {
            (
                FindingId::JobUnreadable,
                b"tags" | b"no tags" | b"priority" | b"no priority" | b"remaining"
                | b"no remaining" | b"history",
            ) => VerdictDetail::ReadByPop,
            (FindingId::JobUnreadable, b"field history of a waiting job") => {
                VerdictDetail::BlocksPop
            }
            (FindingId::JobUnreadable, text) if text.ends_with(b", in no list") => {
                VerdictDetail::InNoList
            }
            (FindingId::Clock, text) if text.starts_with(b"locked until") => {
                VerdictDetail::LockedUntil
            }
            (FindingId::ConfigValue, text) if text.starts_with(b"is below 0") => {
                VerdictDetail::BelowZero
            }
            (FindingId::ConfigValue, text) if text.starts_with(b"nobody reads it") => {
                VerdictDetail::Unused
            }
            (FindingId::ConfigValue, text) if text.starts_with(b"is ignored") => {
                VerdictDetail::Ignored
            }
            _ => VerdictDetail::Other,
        }
    }

    /// Reads the number in the text of a detail, if it decides something: the time of `clock` and `never-due`, in
    /// seconds since the epoch unless the client uses another unit, and the count of `recurring-count`.
    pub fn parse_number(id: FindingId, text: &[u8]) -> Option<f64> {
        let last = match id {
            FindingId::Clock | FindingId::NeverDue => text.rsplit(|byte| *byte == b' ').next()?,
            FindingId::RecurringCount => text,
            _ => return None,
        };
        std::str::from_utf8(last).ok()?.parse().ok()
    }
}

/// When a finding has another severity.
#[derive(Clone, Copy, Debug)]
pub enum SeverityCondition {
    /// The job is at the head of a queue.
    Head,
    /// The job is at the head of a queue, and the verdict has this detail.
    HeadAnd(VerdictDetail),
    /// The job does not exist.
    NoJob,
    /// The finding cannot be repaired.
    Reported,
    /// The verdict has this detail.
    Detail(VerdictDetail),
}

/// Another severity: when it holds, and how the help says so.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalSeverity {
    pub severity: Severity,
    pub when: SeverityCondition,
    pub says: &'static str,
}

/// How examples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleForm {
    /// `3f2a…`
    Jid,
    /// `mail: 3f2a…, 81c0…`: several jids below the detail that they share, such as a queue.
    JidIn,
    /// `3f2a…: tags`
    JidIs,
    /// `c41d… needs p-77`
    Needs,
    /// `a needs b needs a`: the detail is the rest of the chain.
    Chain,
    /// `mail`
    Name,
    /// `eu: 412, is 409`
    NameIs,
}

/// A pass of a repair over all its candidates: what other repairs rely on comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairStage {
    /// Types, expiries and stubs of jobs: a write to such a key would be in vain.
    Keys,
    /// Entries of queues, jobs, failures, workers, tags, names.
    Entries,
    /// Dependencies that only one of the two jobs lists. This is a pass of its own: a repair that does not see all
    /// dependents of a job would remove the others as wrong.
    Edges,
    /// Counts, and releases of jobs that depend on nothing any more. Both follow from what the other passes repair.
    Counts,
}

/// Where a finding is repaired that verdicts from several locations report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationChoice {
    /// In any of the locations: all of them make the same changes.
    AnyLocation,
    /// Only in the location that sees most of the problem: its verdict changes most.
    LargestWins,
    /// As `LargestWins`, but not at all if one location sees that the job is locked.
    LargestUnlessLocked,
}

/// The known cause of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseEvidence {
    NoEvidence,
    /// A lost key of a job leaves such data behind.
    KeyLoss,
    /// This call of the reference core leaves such data behind in a healthy database.
    ReferenceClient(&'static str),
}

/// A kind of finding: one row of the table of findings, with a value in every column.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    pub id: FindingId,
    pub severity: Severity,
    /// The numbers of the invariants that it breaks: 1 to 37 for I-01 … I-37, and 101 to 110 for E-01 … E-10.
    pub invariants: &'static [u8],
    /// The problem, in a line.
    pub problem: &'static str,
    pub form: ExampleForm,
    /// Whether the same item with another detail is another finding.
    pub by_detail: bool,
    /// Whether the finding is about a dependency: the detail may name the other job.
    pub is_edge: bool,
    pub approval: Approval,
    pub remedy: Option<Remedy>,
    pub stage: RepairStage,
    /// The findings that have to be absent before this one can be verified.
    pub requires: &'static [FindingId],
    /// The findings that this one reports, too, if it has the same item.
    pub covers: &'static [FindingId],
    pub repair_at: LocationChoice,
    pub evidence: CauseEvidence,
    pub grades: &'static [ConditionalSeverity],
    pub cases: &'static [FindingCase],
    /// The possible decisions, and the command for each choice.
    pub choices: &'static [&'static str],
}

impl Finding {
    /// The names of the invariants that the finding breaks.
    pub fn broken_invariant_names(&self) -> impl Iterator<Item = String> {
        self.invariants.iter().copied().map(invariant_name)
    }

    pub fn by_name(name: &str) -> Option<&'static Finding> {
        FindingId::from_name(name).map(FindingId::row)
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
    pub fn severity_depends_on_existence(&self) -> bool {
        self.grades
            .iter()
            .any(|grade| matches!(grade.when, SeverityCondition::NoJob))
    }
}

/// The name of an invariant (docs/check.md). Those of lanes and throttles have numbers above 100.
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

    fn word(approval: Approval) -> String {
        match approval {
            Approval::Automatic => "found",
            Approval::Named | Approval::Typed => "decide",
            Approval::Never => "report",
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
            let repairs = finding.approval != Approval::Never;
            assert_eq!(finding.remedy.is_some(), repairs, "{name}");
            assert!(
                finding.approval == Approval::Automatic || !finding.choices.is_empty(),
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

    #[test]
    fn details_that_decide_are_read_from_their_text() {
        let read = |id, text: &str| VerdictDetail::parse(id, text.as_bytes());
        let unreadable = FindingId::JobUnreadable;
        assert_eq!(read(unreadable, "no tags"), VerdictDetail::ReadByPop);
        assert_eq!(read(unreadable, "retries"), VerdictDetail::Other);
        assert_eq!(
            read(unreadable, "failure, in no list"),
            VerdictDetail::InNoList
        );
        assert_eq!(
            read(FindingId::Clock, "locked until 99999999"),
            VerdictDetail::LockedUntil
        );
        assert_eq!(
            read(FindingId::Score, "locked until 9"),
            VerdictDetail::Other
        );
        assert_eq!(
            read(FindingId::ConfigValue, "is below 0"),
            VerdictDetail::BelowZero
        );
        assert_eq!(
            read(FindingId::ConfigValue, "nobody reads it, is no number"),
            VerdictDetail::Unused
        );
        let number = |id, text: &str| VerdictDetail::parse_number(id, text.as_bytes());
        assert_eq!(number(FindingId::Clock, "seen at 1.5e12"), Some(1.5e12));
        assert_eq!(number(FindingId::Clock, "time is soon"), None);
        assert_eq!(number(FindingId::RecurringCount, "7"), Some(7.0));
        assert_eq!(number(FindingId::TagCount, "7"), None);
    }
}
