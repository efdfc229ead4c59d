//! Changing many jobs: list, plan, confirm, act in slices, report.
//!
//! A command looks at the jobs it was told and puts those that it may change into a [`Plan`]. What
//! it cannot change is refused there: an error where one job was named, else an item of the
//! report. [`Plan::run`] acts on the rest in slices, each job guarded by what was seen of it.

use crate::error::{Error, Kind};
use crate::input::jids::Told;
use crate::model::bulk::{Code, Item, Shows};
use crate::model::name::Name;
use crate::model::seen::Seen;
use crate::view::text::clean;

mod act;
mod exit;
mod report;

pub use report::Report;

/// As many jobs as are changed between two looks at the clock and at signals.
pub const SLICE: usize = 200;

/// What is done to the jobs.
#[derive(Debug)]
pub struct Verb {
    /// The document's `action`, as it is typed: `retry`.
    pub word: &'static str,
    /// What was done: `retried`.
    pub past: &'static str,
    /// What is printed of each job; nothing where this is empty.
    pub shows: Shows,
}

/// What became of a job, and what is said and printed of it.
#[derive(Clone, Debug)]
pub struct Fate {
    pub item: Item,
    /// What to do about a refusal.
    pub hint: Option<String>,
    /// What the table shows besides the jid.
    pub cells: Vec<Name>,
    /// The reply of the reference's command of this name.
    pub raw: Vec<u8>,
    /// Whether it was not told, but went with one that was.
    pub along: bool,
}

impl From<Item> for Fate {
    fn from(item: Item) -> Fate {
        Fate {
            item,
            hint: None,
            cells: Vec::new(),
            raw: Vec::new(),
            along: false,
        }
    }
}

impl Fate {
    /// A job that was changed.
    pub fn done(jid: &Name) -> Fate {
        Item::new(jid, Code::Ok).into()
    }

    /// A job that was not: why, as the end of a sentence that begins with it.
    pub fn refused(jid: &Name, code: Code, why: impl Into<String>) -> Fate {
        Item::new(jid, code).detail(why).into()
    }

    /// A job that does not exist.
    pub fn gone(jid: &Name) -> Fate {
        Fate::refused(jid, Code::Gone, "there is no such job")
    }

    /// A job that was changed by others since it was seen.
    pub fn changed(jid: &Name) -> Fate {
        Fate::refused(jid, Code::StateChanged, "it changed meanwhile")
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Fate {
        self.hint = Some(hint.into());
        self
    }

    pub fn seen(mut self, seen: &Seen) -> Fate {
        self.item.queue = seen.queue.clone();
        self.item.state_before = Some(seen.state.clone());
        self
    }

    pub fn now(mut self, state: &str) -> Fate {
        self.item.state_after = Some(state.into());
        self
    }

    pub fn cells(mut self, cells: impl IntoIterator<Item = Name>) -> Fate {
        self.cells = cells.into_iter().collect();
        self
    }

    pub fn raw(mut self, raw: impl Into<Vec<u8>>) -> Fate {
        self.raw = raw.into();
        self
    }

    pub fn along(mut self) -> Fate {
        self.along = true;
        self
    }

    /// Returns a refusal as the error of a command that named this one job.
    fn error(&self, verb: &Verb) -> Error {
        let jid = clean(self.item.jid.as_bytes());
        let why = self.item.detail.as_deref().unwrap_or("it was refused");
        let kind = exit::kind(self.item.code);
        let error = Error::new(kind, format!("cannot {} `{jid}`: {why}", verb.word));
        let error = error.jid(&self.item.jid);
        match &self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// The jobs that a command may change, and what became of the others.
#[derive(Debug)]
pub struct Plan {
    verb: &'static Verb,
    /// Whether one job was named: then a refusal is an error.
    one: bool,
    dry_run: bool,
    refused: Vec<Fate>,
    jobs: Vec<Seen>,
}

impl Plan {
    pub fn new(verb: &'static Verb, told: &Told, dry_run: bool) -> Plan {
        Plan {
            verb,
            one: matches!(told, Told::One(_)),
            dry_run,
            refused: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// Takes a job to be changed.
    pub fn take(&mut self, job: Seen) {
        self.jobs.push(job);
    }

    /// Leaves a job out.
    pub fn refuse(&mut self, fate: Fate) {
        self.refused.push(fate);
    }

    /// Takes those jobs that `judge` lets pass.
    pub fn judge(
        &mut self,
        told: &Told,
        seen: Vec<Option<Seen>>,
        judge: impl Fn(&Seen) -> Result<(), Fate>,
    ) {
        for (jid, seen) in told.jids().iter().zip(seen) {
            match seen {
                None => self.refuse(Fate::gone(jid)),
                Some(seen) => match judge(&seen) {
                    Ok(()) => self.take(seen),
                    Err(fate) => self.refuse(fate.seen(&seen)),
                },
            }
        }
    }

    pub fn jobs(&self) -> &[Seen] {
        &self.jobs
    }

    pub fn one(&self) -> bool {
        self.one
    }

    pub fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the refusal of the one job that was named.
    pub fn refusal(&self) -> Result<(), Error> {
        match self.refused.first() {
            Some(fate) if self.one => Err(fate.error(self.verb)),
            _ => Ok(()),
        }
    }
}

/// Returns the code of an error that ended a call.
fn code(error: &Error) -> Code {
    match error.kind() {
        Kind::Unknown => Code::Unknown,
        _ => Code::Server,
    }
}
