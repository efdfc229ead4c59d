//! The table of findings: one row for each finding, in the order of the manual.

use strum::EnumCount;

use super::ExampleForm::{Chain, Jid, JidIn, JidIs, Name, NameIs, Needs};
use super::FindingId::*;
use super::KnownCause::{KeyLoss, NoEvidence, ReferenceClient};
use super::RepairApproval::{Automatic, Named, Never, Typed};
use super::RepairLocationChoice::{AnyLocation, LargestUnlessLocked, LargestWins};
use super::RepairStage::{Counts, Edges, Entries, Keys};
use super::Severity::{Critical, Error, Info, Warn};
use super::{
    ApprovalException, ConditionalSeverity, FindingId, FindingKind, RemedyWords, SeverityCondition,
};

const fn repaired(
    verb: &'static str,
    past: &'static str,
    what: &'static str,
) -> Option<RemedyWords> {
    Some(RemedyWords { verb, past, what })
}

const LOCKED: ApprovalException = ApprovalException {
    word: "locked",
    approval: Never,
    says: "while the job is locked",
};

/// The steps that remain for a finding that is not repaired while its job is locked.
const SEE_LOCK: &str = "show its worker and when its lock expires: `qless get JID`";
const AFTER_LOCK: &str = "after that: `qless check --repair`";

const AHEAD: ApprovalException = ApprovalException {
    word: "ahead",
    approval: Never,
    says: "if that time would be far in the future",
};

const AT_THE_HEAD: &[ConditionalSeverity] = &[ConditionalSeverity {
    severity: Critical,
    when: SeverityCondition::Head,
    says: "if the job is at the head of a queue",
}];

/// What most findings have in common: a row names what it has in place of it.
const USUAL: FindingKind = FindingKind {
    id: GhostWaiting,
    severity: Error,
    invariants: &[],
    problem: "",
    form: JidIs,
    by_detail: false,
    is_edge: false,
    approval: Never,
    remedy: None,
    stage: Entries,
    requires: &[],
    covers: &[],
    repair_at: AnyLocation,
    evidence: NoEvidence,
    grades: &[],
    cases: &[],
    choices: &[],
};

/// All findings, in the order of [`FindingId`]: a variant without a row does not compile.
#[rustfmt::skip]
pub const FINDINGS: [FindingKind; FindingId::COUNT] = [
    // Entries of a queue without a job, or in the wrong set.
    FindingKind {
        id: GhostWaiting, severity: Critical, invariants: &[3],
        problem: "id waits in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: GhostLock, severity: Critical, invariants: &[3],
        problem: "id is locked in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: GhostScheduled, severity: Critical, invariants: &[3],
        problem: "id is scheduled in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: GhostDepends, severity: Warn, invariants: &[3],
        problem: "id is blocked in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: GhostThrottled, severity: Warn, invariants: &[3],
        problem: "id is held in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: GhostRecurring, severity: Critical, invariants: &[17],
        problem: "id recurs in a queue, the job does not exist",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the id"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: InTwoSets, severity: Error, invariants: &[5],
        problem: "job is in a set that does not fit its state",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("keep", "kept", "the entry that fits its state; add it if it is missing"),
           repair_at: LargestUnlessLocked,
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: InForeignQueue, severity: Error, invariants: &[4],
        problem: "job is in a set of a queue that is not its own",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("move", "moved", "the job to its own queue, or remove the extra entry"),
          covers: &[InNoSet, RunningWithoutLock], repair_at: LargestUnlessLocked,
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: InNoSet, severity: Error, invariants: &[6],
        problem: "job is in no set, so no pop will ever return it",
        form: JidIn,
        approval: Automatic, remedy: repaired("put", "put", "it in the set that fits its state"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: QueueUnlisted, severity: Warn, invariants: &[24],
        problem: "queue with content is missing from the list",
        form: Name,
        approval: Automatic, remedy: repaired("list", "listed", "it"),
        ..USUAL
    },
    FindingKind {
        id: QueueEmpty, severity: Info, invariants: &[25],
        problem: "queue is listed or paused, but empty",
        form: NameIs,
        choices: &["forget the queue: `qless forget queue QUEUE`", "resume it: `qless unpause QUEUE`"],
        ..USUAL
    },
    FindingKind {
        id: QueueStuck, severity: Info, invariants: &[36],
        problem: "work has been due for a day, no worker takes it",
        form: NameIs,
        choices: &["show what is due: `qless peek QUEUE`", "show the workers: `qless workers`"],
        ..USUAL
    },
    FindingKind {
        id: OverLimit, severity: Info, invariants: &[37],
        problem: "more jobs run than the queue's limit allows",
        form: NameIs,
        choices: &["change the limit: `qless config set QUEUE-max-concurrency 10`"],
        ..USUAL
    },
    // The job itself.
    FindingKind {
        id: JobStub, severity: Error, invariants: &[1, 2],
        problem: "job without its mandatory fields",
        form: JidIs,
        approval: Automatic, remedy: repaired("set aside", "set aside", "the stub, and remove its ids"),
        stage: Keys, repair_at: LargestWins, evidence: KeyLoss,
        grades: AT_THE_HEAD,
        cases: &[
            ApprovalException { word: "data", approval: Named, says: "if it has data or klass, its id is restored from the name of its key" },
            ApprovalException { word: "part", approval: Never, says: "if klass, data, state or queue is missing" },
        ],
        choices: &[
            "restore the id from the name of its key: `qless check --repair --only job-stub`",
            "put the job again under its id, with the right klass and data: `qless put QUEUE KLASS DATA --jid=JID`",
        ],
        ..USUAL
    },
    FindingKind {
        id: JobUnreadable, severity: Error, invariants: &[2, 29],
        problem: "field or history entry that does not parse",
        form: JidIs, by_detail: true,
        approval: Automatic, remedy: repaired("replace", "replaced", "the value if the right one is known; the old text is kept in another field"),
        grades: &[ConditionalSeverity {
            severity: Critical,
            when: SeverityCondition::HeadAnd(&[
                "tags", "no tags", "priority", "no priority", "remaining", "no remaining", "history",
            ]),
            says: "for tags, priority, remaining or history of the job at the head of a queue: pop reads them",
        }, ConditionalSeverity {
            severity: Critical,
            when: SeverityCondition::DetailBegins("field history of a waiting job"),
            says: "for the field `history`, which old versions wrote, of a waiting job: pop reads it",
        }],
        cases: &[
            ApprovalException { word: "part", approval: Never, says: "data, state or retries, or a value that the history does not show" },
        ],
        choices: &[
            "print the stored fields: `qless get JID -o json`",
            "if the failure is lost, run the job again: `qless retry JID`",
            "put the job again: `qless put QUEUE KLASS DATA --jid=JID`, or cancel it: `qless cancel JID`",
        ],
        ..USUAL
    },
    FindingKind {
        id: FieldLeftover, severity: Info, invariants: &[15, 16],
        problem: "field of an earlier state is left over",
        form: JidIs, by_detail: true,
        approval: Named, remedy: repaired("drop", "dropped", "the field"),
        choices: &["drop it: `qless check --repair --only field-leftover`", "leave it: it does no harm"],
        ..USUAL
    },
    FindingKind {
        id: Remaining, severity: Info, invariants: &[31],
        problem: "job has more retries remaining than its limit",
        form: JidIs,
        choices: &["leave it: the job is only retried more often"],
        ..USUAL
    },
    FindingKind {
        id: Score, severity: Warn, invariants: &[12, 32],
        problem: "score does not fit the priority, or the lock",
        form: JidIs,
        approval: Automatic, remedy: repaired("write", "wrote", "the right score; for a lock, the later expiry"),
        ..USUAL
    },
    FindingKind {
        id: Clock, severity: Warn, invariants: &[12, 32, 33],
        problem: "time is in the future: a client's clock is wrong",
        form: JidIs, by_detail: true,
        grades: &[ConditionalSeverity { severity: Error, when: SeverityCondition::DetailBegins("locked until"), says: "for a lock: the job is blocked until it expires" }],
        choices: &[
            "correct the clock of the client that wrote it",
            "time the job out, so that it runs again: `qless timeout JID`",
            "omit this finding: `qless check --skip clock`",
        ],
        ..USUAL
    },
    FindingKind {
        id: NeverDue, severity: Error, invariants: &[33],
        problem: "job is scheduled for a time that does not come",
        form: JidIs,
        choices: &[
            "run all of them now: `qless promote --never-due`; one: `qless promote JID`",
            "schedule them again: `qless move --never-due --queue QUEUE --to QUEUE --delay 1h`",
            "cancel them: `qless cancel --never-due`",
            "correct the client that wrote the time",
        ],
        ..USUAL
    },
    // Running jobs and their workers.
    FindingKind {
        id: RunningWithoutLock, severity: Error, invariants: &[6, 12],
        problem: "job runs without a lock, so it cannot time out",
        form: JidIn,
        approval: Automatic, remedy: repaired("give", "gave", "it a lock with the right expiry"),
            evidence: KeyLoss,
        cases: &[AHEAD],
        ..USUAL
    },
    FindingKind {
        id: LockWithoutRun, severity: Error, invariants: &[5, 12],
        problem: "lock of a job that is not running",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the lock"),
        ..USUAL
    },
    FindingKind {
        id: WorkerStray, severity: Info, invariants: &[13],
        problem: "worker's list has a job that it does not run",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the job from the list"),
            evidence: ReferenceClient("timeout"),
        ..USUAL
    },
    FindingKind {
        id: WorkerGap, severity: Warn, invariants: &[14],
        problem: "worker's list lacks a job that it runs",
        form: JidIn,
        approval: Automatic, remedy: repaired("add", "added", "the job to the list"),
        grades: &[ConditionalSeverity { severity: Info, when: SeverityCondition::Reported, says: "if the worker was forgotten because of its age" }],
        cases: &[ApprovalException { word: "aged", approval: Never, says: "if the worker was forgotten because of its age" }],
        ..USUAL
    },
    FindingKind {
        id: WorkerUnknown, severity: Info, invariants: &[26],
        problem: "worker holds jobs but is not listed",
        form: Name,
        choices: &["nothing: it is listed again when it pops a job or sends a heartbeat"],
        ..USUAL
    },
    // Dependencies.
    FindingKind {
        id: DependencyMissing, severity: Error, invariants: &[10],
        problem: "job depends on a job that does not exist",
        form: Needs, by_detail: true, is_edge: true,
        approval: Named, remedy: repaired("drop", "dropped", "the dependency; a job with no other dependency is released"),
            evidence: KeyLoss,
        cases: &[LOCKED],
        choices: &[
            "if the other job is complete or not needed: `qless check --repair --only dependency-missing`",
            "for one job only: `qless depends JID --off=OTHER`",
            "if the other job was lost and must run first: `qless put QUEUE KLASS DATA --jid=OTHER`",
            "cancel the dependent: `qless cancel JID`",
        ],
        ..USUAL
    },
    FindingKind {
        id: DependencyComplete, severity: Error, invariants: &[10],
        problem: "job depends on a job that is complete",
        form: Needs, by_detail: true, is_edge: true,
        approval: Automatic, remedy: repaired("drop", "dropped", "the dependency; a job with no other dependency is released"),
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: DependencyOneSided, severity: Error, invariants: &[10],
        problem: "dependency that only one of its two jobs lists",
        form: Needs, by_detail: true, is_edge: true,
        approval: Automatic, remedy: repaired("add the missing side, or drop", "added the missing side, or dropped", "the other"),
        stage: Edges,
        cases: &[ApprovalException { word: "idle", approval: Named, says: "it is dropped if the job no longer waits" }],
        choices: &["drop dependencies of jobs that no longer wait: `qless check --repair --only dependency-one-sided`"],
        ..USUAL
    },
    FindingKind {
        id: DependencyCycle, severity: Error, invariants: &[11],
        problem: "jobs depend on each other, so none will ever run",
        form: Chain, by_detail: true, is_edge: true,
        choices: &["break it where it does the least harm: `qless depends JID --off=OTHER`", "cancel one job with all its dependents: `qless cancel JID --dependents cancel`"],
        ..USUAL
    },
    FindingKind {
        id: DependsOnNothing, severity: Error, invariants: &[10],
        problem: "job is in `depends` but has no dependency",
        form: Jid,
        approval: Automatic, remedy: repaired("release", "released", "it"),
        stage: Counts, requires: &[DependencyOneSided],
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: DependsOnFailed, severity: Info, invariants: &[],
        problem: "job depends on a failed job",
        form: Needs, by_detail: true,
        choices: &["retry the failed job: `qless retry OTHER`", "remove the dependency: `qless depends JID --off=OTHER`"],
        ..USUAL
    },
    // Lanes, throttles and merge jobs.
    FindingKind {
        id: LaneStray, severity: Error, invariants: &[103],
        problem: "lane has an entry that it should have forgotten",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the entry; the next job of the lane waits for the one before it, or is released"),
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: LaneUnlisted, severity: Error, invariants: &[103],
        problem: "job is not in its lane",
        form: JidIn,
        approval: Automatic, remedy: repaired("enter", "entered", "it in its lane; it waits for the job before it"),
        cases: &[ApprovalException { word: "beside", approval: Never, says: "if another job of the lane runs as well, or a dependency forbids it" }],
        choices: &["wait until the other jobs of the lane have ended: `qless key QUEUE KEY` shows them"],
        ..USUAL
    },
    FindingKind {
        id: LaneEdge, severity: Error, invariants: &[102],
        problem: "job does not depend on the one before it",
        form: Needs,
        approval: Automatic, remedy: repaired("add", "added", "the dependency"),
        cases: &[ApprovalException { word: "beside", approval: Never, says: "if the other job depends on it" }],
        choices: &["remove the dependency of the other job: `qless depends OTHER --off=JID`"],
        ..USUAL
    },
    FindingKind {
        id: LaneOrder, severity: Error, invariants: &[101],
        problem: "job could run before the one before it in its lane",
        form: Needs,
        approval: Automatic, remedy: repaired("let it depend", "let it depend", "on the job before it"),
        cases: &[ApprovalException { word: "beside", approval: Never, says: "if it runs or is locked, or the other job depends on it" }],
        choices: &["wait until it has ended, or revoke its lock: `qless timeout JID`"],
        ..USUAL
    },
    FindingKind {
        id: LaneUnmarked, severity: Error, invariants: &[103],
        problem: "job of a lane lacks the field that marks it",
        form: JidIs,
        approval: Automatic, remedy: repaired("write", "wrote", "the field `throttles`"),
        ..USUAL
    },
    FindingKind {
        id: SlotStray, severity: Error, invariants: &[106],
        problem: "job that does not run holds a slot of a throttle",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("free", "freed", "the slot"),
        ..USUAL
    },
    FindingKind {
        id: SlotMissing, severity: Info, invariants: &[106],
        problem: "running job does not hold a slot of its throttle",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("give", "gave", "it a slot"),
        cases: &[ApprovalException { word: "full", approval: Never, says: "if the throttle has no free slot" }],
        choices: &["nothing: `qless throttle release ID JID` freed the slot, or an older script popped the job"],
        ..USUAL
    },
    FindingKind {
        id: PendingStray, severity: Warn, invariants: &[107],
        problem: "job waits for a throttle that does not hold it",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the entry"),
        ..USUAL
    },
    FindingKind {
        id: ThrottledByNothing, severity: Error, invariants: &[107],
        problem: "job is in `throttled`, but no throttle holds it",
        form: JidIn,
        approval: Automatic, remedy: repaired("return", "returned", "it to work; the next pop holds it again if it must"),
        cases: &[LOCKED],
        choices: &[SEE_LOCK, AFTER_LOCK],
        ..USUAL
    },
    FindingKind {
        id: ThrottleIdle, severity: Info, invariants: &[108],
        problem: "throttle holds jobs although it has free slots",
        form: NameIs,
        approval: Automatic, remedy: repaired("return", "returned", "the held jobs to work"),
        ..USUAL
    },
    FindingKind {
        id: ThrottleUnlisted, severity: Info, invariants: &[110],
        problem: "maximum of a throttle is missing from the list",
        form: Name,
        approval: Automatic, remedy: repaired("list", "listed", "the throttle"),
        choices: &["nothing: a client with another core set it, and `qless throttle list --all` shows it"],
        ..USUAL
    },
    FindingKind {
        id: ThrottleGone, severity: Info, invariants: &[110],
        problem: "listed throttle has no maximum any more",
        form: Name,
        approval: Automatic, remedy: repaired("remove", "removed", "it from the list"),
        choices: &["nothing: its time ended, and later calls that set a maximum for a time remove it"],
        ..USUAL
    },
    FindingKind {
        id: PayloadsStray, severity: Warn, invariants: &[109],
        problem: "payloads of a job that does not merge",
        form: NameIs,
        approval: Automatic, remedy: repaired("set aside", "set aside", "the payloads"),
        ..USUAL
    },
    FindingKind {
        id: PayloadsMissing, severity: Error, invariants: &[109],
        problem: "merge job without payloads",
        form: Jid,
        approval: Automatic, remedy: repaired("turn", "turned", "it into a plain job, which keeps its data"),
        ..USUAL
    },
    FindingKind {
        id: PayloadsData, severity: Warn, invariants: &[109],
        problem: "data of a merge job are not its payloads",
        form: JidIs,
        approval: Automatic, remedy: repaired("write", "wrote", "the payloads into data; the old data is kept in another field"),
        cases: &[ApprovalException { word: "broken", approval: Never, says: "if one of them is not JSON" }],
        choices: &["see the payloads: `qless get JID -o json`", "put the job again, without merging: `qless put QUEUE KLASS DATA --jid=JID --replace`"],
        ..USUAL
    },
    // Failures.
    FindingKind {
        id: FailedStray, severity: Error, invariants: &[8],
        problem: "job is in a failure list where it does not belong",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "the entry, or move it to the right list"),
          covers: &[FailedUnlisted],
        grades: &[ConditionalSeverity { severity: Critical, when: SeverityCondition::NoJob, says: "if the job does not exist" }],
        ..USUAL
    },
    FindingKind {
        id: FailedUnlisted, severity: Error, invariants: &[8],
        problem: "failed job is in no failure list",
        form: JidIn,
        approval: Automatic, remedy: repaired("list", "listed", "it in the group of its failure"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: FailedTwice, severity: Error, invariants: &[8],
        problem: "failed job is in failure lists more than once",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("keep", "kept", "one, in the group of its failure"),
        ..USUAL
    },
    FindingKind {
        id: GroupSet, severity: Warn, invariants: &[9],
        problem: "list of groups disagrees with the failure lists",
        form: NameIs,
        approval: Automatic, remedy: repaired("align", "aligned", "it to the lists"),
        ..USUAL
    },
    FindingKind {
        id: FailedTime, severity: Error, invariants: &[],
        problem: "qless-php will delete a job as failed long ago",
        form: JidIs,
        approval: Automatic, remedy: repaired("correct", "corrected", "the time of its failure, or remove it if the job is not failed"),
        ..USUAL
    },
    FindingKind {
        id: FailedTimeGhost, severity: Info, invariants: &[],
        problem: "time of the failure of a job that does not exist",
        form: Jid,
        approval: Automatic, remedy: repaired("remove", "removed", "the time"),
        ..USUAL
    },
    FindingKind {
        id: FailedCounter, severity: Warn, invariants: &[27],
        problem: "failed counter differs from the failed jobs",
        form: NameIs,
        approval: Automatic, remedy: repaired("set", "set", "it"),
        stage: Counts, requires: &[FailedStray, FailedUnlisted, FailedTwice, GroupSet],
        ..USUAL
    },
    // Completed, tags, tracked.
    FindingKind {
        id: CompletedStray, severity: Error, invariants: &[7],
        problem: "job listed as complete is not, and will be deleted",
        form: JidIs,
        approval: Automatic, remedy: repaired("remove", "removed", "it from the list"),
        cases: &[ApprovalException { word: "queue", approval: Never, says: "if it is complete but has a queue, which no core writes" }],
        choices: &["print the job: `qless get JID -o json`", "put it again: `qless put QUEUE KLASS DATA --jid=JID`"],
        ..USUAL
    },
    FindingKind {
        id: CompletedUnlisted, severity: Warn, invariants: &[7],
        problem: "complete job is not listed, so it never expires",
        form: Jid,
        approval: Automatic, remedy: repaired("list", "listed", "it; the next completion may delete many old jobs"),
        cases: &[AHEAD],
        ..USUAL
    },
    FindingKind {
        id: CompletedInQueue, severity: Info, invariants: &[],
        problem: "complete job of a queue is gone or not complete",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("remove", "removed", "it from the list of the queue"),
        ..USUAL
    },
    FindingKind {
        id: TagIndex, severity: Warn, invariants: &[20],
        problem: "tag's index disagrees with the tags of a job",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("align", "aligned", "it to the tags of the job"),
            evidence: KeyLoss,
        ..USUAL
    },
    FindingKind {
        id: TagCount, severity: Warn, invariants: &[21],
        problem: "count of a tag in `tags` differs from its index",
        form: NameIs,
        approval: Automatic, remedy: repaired("set", "set", "it to the number of entries in the index"),
        stage: Counts, requires: &[TagIndex], evidence: ReferenceClient("tag"),
        ..USUAL
    },
    FindingKind {
        id: TrackedGone, severity: Info, invariants: &[23],
        problem: "tracked job has expired",
        form: Jid,
        approval: Named, remedy: repaired("stop", "stopped", "tracking it"),
        choices: &["stop tracking all expired jobs: `qless track --prune`", "leave it: `track` shows it as expired"],
        ..USUAL
    },
    // Recurring jobs.
    FindingKind {
        id: RecurringUnscheduled, severity: Error, invariants: &[17],
        problem: "recurring job is in no queue, so it never fires",
        form: JidIn,
        approval: Named, remedy: repaired("schedule", "scheduled", "it, the next run one interval from now"),
            evidence: KeyLoss,
        choices: &["schedule it again: `qless check --repair --only recurring-unscheduled`", "remove it: `qless recur rm JID`"],
        ..USUAL
    },
    FindingKind {
        id: RecurringForeign, severity: Error, invariants: &[17],
        problem: "recurring job is in a queue that is not its own",
        form: JidIn, by_detail: true,
        approval: Automatic, remedy: repaired("move", "moved", "it to its own queue"),
          covers: &[RecurringUnscheduled],
        ..USUAL
    },
    FindingKind {
        id: RecurringInvalid, severity: Error, invariants: &[18],
        problem: "recurring job with a field that makes it unusable",
        form: JidIs, by_detail: true,
        approval: Automatic, remedy: repaired("replace", "replaced", "the value if the right one is known; without an interval it stops"),
        cases: &[ApprovalException { word: "part", approval: Never, says: "klass, data, queue, count, options or next run, a missing interval, or the document of a paused one" }],
        choices: &["print it: `qless recur get JID`", "give it an interval: `qless recur set JID --every 1h`", "remove it: `qless recur rm JID`"],
        ..USUAL
    },
    FindingKind {
        id: RecurringCount, severity: Error, invariants: &[19],
        problem: "recurring job counts fewer jobs than it has made",
        form: JidIs,
        approval: Automatic, remedy: repaired("raise", "raised", "the count"),
        ..USUAL
    },
    // Keys and the server.
    FindingKind {
        id: KeyType, severity: Critical, invariants: &[22],
        problem: "key of a wrong type, or id with a reserved suffix",
        form: NameIs,
        approval: Named, remedy: repaired("set aside", "set aside", "the key, unless it holds a job"),
        stage: Keys,
        cases: &[ApprovalException { word: "job", approval: Never, says: "if the key holds a job" }],
        choices: &[
            "find the program that wrote it: no client of qless does",
            "set it aside: `qless check --repair --only key-type`",
            "for a job with a reserved suffix: `qless cancel JID`",
        ],
        ..USUAL
    },
    FindingKind {
        id: KeyExpires, severity: Error, invariants: &[34],
        problem: "key has an expiry, so the server will delete it",
        form: NameIs,
        approval: Automatic, remedy: repaired("persist", "persisted", "it"),
        stage: Keys,
        ..USUAL
    },
    FindingKind {
        id: ServerEvicts, severity: Error, invariants: &[34],
        problem: "the server may evict keys if its memory is full",
        form: NameIs,
        grades: &[
            ConditionalSeverity { severity: Info, when: SeverityCondition::DetailBegins("volatile-"), says: "if it evicts only keys with an expiry" },
            ConditionalSeverity { severity: Warn, when: SeverityCondition::DetailBegins("no limit yet"), says: "if no memory limit is set yet" },
        ],
        choices: &["make it refuse writes instead: `redis-cli CONFIG SET maxmemory-policy noeviction`"],
        ..USUAL
    },
    FindingKind {
        id: KeyUnknown, severity: Info, invariants: &[22],
        problem: "key under the prefix that `qless` does not use",
        form: NameIs,
        choices: &["leave it if another program owns it, or use another `--prefix`"],
        ..USUAL
    },
    FindingKind {
        id: HistoryOrphan, severity: Info, invariants: &[30],
        problem: "history of a job that does not exist",
        form: Name,
        approval: Named, remedy: repaired("set aside", "set aside", "the history"),
        choices: &["it is the only trace of a lost job; once you do not need it: `qless check --repair --only history-orphan`"],
        ..USUAL
    },
    FindingKind {
        id: EdgesOrphan, severity: Info, invariants: &[30],
        problem: "dependencies of a job that does not exist",
        form: Name,
        approval: Named, remedy: repaired("set aside", "set aside", "the list"),
        choices: &["once you do not need them: `qless check --repair --only edges-orphan`"],
        ..USUAL
    },
    FindingKind {
        id: LostKey, severity: Info, invariants: &[],
        problem: "key that a repair set aside",
        form: NameIs,
        approval: Typed, remedy: repaired("delete", "deleted", "it"),
        choices: &["delete it: `qless check --repair --only lost-key`", "revert the repair with the file of its `--undo`: `qless check --revert FILE`"],
        ..USUAL
    },
    FindingKind {
        id: StatsSum, severity: Warn, invariants: &[28],
        problem: "statistics of a day contradict themselves",
        form: NameIs,
        choices: &["omit this finding, because nothing can restore them: `qless check --skip stats-sum`"],
        ..USUAL
    },
    FindingKind {
        id: ConfigValue, severity: Critical, invariants: &[35],
        problem: "setting has a value that cannot be used",
        form: NameIs,
        grades: &[
            ConditionalSeverity { severity: Warn, when: SeverityCondition::DetailBegins("is below 0"), says: "if it is below 0" },
            ConditionalSeverity { severity: Warn, when: SeverityCondition::DetailBegins("nobody reads it"), says: "if no command reads the option" },
            ConditionalSeverity { severity: Warn, when: SeverityCondition::DetailBegins("is ignored"), says: "if `qless` ignores the value and uses its default" },
        ],
        choices: &[
            "use the default: `qless config unset OPTION`", "set it: `qless config set OPTION 60`",
            "a throttle (`th:ID`): `qless throttle set ID 10`", "a window of uniqueness (`u:…`): `redis-cli DEL KEY` closes it",
        ],
        ..USUAL
    },
    FindingKind {
        id: NotJudged, severity: Info, invariants: &[],
        problem: "item too large, or with a key of a wrong type",
        form: NameIs,
        choices: &["nothing: it may be consistent or not"],
        ..USUAL
    },
];

/// Each row is at the position of its id.
const _: () = {
    let mut at = 0;
    while at < FINDINGS.len() {
        assert!(
            FINDINGS[at].id as usize == at,
            "a row is not at the position of its id"
        );
        at += 1;
    }
};

/// What a scan cannot find or decide, by the number of the invariant.
pub const LIMITS: &[(u8, &str)] = &[
    (
        11,
        "cycles are searched only among jobs in the state `depends`",
    ),
    (25, "only you know whether a queue is meant to be paused"),
    (
        28,
        "mean and vk cannot be recomputed: they only have to be numbers, and vk not below 0",
    ),
    (33, "a time in the past is plausible, however old it is"),
    (
        34,
        "if the server hides its eviction policy, a scan checks only expiries",
    ),
    (
        36,
        "only you know whether a worker is meant to serve a queue",
    ),
];
