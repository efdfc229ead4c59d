//! Changing recurring jobs.

use std::borrow::Cow;
use std::time::Instant;

use super::guard::GuardReply;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::calls::{RetryClass, SubjectArgs};
use crate::core::call::{Call, Core, calls};
use crate::error::{Error, Kind};
use crate::json::Number;
use crate::json::quote::{quote_array, quote_string};
use crate::model::bulk::OutcomeCode;
use crate::model::coordination::CoordinationOptions;
use crate::model::recur::Recurring;
use crate::name::Name;

/// A recurring job to put. Its numbers are texts, so that no digit of an exported one changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RecurringJobToPut<'t> {
    pub jid: Name,
    pub queue: Name,
    pub klass: Name,
    pub data: Cow<'t, [u8]>,
    /// The interval in seconds.
    pub every: String,
    /// Seconds until the first job is put.
    pub offset: String,
    pub priority: String,
    pub retries: String,
    pub backlog: String,
    pub tags: Vec<Name>,
    /// The options of the jobs that it puts.
    pub coordination: CoordinationOptions<'static>,
}

impl Core {
    /// Puts an exported recurring job, with its next run at the exported time. It replaces the recurring job of this
    /// jid, paused or not: the caller has refused or skipped one that must stay. `note` has its pause and its count
    /// ([`pause_and_count_note`]).
    pub fn import_recurring_job(
        &mut self,
        now: Moment,
        job: &RecurringJobToPut,
        note: &[u8],
    ) -> Result<GuardReply, Error> {
        let (reply,): (GuardReply,) = self.call(now, put_recurring_call(job, Some(note)))?;
        Ok(reply)
    }

    /// Puts a recurring job. If it exists already, replaces everything except its count.
    pub fn put_recurring(
        &mut self,
        now: Moment,
        job: &RecurringJobToPut,
        note: Option<&[u8]>,
    ) -> Result<(), Error> {
        // After a lost reply, read the template, which shows whether the call was applied: a blind repetition could put
        // a second job. Repeat the call only if it was not applied.
        let deadline = Instant::now() + self.call_timeout();
        loop {
            let lost = match self.call(now, put_recurring_call(job, note)) {
                Err(error) if error.kind() == Kind::OutcomeUnknown => error,
                result => return result,
            };
            let found = self.recurring_jobs(now, std::slice::from_ref(&job.jid));
            let Ok(found) = found else {
                return Err(lost);
            };
            if found.iter().flatten().any(|found| job.is_stored_as(found)) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(lost);
            }
        }
    }

    /// Changes options of a recurring job, by their names in the core, and the time of its next run,
    /// if one is given.
    pub fn update_recurring(
        &mut self,
        now: Moment,
        jid: &Name,
        changes: &[(&str, Vec<u8>)],
        next_run: Option<Moment>,
    ) -> Result<(), Error> {
        let next_run = next_run.map_or(String::new(), |at| at.to_string());
        let mut call = recur_call("update", 2).arg(next_run).arg(jid);
        for (name, value) in changes {
            call = call.arg(name).arg(value);
        }
        self.change_recurring_and_get_new_value(now, jid, call)
            .map(drop)
    }

    /// Changes one recurring job, paused or not. The result is the last word of the reply: the time of
    /// the next run, or the tags.
    fn change_recurring_and_get_new_value(
        &mut self,
        now: Moment,
        jid: &Name,
        call: Call,
    ) -> Result<Name, Error> {
        let (reply,): (GuardReply<Vec<Name>>,) = self.call(now, call)?;
        match reply {
            GuardReply::Done(mut words) => Ok(words.pop().unwrap_or_default()),
            GuardReply::Refused(refusal) if refusal.code == OutcomeCode::Gone => {
                let message = format!("recurring job `{jid}` does not exist");
                Err(Error::not_found(message))
            }
            GuardReply::Refused(refusal) => {
                let message = format!("cannot change `{jid}`: {}", refusal.core_refusal_text());
                Err(Error::conflict(message).about_jid(jid))
            }
        }
    }

    /// Pauses recurring jobs: other clients no longer see them.
    pub fn pause_recurring(
        &mut self,
        now: Moment,
        note: &[u8],
        jids: &[Name],
    ) -> Result<Vec<GuardReply>, Error> {
        let call = recur_call("pause", 2).arg(note).args(jids);
        self.call(now, call)
    }

    /// Resumes paused recurring jobs. Each reply has the time of the next run.
    pub fn resume_recurring(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<GuardReply<Vec<Name>>>, Error> {
        let call = recur_call("resume", 1).args(jids);
        self.call(now, call)
    }

    /// Adds tags to a recurring job or removes them. The result is the core's JSON array of all its tags.
    pub fn tag_recurring(
        &mut self,
        now: Moment,
        jid: &Name,
        how: TagChange,
        tags: &[Name],
    ) -> Result<Vec<u8>, Error> {
        let name = match how {
            TagChange::Add => "tag",
            TagChange::Remove => "untag",
        };
        let call = recur_call(name, 1).arg(jid).args(tags);
        let tags = self.change_recurring_and_get_new_value(now, jid, call)?;
        Ok(tags.as_bytes().to_vec())
    }

    /// Removes a recurring job. The jobs that it put stay.
    pub fn remove_recurring(&mut self, now: Moment, jid: &Name, _: Consent) -> Result<(), Error> {
        let call = recur_call("remove", 1).arg(jid);
        self.call(now, call)
    }
}

/// The call that puts a recurring job. With a note ([`pause_and_count_note`]), the recurring job replaces a paused one, and is
/// paused if the note says so.
fn put_recurring_call(job: &RecurringJobToPut, note: Option<&[u8]>) -> Call {
    let tags = quote_array(job.tags.iter().map(Name::as_bytes));
    let words: [&[u8]; 15] = [
        job.queue.as_bytes(),
        job.jid.as_bytes(),
        job.klass.as_bytes(),
        &job.data,
        b"interval",
        job.every.as_bytes(),
        job.offset.as_bytes(),
        b"tags",
        &tags,
        b"priority",
        job.priority.as_bytes(),
        b"retries",
        job.retries.as_bytes(),
        b"backlog",
        job.backlog.as_bytes(),
    ];
    let call = match note {
        None => Call::new(calls::RECUR),
        Some(note) => {
            let spec = calls::GUARD_RECUR.with_wording("put", "putting");
            Call::new(spec.with_subject(SubjectArgs::Jid(3)))
                .arg("put")
                .arg(note)
        }
    };
    let options = job.coordination.option_pairs();
    options.fold(call.args(words), |call, (name, value)| {
        call.arg(name).arg(value)
    })
}

/// The note for the core about a recurring job that is put again: since when it is paused, by whom and why, and the
/// number of jobs that it has put. Its next job gets the next number as the end of its jid, so no jid is used twice.
pub(crate) fn pause_and_count_note(
    paused_since: Option<Moment>,
    by: Option<&Name>,
    reason: Option<&Name>,
    count: u64,
) -> Vec<u8> {
    let mut note = format!("{{\"count\":{count}").into_bytes();
    if let Some(since) = paused_since {
        note.extend(format!(",\"since\":{since}").bytes());
    }
    for (name, text) in [("by", by), ("reason", reason)] {
        if let Some(text) = text {
            note.extend(format!(",\"{name}\":").bytes());
            note.extend(quote_string(text.as_bytes()));
        }
    }
    note.push(b'}');
    note
}

/// A call that changes recurring jobs. `jid_index`: the index of the first jid among its arguments.
fn recur_call(verb: &'static str, jid_index: usize) -> Call {
    let spec = match verb {
        "pause" => calls::GUARD_RECUR.with_wording("pause", "pausing"),
        "resume" => calls::GUARD_RECUR.with_wording("resume", "resuming"),
        "remove" => calls::GUARD_RECUR.with_wording("remove", "removing"),
        _ => calls::GUARD_RECUR,
    };
    let spec = spec
        .with_retry_class(RetryClass::Idempotent)
        .with_subject(SubjectArgs::Jid(jid_index));
    Call::new(spec).arg(verb)
}

impl RecurringJobToPut<'_> {
    fn is_stored_as(&self, found: &Recurring) -> bool {
        let number = |text: &str| Number::from_decimal(text.as_bytes());
        found.queue.as_ref() == Some(&self.queue)
            && found.klass.as_ref() == Some(&self.klass)
            && found.data.as_bytes() == &*self.data
            && found.tags == self.tags
            && found.every_s == number(&self.every)
            && found.priority == number(&self.priority)
            && found.retries == number(&self.retries)
            && found.backlog == number(&self.backlog)
    }
}

/// Whether to add or remove tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChange {
    Add,
    Remove,
}
