//! What looks like damage and is none: shapes that clients with the reference core leave behind in
//! ordinary work (`core.md` 3.6, 8.1). Nothing of them is told, or at most as information. And what
//! the defects of that core leave behind, which is told for what it is. `tests/core/tolerated.rs`
//! has each of them.

/// A shape that is left as it is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub name: &'static str,
    pub says: &'static str,
    /// What is told of it as information.
    pub told: &'static [&'static str],
}

const fn shape(name: &'static str, says: &'static str) -> Shape {
    Shape {
        name,
        says,
        told: &[],
    }
}

const fn told(name: &'static str, told: &'static [&'static str], says: &'static str) -> Shape {
    Shape { name, says, told }
}

#[rustfmt::skip]
pub const TOLERATED: &[Shape] = &[
    shape("lapsed-lock", "a lock that has ended: the next pop sees to it"),
    shape("due-job", "a scheduled job that is due: the next pop queues it"),
    shape("due-template", "a recurring job that is due: the next pop makes its jobs"),
    shape("courtesy", "a job whose lock was lengthened once by the grace period, and which its worker no longer lists"),
    told("grace-left", &["field-leftover"], "that grace, after a heartbeat or in another state"),
    told("scheduled-left", &["field-leftover"], "the time of a delay, on a job that no longer waits for others"),
    shape("holder-before", "worker and expires of the last holder, after a retry"),
    shape("stalled-holder", "worker of the last holder of a job that was timed out, and the job in his list"),
    shape("waiting-scheduled", "a job put off on completion, which is scheduled and says that it waits"),
    shape("bare-priority", "a place that is the priority alone, after a change of it; also of a job that was timed out"),
    shape("large-priority", "priorities so large that the time is lost in rounding"),
    shape("rounding", "moments of a lock that differ by rounding"),
    shape("failure-before", "a failure that is over, or of a try that was not the last"),
    shape("exhausted", "a failure without worker and with a fraction of a second, less than no tries left"),
    shape("fields-missing", "failure, grace, scheduled and spawned_from_jid where there never were any"),
    shape("spawned-from-nobody", "a job of a recurring job that was taken away"),
    shape("history-old", "jobs without history, or with the one field of versions before the list"),
    shape("history-forms", "history entries of log, with data or without"),
    shape("document-forms", "data, tags and numbers in every form that clients read"),
    shape("foreign-fields", "fields of other programs in a job"),
    shape("same-name", "a recurring job and a job of one name"),
    shape("empty-names", "failure groups without a name, and jobs that a worker without a name took"),
    shape("retagged", "a tag whose index was given a newer time"),
    shape("counters-small", "statistics of a day that lack what was never counted"),
    shape("paused", "paused queues, with jobs or without a note of why"),
    told("idle-queue", &["queue-empty"], "queues that are listed or paused and hold nothing"),
    told("worker-aged", &["worker-gap", "worker-unknown"], "a worker that was not seen for long, whose list is gone while his jobs run"),
    told("worker-forgotten", &["worker-unknown"], "a worker that was taken off the list and holds jobs"),
    told("tracked-gone", &["tracked-gone"], "tracked jobs that are gone"),
    told("edges-left", &["edges-orphan"], "dependencies of a job that is gone"),
    told("after-failure", &["depends-on-failed"], "jobs that wait for a failed one"),
    told("crowded", &["over-limit"], "more locks than the limit of a queue, after courtesies"),
];

/// What a defect of the reference leaves behind, and as what it is told.
#[derive(Clone, Copy, Debug)]
pub struct Defect {
    /// As the list of defects numbers it.
    pub number: u8,
    pub says: &'static str,
    pub told: &'static [&'static str],
}

const fn defect(number: u8, told: &'static [&'static str], says: &'static str) -> Defect {
    Defect { number, says, told }
}

#[rustfmt::skip]
pub const DEFECTS: &[Defect] = &[
    defect(16, &["recurring-count"], "a recurring job that was taken away and made again under its name counts from 0"),
    defect(18, &["in-foreign-queue"], "a job that was retried into another queue than its own"),
    defect(22, &["worker-stray"], "a job that was timed out stays in the list of its worker when another takes it"),
    defect(37, &["failed-counter"], "a failed job that is put elsewhere is counted down there"),
    defect(40, &["queue-unlisted"], "a queue that was forgotten is not listed by a retry, unfail or recurring job"),
    defect(48, &["tag-count"], "tags that are added or removed twice are counted twice, and counters of 0 stay"),
    defect(52, &["failed-counter"], "unfail counts nothing down"),
    defect(70, &["dependency-cycle"], "jobs may be made to wait for themselves"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::{Finding, Severity};

    #[test]
    fn what_is_tolerated_is_at_most_told_as_information() {
        for id in TOLERATED.iter().flat_map(|shape| shape.told) {
            let finding = Finding::named(id).unwrap();
            let info = finding.severity == Severity::Info
                || finding
                    .grades
                    .iter()
                    .any(|grade| grade.severity == Severity::Info);
            assert!(info, "{id}");
        }
        for id in DEFECTS.iter().flat_map(|defect| defect.told) {
            assert!(Finding::named(id).is_some(), "{id}");
        }
    }
}
