//! Small changes to many jobs in one round trip: priority, tags, tracking, lock taken away.
//! Each job has its own outcome.

use super::call::{Call, Value};
use super::{Core, reply};
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;

/// What became of each job.
pub type Each<T> = Vec<Result<T, Error>>;

impl Core {
    /// Gives jobs another priority.
    pub fn priority(&mut self, now: Moment, jids: &[&Name], to: i64) -> Each<i64> {
        let call = |jid: &Name| {
            Call::new("priority")
                .arg(jid.as_bytes())
                .arg(to.to_string())
        };
        self.each(now, jids, call, reply::integer)
    }

    /// Adds or removes tags; the replies are the core's own, JSON arrays.
    pub fn tag(
        &mut self,
        now: Moment,
        jids: &[&Name],
        how: Tagging,
        tags: &[Name],
    ) -> Each<Vec<u8>> {
        let call = |jid: &Name| {
            Call::new("tag")
                .arg(how.word())
                .arg(jid.as_bytes())
                .args(tags.iter().map(Name::as_bytes))
        };
        self.each(now, jids, call, reply::bytes)
    }

    /// Tracks jobs, or no longer; returns whether that changed anything.
    pub fn track(&mut self, now: Moment, jids: &[&Name], tracked: bool) -> Each<bool> {
        let how = if tracked { "track" } else { "untrack" };
        let call = |jid: &Name| Call::new("track").arg(how).arg(jid.as_bytes());
        self.each(now, jids, call, |value| Ok(reply::integer(value)? != 0))
    }

    /// Takes the locks of running jobs away.
    pub fn timeout(&mut self, now: Moment, jids: &[&Name]) -> Each<()> {
        let call = |jid: &Name| Call::new("timeout").arg(jid.as_bytes());
        self.each(now, jids, call, |_| Ok(()))
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

    /// Makes one call for each job.
    pub(super) fn each<T>(
        &mut self,
        now: Moment,
        jids: &[&Name],
        call: impl Fn(&Name) -> Call,
        read: impl Fn(Value) -> Result<T, Error>,
    ) -> Each<T> {
        let calls: Vec<Call> = jids.iter().map(|jid| call(jid)).collect();
        let replies = self.calls(now, &calls);
        replies.into_iter().map(|reply| read(reply?)).collect()
    }
}

/// Whether tags are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    Add,
    Remove,
}

impl Tagging {
    const fn word(self) -> &'static str {
        match self {
            Tagging::Add => "add",
            Tagging::Remove => "remove",
        }
    }
}
