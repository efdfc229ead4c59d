//! A job of an export, as a job to put.

use std::borrow::Cow;

use super::{FailedPolicy, PlannedJobImporter};
use crate::args::moment::MomentArg;
use crate::clock::moment::Moment;
use crate::core::api::template;
use crate::input::archive::{ArchivedFailure, ArchivedJob, ArchivedRecurring, FiniteNumber};
use crate::input::line::{Dependency, NewJid, NewJob, NewName};
use crate::json::quote::{quote_array, quote_string};
use crate::model::coordination::CoordinationOption;
use crate::model::job::State;
use crate::name::Name;

impl PlannedJobImporter<'_> {
    /// The job to put for one of the export.
    pub(super) fn job_to_put<'j>(&'j self, job: &'j ArchivedJob) -> NewJob<'j> {
        let bytes = |name: &'j Name| Cow::Borrowed(name.as_bytes());
        let number = |FiniteNumber(text): FiniteNumber<'j>| Cow::Borrowed(text.as_bytes());
        let failed = job.state == State::Failed;
        let keeps_failure = failed && self.options.failed == FailedPolicy::Keep;
        let failure = job.failure.as_ref().filter(|_| keeps_failure);
        let mut new = NewJob {
            queue: (job.queue.as_ref())
                .map(|queue| NewName(bytes(self.options.mapped_queue(queue)))),
            klass: Some(NewName(bytes(&job.klass))),
            data: Some(Cow::Borrowed(&*job.data)),
            jid: NewJid::Given(bytes(&job.jid)),
            priority: job.priority.map(number),
            retries: job.retries.map(number),
            tags: Some(job.tags.iter().map(|tag| NewName(bytes(tag))).collect()),
            ..NewJob::default()
        };
        let mut past = |name, value: Vec<u8>| new.past.push((name, Cow::Owned(value)));
        // A failed job that `--failed waiting` puts to run again gets all its retries.
        if let Some(remaining) = job.remaining.filter(|_| !failed || failure.is_some()) {
            past("remaining", remaining.to_string().into());
        }
        past(
            "history",
            quote_array(job.history_entries_and_unreadable_count().0),
        );
        if let Some(template) = &job.spawned_from {
            past("spawned_from_jid", template.as_bytes().to_vec());
        }
        if let Some(note) = &self.note {
            past("note", note.clone());
        }
        if let Some(failure) = failure {
            past("failed", failure_document(failure));
        } else {
            let waits = |jid: &&Name| self.contents.can_be_dependency(jid, &self.missing);
            let depends = job.depends.iter().filter(waits);
            let depends: Vec<_> = depends.map(|jid| Dependency(bytes(jid))).collect();
            new.depends = (!depends.is_empty()).then_some(Cow::Owned(depends));
            let runs = matches!(job.state, State::Running | State::Stalled);
            new.at = job
                .due_time()
                .filter(|_| !runs && !failed)
                .map(MomentArg::At);
        }
        self.add_coordination_options(job, &mut new);
        new
    }

    /// The lane of a job after `--map-queue`: the queue at the beginning of its name is renamed. A lane for all
    /// queues has none. The queue of the lane is not that of the job if the job was moved after it got its key.
    fn mapped_lane(&self, lane: &Name, queue: Option<&Name>) -> Vec<u8> {
        let text = lane.as_bytes();
        let renamed = |old: &Name| {
            let key = text.strip_prefix(old.as_bytes())?;
            let new = self.options.mapped_queue(old).as_bytes();
            key.starts_with(b"/").then(|| [new, key].concat())
        };
        if text.starts_with(b"/") {
            return text.to_vec();
        }
        let mut others = self.options.map.iter();
        let found = queue
            .and_then(renamed)
            .or_else(|| others.find_map(|(old, _)| renamed(old)));
        found.unwrap_or_else(|| text.to_vec())
    }

    /// Adds the options that coordinate a job with others: throttles, back-off, lane and merging.
    fn add_coordination_options<'j>(&self, job: &'j ArchivedJob, new: &mut NewJob<'j>) {
        let NewJob {
            coordination, past, ..
        } = new;
        if !job.throttles.is_empty() {
            coordination.set_option(CoordinationOption::Throttles, quote_array(&job.throttles));
        }
        if let Some(backoff) = &job.backoff {
            coordination.set_option(CoordinationOption::Backoff, backoff.as_bytes());
        }
        let Some(lane) = &job.key else {
            return;
        };
        let lane = self.mapped_lane(lane, job.queue.as_ref());
        past.push(("lane", Cow::Owned(lane)));
        if job.hold == Some(true) {
            coordination.set_option(CoordinationOption::Hold, &b"1"[..]);
        }
        if !job.is_merge_job() {
            return;
        }
        coordination.set_option(CoordinationOption::Dup, &b"merge"[..]);
        if let Some(rescore) = &job.rescore {
            coordination.set_option(CoordinationOption::Rescore, rescore.as_bytes());
        }
        let mut payloads = vec![b'['];
        for payload in job.payloads.iter().flatten() {
            if payloads.len() > 1 {
                payloads.push(b',');
            }
            payloads.push(b'[');
            payloads.extend(quote_string(&payload.data));
            payloads.push(b',');
            payloads.extend(payload.score.0.as_bytes());
            payloads.push(b']');
        }
        payloads.push(b']');
        past.push(("payloads", Cow::Owned(payloads)));
    }
}

/// A failure as the core takes it.
fn failure_document(failure: &ArchivedFailure) -> Vec<u8> {
    let mut text = b"{\"group\":".to_vec();
    text.extend(quote_string(failure.group.as_bytes()));
    text.extend(b",\"message\":");
    text.extend(quote_string(failure.message.as_bytes()));
    text.extend(format!(",\"when\":{},\"worker\":", failure.when).bytes());
    text.extend(quote_string(failure.worker.as_bytes()));
    text.push(b'}');
    text
}

/// A recurring job of the file, to be put into `queue`.
pub(super) fn recurring_to_put<'t>(
    recurring: &'t ArchivedRecurring,
    queue: Name,
    now: Moment,
) -> template::RecurringJobToPut<'t> {
    let number = |number: Option<FiniteNumber>, default: &str| {
        number.map_or(default, |FiniteNumber(text)| text).to_owned()
    };
    let next = recurring.next_run_if_given().unwrap_or(now);
    template::RecurringJobToPut {
        jid: recurring.jid.clone(),
        queue,
        klass: recurring.klass.clone(),
        data: Cow::Borrowed(&*recurring.data),
        every: recurring.every.0.to_owned(),
        offset: next.since(now).to_string(),
        priority: number(recurring.priority, "0"),
        retries: number(recurring.retries, "5"),
        backlog: number(recurring.backlog, "0"),
        tags: recurring.tags.clone(),
        coordination: recurring.coordination.clone(),
    }
}

/// The pause and the count of a recurring job, as the core takes them.
pub(super) fn recurring_pause_and_count_json(recurring: &ArchivedRecurring) -> Vec<u8> {
    let by = recurring.paused_by.as_ref();
    let reason = recurring.paused_reason.as_ref();
    template::pause_and_count_note(
        recurring.paused_since,
        by,
        reason,
        recurring.spawned_job_count(),
    )
}
