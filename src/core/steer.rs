//! Small changes to jobs: priority, tags, tracking, log, dependencies that are dropped.

use super::{Core, reply};
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;

impl Core {
    /// Gives a job another priority.
    pub fn priority(&mut self, now: Moment, jid: &Name, to: i64) -> Result<(), Error> {
        let to = to.to_string();
        self.call(now, "priority", &[jid.as_bytes(), to.as_bytes()])
            .map(drop)
    }

    /// Adds or removes tags of a job; the reply is the core's own, a JSON array.
    pub fn tag(
        &mut self,
        now: Moment,
        how: Tagging,
        jid: &Name,
        tags: &[Name],
    ) -> Result<Vec<u8>, Error> {
        let how: &[u8] = match how {
            Tagging::Add => b"add",
            Tagging::Remove => b"remove",
        };
        let mut words: Vec<&[u8]> = vec![how, jid.as_bytes()];
        words.extend(tags.iter().map(Name::as_bytes));
        reply::bytes(self.call(now, "tag", &words)?)
    }

    /// Tracks a job, or no longer; returns whether that changed anything.
    pub fn track(&mut self, now: Moment, jid: &Name, tracked: bool) -> Result<bool, Error> {
        let how: &[u8] = match tracked {
            true => b"track",
            false => b"untrack",
        };
        let changed = reply::integer(self.call(now, "track", &[how, jid.as_bytes()])?)?;
        Ok(changed != 0)
    }

    /// Appends to a job's history.
    pub fn log(
        &mut self,
        now: Moment,
        jid: &Name,
        message: &Name,
        data: Option<&[u8]>,
    ) -> Result<(), Error> {
        let mut words: Vec<&[u8]> = vec![jid.as_bytes(), message.as_bytes()];
        words.extend(data);
        self.call(now, "log", &words).map(drop)
    }

    /// Lets a job no longer wait for these.
    pub fn undepend(&mut self, now: Moment, jid: &Name, off: &[Name]) -> Result<(), Error> {
        let mut words: Vec<&[u8]> = vec![jid.as_bytes(), b"off"];
        words.extend(off.iter().map(Name::as_bytes));
        self.call(now, "depends", &words).map(drop)
    }

    /// Lets a job no longer wait for anything.
    pub fn undepend_all(&mut self, now: Moment, jid: &Name) -> Result<(), Error> {
        self.call(now, "depends", &[jid.as_bytes(), b"off", b"all"])
            .map(drop)
    }
}

/// Whether tags are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    Add,
    Remove,
}
