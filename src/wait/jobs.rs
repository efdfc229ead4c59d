//! The jobs that a wait is about: what was read of them, and how the wait for each ended.
//!
//! The state of a job decides whether its wait has ended. An event only makes `qless` read the job again, and says
//! why a job is missing: completed and deleted, or cancelled.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use crate::model::event::{Event, EventKind};
use crate::model::job::{HistoryEntry, Job, State};
use crate::model::queue::RoundedSeconds;
use crate::model::wait::{JobWaitResult, WaitItem};
use crate::name::Name;

/// A job of the wait: its item in the document, and what its last read showed.
#[derive(Debug)]
struct AwaitedJob {
    item: WaitItem,
    /// The number of the job's history entries when it was last read.
    entries: Option<usize>,
    /// An event that is about its end.
    heard: Option<EventKind>,
    /// When a read first found the job missing.
    missing_since: Option<Instant>,
}

/// The result of a read of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SingleJobReadOutcome {
    Pending,
    /// The wait for the job ended.
    Ended,
    /// The job does not exist. An event that has not arrived yet may say why.
    Missing,
    /// The history of the job has changed since the last read, so the history has to be read.
    Changed,
}

/// All jobs of a wait.
#[derive(Debug)]
pub(super) struct AwaitedJobs {
    awaited: State,
    begun: Instant,
    jobs: Vec<AwaitedJob>,
    at: HashMap<Name, usize>,
    /// The jobs whose wait has not ended.
    pub pending: usize,
    pub reached: usize,
    /// The indexes of the jobs to read again, such as those with an event since their last read.
    dirty: BTreeSet<usize>,
    /// Where the next periodic read begins.
    next: usize,
}

impl AwaitedJobs {
    pub(super) fn new(awaited: State, begun: Instant, jids: Vec<Name>) -> AwaitedJobs {
        let at = jids.iter().enumerate().map(|(at, jid)| (jid.clone(), at));
        let at: HashMap<Name, usize> = at.collect();
        let jobs: Vec<AwaitedJob> = jids
            .into_iter()
            .map(|jid| AwaitedJob {
                item: WaitItem {
                    jid,
                    state: None,
                    result: JobWaitResult::Pending,
                    elapsed_s: None,
                },
                entries: None,
                heard: None,
                missing_since: None,
            })
            .collect();
        AwaitedJobs {
            awaited,
            begun,
            pending: jobs.len(),
            reached: 0,
            jobs,
            at,
            dirty: BTreeSet::new(),
            next: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn item_at(&self, at: usize) -> &WaitItem {
        &self.jobs[at].item
    }

    pub(super) fn into_items(self) -> Vec<WaitItem> {
        self.jobs.into_iter().map(|job| job.item).collect()
    }

    fn is_pending(&self, at: usize) -> bool {
        self.jobs[at].item.result == JobWaitResult::Pending
    }

    /// The jobs whose wait has not ended.
    pub(super) fn pending_job_indexes(&self) -> impl Iterator<Item = usize> {
        (0..self.jobs.len()).filter(|at| self.is_pending(*at))
    }

    /// Notes that the job of an event has to be read again. The result is whether the job is one of the pending
    /// jobs.
    pub(super) fn mark_dirty_if_pending(&mut self, event: &Event) -> bool {
        let Some(&at) = event.jid.as_ref().and_then(|jid| self.at.get(jid)) else {
            return false;
        };
        if !self.is_pending(at) {
            return false;
        }
        if matches!(event.event, EventKind::Completed | EventKind::Canceled) {
            self.jobs[at].heard = Some(event.event);
        }
        self.dirty.insert(at);
        true
    }

    /// Reads a job again at the next occasion.
    pub(super) fn mark_dirty(&mut self, at: usize) {
        self.dirty.insert(at);
    }

    /// Takes the jobs to read again, such as those with an event since their last read.
    pub(super) fn take_dirty(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.dirty).into_iter().collect()
    }

    /// The next pending jobs for the periodic read, up to `max_jobs`. Each call continues after the jobs of the
    /// call before.
    pub(super) fn next_pending_in_rotation(&mut self, max_jobs: usize) -> Vec<usize> {
        let all = self.jobs.len();
        let mut batch = Vec::new();
        for step in 0..all {
            let at = (self.next + step) % all;
            if batch.len() == max_jobs {
                self.next = at;
                break;
            }
            if self.is_pending(at) {
                batch.push(at);
            }
        }
        batch
    }

    /// Notes the result of a read. With `is_absence_final`, a missing job ends its wait, because no event will come
    /// that says why it is missing.
    pub(super) fn note_read(
        &mut self,
        at: usize,
        job: Option<&Job>,
        is_absence_final: bool,
    ) -> SingleJobReadOutcome {
        if !self.is_pending(at) {
            return SingleJobReadOutcome::Ended;
        }
        let awaited = self.awaited;
        let known = &mut self.jobs[at];
        known.item.state = job.and_then(|job| job.state);
        let Some(job) = job else {
            let result = match known.heard {
                Some(EventKind::Completed) => result_at_end(awaited, State::Complete),
                Some(EventKind::Canceled) => JobWaitResult::Cancelled,
                _ if is_absence_final => JobWaitResult::Gone,
                _ => {
                    known.missing_since.get_or_insert_with(Instant::now);
                    return SingleJobReadOutcome::Missing;
                }
            };
            return self.end_wait_with_result(at, result);
        };
        known.missing_since = None;
        let entries = job.history_length_from_mark();
        let changed = known.entries.is_some_and(|before| Some(before) != entries);
        if let Some(state) = job.state
            && (state == awaited || matches!(state, State::Complete | State::Failed) && !changed)
        {
            let result = result_at_end(self.awaited, state);
            return self.end_wait_with_result(at, result);
        }
        if changed {
            // Keep the old number in `entries`: `note_passed_state_in_history` finds the new history entries by it,
            // and then updates it.
            return SingleJobReadOutcome::Changed;
        }
        known.entries = entries;
        SingleJobReadOutcome::Pending
    }

    /// Searches the new history entries of a job for the awaited state, through which the job may have passed
    /// between two reads.
    pub(super) fn note_passed_state_in_history(
        &mut self,
        at: usize,
        job: &Job,
    ) -> SingleJobReadOutcome {
        if !self.is_pending(at) {
            return SingleJobReadOutcome::Ended;
        }
        let entries = job.history.as_deref().unwrap_or_default();
        let known = &mut self.jobs[at];
        let before = known.entries.unwrap_or(0);
        known.entries = job.history_length_from_mark();
        // A shorter history belongs to another job that was put with this jid, so all its entries are new.
        let fresh = entries.get(before..).unwrap_or(entries);
        let completed = known.heard.take() == Some(EventKind::Completed);
        let passed = |entry: &HistoryEntry| match (self.awaited, entry.what.as_bytes()) {
            (State::Running, b"popped") => true,
            (State::Stalled, b"timed-out") => true,
            (State::Failed, b"failed") => true,
            // The entry `done` counts only with the event `completed`: a job that advances to a next queue has this
            // entry, too.
            (State::Complete, b"done") => completed,
            _ => false,
        };
        if fresh.iter().any(passed) {
            return self.end_wait_with_result(at, JobWaitResult::Reached(self.awaited));
        }
        match job.state {
            Some(state @ (State::Complete | State::Failed)) => {
                let result = result_at_end(self.awaited, state);
                self.end_wait_with_result(at, result)
            }
            _ => SingleJobReadOutcome::Pending,
        }
    }

    /// How long a job has been missing, in seconds.
    pub(super) fn seconds_missing(&self, at: usize) -> Option<f64> {
        let since = self.jobs[at].missing_since?;
        Some(since.elapsed().as_secs_f64())
    }

    fn end_wait_with_result(&mut self, at: usize, result: JobWaitResult) -> SingleJobReadOutcome {
        let item = &mut self.jobs[at].item;
        item.result = result;
        item.elapsed_s = Some(RoundedSeconds(self.begun.elapsed().as_secs_f64()));
        self.pending -= 1;
        if matches!(result, JobWaitResult::Reached(_)) {
            self.reached += 1;
        }
        SingleJobReadOutcome::Ended
    }
}

/// The result of the wait for a job that has ended it in `state`.
fn result_at_end(awaited: State, state: State) -> JobWaitResult {
    if state == awaited {
        JobWaitResult::Reached(state)
    } else {
        JobWaitResult::Ended(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::moment::Moment;

    fn awaiting(state: State) -> AwaitedJobs {
        AwaitedJobs::new(state, Instant::now(), vec!["a".into(), "b".into()])
    }

    /// A job with a mark that tells the length of its history.
    fn job(state: State, history: &[&str]) -> Job {
        let entry = |what: &&str| HistoryEntry {
            what: (*what).into(),
            when: None,
            note: Vec::new(),
        };
        Job {
            jid: "a".into(),
            state: Some(state),
            mark: format!("{state}:1:{}:q:x", history.len()).into_bytes(),
            history: Some(history.iter().map(entry).collect()),
            ..Job::default()
        }
    }

    fn receive_event(jobs: &mut AwaitedJobs, kind: EventKind) {
        let mut event = Event::new(Moment::from_micros(0), kind);
        event.jid = Some(Name::from("a"));
        assert!(jobs.mark_dirty_if_pending(&event));
    }

    #[test]
    fn an_event_tells_why_a_job_is_missing() {
        for (kind, result) in [
            (
                EventKind::Completed,
                JobWaitResult::Reached(State::Complete),
            ),
            (EventKind::Canceled, JobWaitResult::Cancelled),
        ] {
            let mut jobs = awaiting(State::Complete);
            assert_eq!(
                jobs.note_read(0, None, false),
                SingleJobReadOutcome::Missing
            );
            receive_event(&mut jobs, kind);
            assert_eq!(jobs.take_dirty(), [0]);
            assert_eq!(jobs.note_read(0, None, false), SingleJobReadOutcome::Ended);
            assert_eq!(jobs.item_at(0).result, result);
        }
        let mut jobs = awaiting(State::Complete);
        receive_event(&mut jobs, EventKind::Put);
        assert_eq!(
            jobs.note_read(0, None, false),
            SingleJobReadOutcome::Missing
        );
        assert_eq!(jobs.note_read(0, None, true), SingleJobReadOutcome::Ended);
        assert_eq!(jobs.item_at(0).result, JobWaitResult::Gone);
    }

    #[test]
    fn new_entries_of_the_history_tell_a_state_that_was_passed_through() {
        let mut jobs = awaiting(State::Running);
        let before = job(State::Waiting, &["put", "popped", "put"]);
        assert_eq!(
            jobs.note_read(0, Some(&before), false),
            SingleJobReadOutcome::Pending
        );
        let after = job(State::Waiting, &["put", "popped", "put", "popped", "put"]);
        assert_eq!(
            jobs.note_read(0, Some(&after), false),
            SingleJobReadOutcome::Changed
        );
        assert_eq!(
            jobs.note_passed_state_in_history(0, &after),
            SingleJobReadOutcome::Ended
        );
        assert_eq!(
            jobs.item_at(0).result,
            JobWaitResult::Reached(State::Running)
        );
        let moved = job(State::Waiting, &["put"]);
        assert_eq!(
            jobs.note_read(1, Some(&moved), false),
            SingleJobReadOutcome::Pending
        );
        let moved = job(State::Waiting, &["put", "put"]);
        assert_eq!(
            jobs.note_read(1, Some(&moved), false),
            SingleJobReadOutcome::Changed
        );
        assert_eq!(
            jobs.note_passed_state_in_history(1, &moved),
            SingleJobReadOutcome::Pending
        );
        assert_eq!(
            jobs.note_read(1, Some(&moved), false),
            SingleJobReadOutcome::Pending
        );
    }

    /// A job that advances to a next queue has the entry `done`, but no event of its completion.
    #[test]
    fn a_job_that_was_put_again_after_its_completion_was_complete() {
        let before = job(State::Running, &["put", "popped"]);
        let after = job(State::Waiting, &["put", "popped", "done", "put"]);
        for (kind, seen) in [
            (EventKind::Completed, SingleJobReadOutcome::Ended),
            (EventKind::Put, SingleJobReadOutcome::Pending),
        ] {
            let mut jobs = awaiting(State::Complete);
            assert_eq!(
                jobs.note_read(0, Some(&before), false),
                SingleJobReadOutcome::Pending
            );
            receive_event(&mut jobs, kind);
            assert_eq!(
                jobs.note_read(0, Some(&after), false),
                SingleJobReadOutcome::Changed
            );
            assert_eq!(jobs.note_passed_state_in_history(0, &after), seen);
        }
    }

    #[test]
    fn periodic_reads_take_turns() {
        let jids = (0..5).map(|at| Name::from(format!("j{at}"))).collect();
        let mut jobs = AwaitedJobs::new(State::Complete, Instant::now(), jids);
        assert_eq!(jobs.next_pending_in_rotation(2), [0, 1]);
        assert_eq!(jobs.next_pending_in_rotation(2), [2, 3]);
        assert_eq!(jobs.next_pending_in_rotation(2), [4, 0]);
        jobs.note_read(2, Some(&job(State::Failed, &["put"])), false);
        assert_eq!(jobs.next_pending_in_rotation(9), [1, 3, 4, 0]);
        assert_eq!((jobs.pending, jobs.reached), (4, 0));
    }
}
