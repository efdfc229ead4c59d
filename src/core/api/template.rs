//! Changing recurring jobs.

use std::time::{Duration, Instant};

use crate::clock::duration::seconds;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::call_spec::{RetryClass, Subject};
use crate::core::call::reply;
use crate::core::call::{Call, Core};
use crate::error::{Error, Kind};
use crate::json::Number;
use crate::json::quote::array;
use crate::model::recur::Recurring;
use crate::name::Name;

/// A recurring job to put.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    pub jid: Name,
    pub queue: Name,
    pub klass: Name,
    pub data: Vec<u8>,
    pub every: Duration,
    /// Seconds until the first job is put.
    pub offset: f64,
    pub priority: i64,
    pub retries: u64,
    pub backlog: u64,
    pub tags: Vec<Name>,
}

/// A recurring job from an export, with its numbers digit by digit.
#[derive(Clone, Copy, Debug)]
pub struct ExportedTemplate<'t> {
    pub jid: &'t Name,
    pub queue: &'t Name,
    pub klass: &'t Name,
    pub data: &'t [u8],
    pub every: &'t str,
    pub next: Moment,
    pub priority: &'t str,
    pub retries: &'t str,
    pub backlog: &'t str,
    pub tags: &'t [Name],
}

impl Core {
    /// Puts an exported recurring job, with its next run at the exported time.
    pub fn import_template(&mut self, now: Moment, job: &ExportedTemplate) -> Result<(), Error> {
        let offset = job.next.since(now).to_string();
        let tags = array(job.tags.iter().map(Name::as_bytes));
        let words: [&[u8]; 15] = [
            job.queue.as_bytes(),
            job.jid.as_bytes(),
            job.klass.as_bytes(),
            job.data,
            b"interval",
            job.every.as_bytes(),
            offset.as_bytes(),
            b"tags",
            &tags,
            b"priority",
            job.priority.as_bytes(),
            b"retries",
            job.retries.as_bytes(),
            b"backlog",
            job.backlog.as_bytes(),
        ];
        self.call(now, recur_call(&words)).map(drop)
    }

    /// Puts a recurring job. If it exists, only its count stays.
    pub fn recur(&mut self, now: Moment, job: &Template) -> Result<(), Error> {
        let every = seconds(job.every);
        let offset = job.offset.to_string();
        let tags = array(job.tags.iter().map(Name::as_bytes));
        let priority = job.priority.to_string();
        let (retries, backlog) = (job.retries.to_string(), job.backlog.to_string());
        let words: [&[u8]; 15] = [
            job.queue.as_bytes(),
            job.jid.as_bytes(),
            job.klass.as_bytes(),
            &job.data,
            b"interval",
            every.as_bytes(),
            offset.as_bytes(),
            b"tags",
            &tags,
            b"priority",
            priority.as_bytes(),
            b"retries",
            retries.as_bytes(),
            b"backlog",
            backlog.as_bytes(),
        ];
        // To repeat the call could put a second job. So after a lost reply the stored template decides.
        let deadline = Instant::now() + self.call_timeout();
        loop {
            let lost = match self.call(now, recur_call(&words)) {
                Err(error) if error.kind() == Kind::Unknown => error,
                result => return result.map(drop),
            };
            let found = self.recurs(now, std::slice::from_ref(&job.jid));
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

    /// Changes options of a recurring job, by their names in the core.
    pub fn recur_update(
        &mut self,
        now: Moment,
        jid: &Name,
        changes: &[(&str, Vec<u8>)],
    ) -> Result<(), Error> {
        let mut call = change_call("recur.update", jid);
        for (name, value) in changes {
            call = call.arg(name).arg(value);
        }
        self.call(now, call).map(drop)
    }

    /// Adds or removes tags of a recurring job. The reply is the core's own, a JSON array.
    pub fn recur_tag(
        &mut self,
        now: Moment,
        jid: &Name,
        how: Tagging,
        tags: &[Name],
    ) -> Result<Vec<u8>, Error> {
        let name = match how {
            Tagging::Add => "recur.tag",
            Tagging::Remove => "recur.untag",
        };
        reply::bytes(self.call(now, change_call(name, jid).args(tags))?)
    }

    /// Removes a recurring job. The jobs that it put stay.
    pub fn unrecur(&mut self, now: Moment, jid: &Name, _: Consent) -> Result<(), Error> {
        let call = Call::write("unrecur", RetryClass::Idempotent, "remove", "removing");
        self.call(now, call.jid(jid)).map(drop)
    }
}

/// Returns the call that puts a recurring job: its queue and jid come first.
fn recur_call(words: &[&[u8]]) -> Call {
    let call = Call::write("recur", RetryClass::Never, "put", "putting");
    call.args(words).about(Subject::Jid(1))
}

fn change_call(name: &'static str, jid: &Name) -> Call {
    Call::write(name, RetryClass::Idempotent, "change", "changing").jid(jid)
}

impl Template {
    /// Returns whether the stored template is this one.
    fn is_stored_as(&self, found: &Recurring) -> bool {
        let number = |stored: &Option<Number>| stored.map(|number| number.0);
        found.queue.as_ref() == Some(&self.queue)
            && found.klass.as_ref() == Some(&self.klass)
            && found.data.as_bytes() == self.data
            && found.tags == self.tags
            && number(&found.every_s) == Some(self.every.as_secs_f64())
            && number(&found.priority) == Some(self.priority as f64)
            && number(&found.retries) == Some(self.retries as f64)
            && number(&found.backlog) == Some(self.backlog as f64)
    }
}

/// Whether to add or remove tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    Add,
    Remove,
}
