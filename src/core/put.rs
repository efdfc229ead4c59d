//! Submitting a job, and pausing queues.

use std::time::Duration;

use super::guard::{Outcome, outcomes};
use super::{Core, reply};
use crate::cli::value::seconds;
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::quote::{array, quote};

/// A job to be put. What is absent is left to the core: its default, or for a job that is put
/// again what it had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Put {
    pub queue: Name,
    pub klass: Name,
    pub jid: Name,
    pub data: Vec<u8>,
    pub delay: Option<Duration>,
    pub at: Option<Moment>,
    pub priority: Option<i64>,
    pub retries: Option<u64>,
    pub tags: Option<Vec<Name>>,
    pub depends: Vec<Name>,
    pub spawned_from: Option<Name>,
}

/// What to do where not all is as wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// Put a job again that exists.
    pub replace: bool,
    /// Wait only for those dependencies that exist.
    pub allow_missing: bool,
}

impl Core {
    /// Puts one job, if it may.
    pub fn put(&mut self, now: Moment, policy: Policy, job: &Put) -> Result<Outcome, Error> {
        let missing = match policy.allow_missing {
            true => "allow",
            false => "refuse",
        };
        let policy = format!(r#"{{"replace":{},"missing":"{missing}"}}"#, policy.replace);
        let delay = job.delay.map_or("0".into(), seconds);
        let mut words: Vec<Vec<u8>> = vec![
            job.queue.as_bytes().to_vec(),
            job.jid.as_bytes().to_vec(),
            job.klass.as_bytes().to_vec(),
            job.data.clone(),
            delay.into_bytes(),
        ];
        let mut option = |name: &str, value: Vec<u8>| words.extend([name.into(), value]);
        if let Some(at) = job.at {
            option("at", at.to_string().into_bytes());
        }
        if let Some(priority) = job.priority {
            option("priority", priority.to_string().into_bytes());
        }
        if let Some(retries) = job.retries {
            option("retries", retries.to_string().into_bytes());
        }
        if let Some(tags) = &job.tags {
            option("tags", array(tags.iter().map(Name::as_bytes)));
        }
        if !job.depends.is_empty() {
            option("depends", array(job.depends.iter().map(Name::as_bytes)));
        }
        if let Some(template) = &job.spawned_from {
            option("spawned_from_jid", template.as_bytes().to_vec());
        }
        let count = words.len().to_string();
        let mut call: Vec<&[u8]> = vec![policy.as_bytes(), count.as_bytes()];
        call.extend(words.iter().map(Vec::as_slice));
        let mut outcomes = outcomes(self.call(now, "guard.put", &call)?)?;
        outcomes
            .pop()
            .ok_or_else(|| reply::unexpected("an outcome"))
    }

    /// Pauses queues, for good or until a moment.
    pub fn pause(
        &mut self,
        now: Moment,
        queues: &[Name],
        until: Option<Moment>,
        reason: Option<&Name>,
        by: &str,
    ) -> Result<(), Error> {
        let until = until.map_or(String::new(), |until| until.to_string());
        let mut note = b"{\"by\":".to_vec();
        note.extend(quote(by.as_bytes()));
        if let Some(reason) = reason {
            note.extend(b",\"reason\":");
            note.extend(quote(reason.as_bytes()));
        }
        note.push(b'}');
        let mut words: Vec<&[u8]> = vec![until.as_bytes(), &note];
        words.extend(queues.iter().map(Name::as_bytes));
        self.call(now, "guard.pause", &words).map(drop)
    }

    /// Lets pops take from queues again.
    pub fn unpause(&mut self, now: Moment, queues: &[Name]) -> Result<(), Error> {
        let words: Vec<&[u8]> = queues.iter().map(Name::as_bytes).collect();
        self.call(now, "unpause", &words).map(drop)
    }
}
