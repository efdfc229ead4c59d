//! A job of an export, packed for the call that puts it again.

use std::collections::HashSet;

use super::check::ArchiveContents;
use super::{FailedPolicy, ImportOptions};
use crate::bulk::JobOutcome;
use crate::clock::moment::Moment;
use crate::core::api::put::{PackedJob, Puts};
use crate::core::api::template;
use crate::input::archive::{ArchivedJob, ArchivedTemplate, Number};
use crate::json::quote::{array, quote};
use crate::model::coordination::CoordinationOption;
use crate::model::job::State;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;

/// The options for packing jobs.
#[derive(Clone, Copy)]
pub(super) struct PackOptions<'h> {
    pub contents: &'h ArchiveContents,
    pub options: &'h ImportOptions,
    pub missing: &'h HashSet<Name>,
    pub note: Option<&'h [u8]>,
}

/// A job that was packed.
pub(super) struct PackedEntry {
    pub jid: Name,
    queue: Name,
    state: State,
    line: u64,
    pub tracked: bool,
}

impl PackedEntry {
    /// Adds queue, line and state from the file to an outcome.
    pub(super) fn complete_outcome(&self, mut outcome: JobOutcome) -> JobOutcome {
        outcome.item.queue = Some(self.queue.clone());
        outcome.item.line = Some(self.line);
        outcome.item.state_before = Some(self.state.into_str().into());
        outcome
    }

    pub(super) fn snapshot(&self) -> JobSnapshot {
        JobSnapshot {
            jid: self.jid.clone(),
            ..JobSnapshot::default()
        }
    }
}

impl PackOptions<'_> {
    /// Adds a job to a call.
    pub(super) fn pack(&self, job: &ArchivedJob, line: u64, put: &mut Puts) -> PackedEntry {
        let queue = job.queue.clone().unwrap_or_default();
        let queue = self.options.queue(&queue).clone();
        let failed = job.state == State::Failed;
        let failure = job
            .failure
            .as_ref()
            .filter(|_| failed && self.options.failed == FailedPolicy::Keep);
        let mut options: Vec<(&'static str, Vec<u8>)> = Vec::new();
        let mut option = |name, value: Vec<u8>| options.push((name, value));
        if let Some(Number(priority)) = job.priority {
            option("priority", priority.into());
        }
        if let Some(Number(retries)) = job.retries {
            option("retries", retries.into());
        }
        // A failed job that is to run again gets fresh retries.
        if let Some(remaining) = job.remaining.filter(|_| !failed || failure.is_some()) {
            option("remaining", remaining.to_string().into());
        }
        option("tags", array(&job.tags));
        option("history", array(job.history().0));
        if let Some(template) = &job.spawned_from {
            option("spawned_from_jid", template.as_bytes().to_vec());
        }
        match failure {
            Some(failure) => {
                let mut text = b"{\"group\":".to_vec();
                text.extend(quote(failure.group.as_bytes()));
                text.extend(b",\"message\":");
                text.extend(quote(failure.message.as_bytes()));
                text.extend(format!(",\"when\":{},\"worker\":", failure.when).bytes());
                text.extend(quote(failure.worker.as_bytes()));
                text.push(b'}');
                option("failed", text);
            }
            None => {
                let waits = |jid: &&Name| self.contents.is_dependency(jid, self.missing);
                let depends: Vec<&Name> = job.depends.iter().filter(waits).collect();
                if !depends.is_empty() {
                    option("depends", array(depends));
                }
                let runs = matches!(job.state, State::Running | State::Stalled);
                if let Some(due) = job.due().filter(|_| !runs && !failed) {
                    option("at", due.to_string().into());
                }
            }
        }
        self.coordination(job, &queue, &mut option);
        if let Some(note) = self.note {
            option("note", note.to_vec());
        }
        let options: Vec<(&'static str, &[u8])> = options
            .iter()
            .map(|(name, value)| (*name, &value[..]))
            .collect();
        put.add(&PackedJob {
            queue: queue.as_bytes(),
            jid: job.jid.as_bytes(),
            klass: job.klass.as_bytes(),
            data: &job.data,
            delay: b"0",
            options: &options,
        });
        PackedEntry {
            jid: job.jid.clone(),
            queue,
            state: job.state,
            line,
            tracked: job.tracked == Some(true),
        }
    }
}

impl PackOptions<'_> {
    /// Returns a lane with the new name of its queue, unless it is that of all queues. A job that was
    /// moved after it got its key has a lane of another queue.
    fn lane(&self, lane: &Name, queue: &Name) -> Vec<u8> {
        let text = lane.as_bytes();
        let renamed = |old: &Name| {
            let key = text.strip_prefix(old.as_bytes())?;
            let new = self.options.queue(old).as_bytes();
            key.starts_with(b"/").then(|| [new, key].concat())
        };
        if text.starts_with(b"/") {
            return text.to_vec();
        }
        let mut others = self.options.map.iter();
        let found = renamed(queue).or_else(|| others.find_map(|(old, _)| renamed(old)));
        found.unwrap_or_else(|| text.to_vec())
    }

    /// Adds the options that coordinate a job with others.
    fn coordination(
        &self,
        job: &ArchivedJob,
        queue: &Name,
        option: &mut impl FnMut(&'static str, Vec<u8>),
    ) {
        let mut set = |of: CoordinationOption, value: Vec<u8>| option(of.into_str(), value);
        if !job.throttles.is_empty() {
            set(CoordinationOption::Throttles, array(&job.throttles));
        }
        if let Some(backoff) = &job.backoff {
            set(CoordinationOption::Backoff, backoff.as_bytes().to_vec());
        }
        let Some(lane) = &job.key else {
            return;
        };
        let lane = self.lane(lane, job.queue.as_ref().unwrap_or(queue));
        option("lane", lane);
        let mut set = |of: CoordinationOption, value: Vec<u8>| option(of.into_str(), value);
        if job.hold == Some(true) {
            set(CoordinationOption::Hold, b"1".to_vec());
        }
        if !job.is_merge() {
            return;
        }
        set(CoordinationOption::Dup, b"merge".to_vec());
        if let Some(rescore) = &job.rescore {
            set(CoordinationOption::Rescore, rescore.as_bytes().to_vec());
        }
        let mut payloads = vec![b'['];
        for payload in job.payloads.iter().flatten() {
            if payloads.len() > 1 {
                payloads.push(b',');
            }
            payloads.push(b'[');
            payloads.extend(quote(&payload.data));
            payloads.push(b',');
            payloads.extend(payload.score.0.as_bytes());
            payloads.push(b']');
        }
        payloads.push(b']');
        option("payloads", payloads);
    }
}

/// Returns a recurring job as the call that makes it again takes it.
pub(super) fn template<'t>(
    recurring: &'t ArchivedTemplate,
    queue: &'t Name,
    now: Moment,
    pause: Option<&'t [u8]>,
) -> template::ExportedTemplate<'t> {
    template::ExportedTemplate {
        jid: &recurring.jid,
        queue,
        klass: &recurring.klass,
        data: &recurring.data,
        every: recurring.every.0,
        next: recurring.next().unwrap_or(now),
        priority: recurring.priority.map_or("0", |number| number.0),
        retries: recurring.retries.map_or("5", |number| number.0),
        backlog: recurring.backlog.map_or("0", |number| number.0),
        tags: &recurring.tags,
        coordination: &recurring.coordination,
        pause,
    }
}

/// Returns the note for the core if the recurring job, or the one it replaces, is paused.
pub(super) fn pause_note(recurring: &ArchivedTemplate, replaces_paused: bool) -> Option<Vec<u8>> {
    let Some(since) = recurring.paused_since else {
        return replaces_paused.then(|| b"{}".to_vec());
    };
    let (by, reason) = (
        recurring.paused_by.as_ref(),
        recurring.paused_reason.as_ref(),
    );
    Some(template::pause_note(since, by, reason))
}
