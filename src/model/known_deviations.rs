//! Known deviations of the data. Tolerated shapes look inconsistent but are normal: clients with the reference core
//! leave them behind in ordinary work, and a scan reports them as information or not at all. Traces of the reference
//! core's defects are inconsistent, and a scan reports them. `tests/check/known_deviations.rs` has a case for each.

use super::finding::FindingId;
use super::finding::FindingId::*;

/// A shape of the data that looks inconsistent but is normal.
#[derive(Clone, Copy, Debug)]
pub struct ToleratedShape {
    pub name: &'static str,
    pub says: &'static str,
    /// The findings by which `check` reports this shape, as information. Empty if it reports nothing.
    pub findings: &'static [FindingId],
}

/// A shape of the data that `check` does not report.
const fn unreported(name: &'static str, says: &'static str) -> ToleratedShape {
    ToleratedShape {
        name,
        says,
        findings: &[],
    }
}

const fn reported_as_info(
    name: &'static str,
    findings: &'static [FindingId],
    says: &'static str,
) -> ToleratedShape {
    ToleratedShape {
        name,
        says,
        findings,
    }
}

#[rustfmt::skip]
pub const TOLERATED: &[ToleratedShape] = &[
    unreported("lapsed-lock", "an expired lock: the next pop handles it"),
    unreported("due-job", "a scheduled job that is due: the next pop queues it"),
    unreported("due-template", "a recurring job that is due: the next pop makes its jobs"),
    unreported("courtesy", "a job whose lock was extended once by the grace period, and which its worker no longer lists"),
    reported_as_info("grace-left", &[FieldLeftover], "the field `grace` of that job, after a heartbeat or in another state"),
    reported_as_info("scheduled-left", &[FieldLeftover], "the time of a delay, on a job that is no longer in `depends`"),
    unreported("holder-before", "the fields worker and expires of the last holder, after a retry"),
    unreported("stalled-holder", "the worker that last held a job that was timed out, and the job in its list"),
    unreported("waiting-scheduled", "a job delayed on completion, which is scheduled but has the state `waiting`"),
    unreported("bare-priority", "a score that is the priority alone, after a change of it; also of a job that was timed out"),
    unreported("large-priority", "priorities so large that rounding loses the time in the score"),
    unreported("rounding", "expiries of a lock that differ by rounding"),
    unreported("failure-before", "the failure of an earlier run, or of a run that was not the last"),
    unreported("exhausted", "a failure without worker and with a fraction of a second, and remaining below 0"),
    unreported("fields-missing", "missing fields failure, grace, scheduled and spawned_from_jid, if they were never set"),
    unreported("spawned-from-nobody", "a job of a recurring job that was removed"),
    unreported("history-old", "jobs without history, or with the single history field of old versions"),
    unreported("history-forms", "history entries of `log`, with or without data"),
    unreported("document-forms", "data, tags and numbers in every form that clients read"),
    unreported("foreign-fields", "fields of other programs in a job"),
    unreported("same-name", "a recurring job and a job with the same name"),
    unreported("empty-names", "failure groups with an empty name, and jobs held by a worker with an empty name"),
    unreported("retagged", "a tag whose index has a newer time"),
    unreported("counters-small", "statistics of a day without the fields that were never counted"),
    unreported("paused", "paused queues, also with jobs, and also without a reason"),
    reported_as_info("idle-queue", &[QueueEmpty], "queues that are listed or paused but empty"),
    reported_as_info("worker-aged", &[WorkerGap, WorkerUnknown], "a worker that was not seen for a long time, whose list was deleted while its jobs run"),
    reported_as_info("worker-forgotten", &[WorkerUnknown], "a worker that was removed from the list but holds jobs"),
    reported_as_info("tracked-gone", &[TrackedGone], "tracked jobs that no longer exist"),
    reported_as_info("edges-left", &[EdgesOrphan], "dependencies of a job that no longer exists"),
    reported_as_info("after-failure", &[DependsOnFailed], "jobs that depend on a failed job"),
    reported_as_info("crowded", &[OverLimit], "more locks than the limit of a queue, after locks were extended by the grace period"),
];

/// What a defect of the reference core leaves behind in the data.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceDefect {
    /// The number in the list of defects.
    pub number: u8,
    pub says: &'static str,
    /// The findings that report this deviation.
    pub findings: &'static [FindingId],
}

const fn defect(number: u8, findings: &'static [FindingId], says: &'static str) -> ReferenceDefect {
    ReferenceDefect {
        number,
        says,
        findings,
    }
}

#[rustfmt::skip]
pub const DEFECTS: &[ReferenceDefect] = &[
    defect(16, &[RecurringCount], "a recurring job that was removed and created again under its name counts from 0"),
    defect(18, &[InForeignQueue], "a job that was retried into another queue than its own"),
    defect(22, &[WorkerStray], "a job that was timed out stays in the list of its worker when another worker pops it"),
    defect(37, &[FailedCounter], "a failed job that is put in another queue is counted down in that queue"),
    defect(40, &[QueueUnlisted], "a queue that was forgotten is not listed by a retry, unfail or recurring job"),
    defect(48, &[TagCount], "tags that are added or removed twice are counted twice, and counters of 0 stay"),
    defect(52, &[FailedCounter], "unfail does not count the failed jobs down"),
    defect(70, &[DependencyCycle], "jobs can be made to depend on themselves"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::Severity;

    #[test]
    fn tolerated_deviations_are_reported_at_most_as_information() {
        for id in TOLERATED.iter().flat_map(|deviation| deviation.findings) {
            let finding = id.row();
            let info = finding.severity == Severity::Info
                || finding
                    .grades
                    .iter()
                    .any(|grade| grade.severity == Severity::Info);
            assert!(info, "{id}");
        }
    }
}
