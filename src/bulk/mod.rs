//! Changing many jobs: list, plan, confirm, act in slices, report.
//!
//! A command looks at the jobs it was told and puts those that it may change into a [`Plan`]. What
//! it cannot change is refused there: an error where one job was named, else an item of the
//! report. [`Plan::run`] acts on the rest in slices, each job guarded by what was seen of it.

use std::collections::HashSet;

use crate::cli::shared::Targets;
use crate::core::guard::Outcome;
use crate::core::job::Tell;
use crate::core::refusal::{self, Refusal};
use crate::core::steer::Each;
use crate::cx::Cx;
use crate::error::{Error, Kind};
use crate::input::jids::{self, Told};
use crate::input::source::Source;
use crate::model::bulk::{Code, Item, Shows};
use crate::model::job::{Job, State};
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::seen::Seen;
use crate::select;
use crate::view::Page;
use crate::view::bulk::by_queue;
use crate::view::text::{clean, plural};
use crate::who;

mod act;
pub mod cancel;
mod exit;
pub mod held;
mod report;
pub mod requeue;

pub use report::Report;

/// As many jobs as are changed between two looks at the clock and at signals.
pub const SLICE: usize = 200;

/// What is done to the jobs.
#[derive(Debug)]
pub struct Verb {
    /// The document's `action`, as it is typed: `retry`.
    pub word: &'static str,
    /// What is proposed: `time out`.
    pub asks: &'static str,
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
        Fate::refused(jid, Code::Gone, "it does not exist")
    }

    /// A job that was changed by others since it was seen.
    pub fn changed(jid: &Name) -> Fate {
        Fate::refused(jid, Code::StateChanged, "it changed meanwhile")
    }

    /// A job whose own call ended in an error that says why.
    pub fn refused_by(jid: &Name, error: &Error) -> Option<Fate> {
        Some(match refusal::of(error, jid)? {
            Refusal::Gone => Fate::gone(jid),
            Refusal::State(None) => Fate::refused(jid, Code::StateChanged, "it is not running"),
            Refusal::State(Some(state)) => {
                Fate::refused(jid, Code::StateChanged, format!("it is {}", clean(state)))
            }
            Refusal::Queue(queue) => {
                let why = format!("it runs in `{}`", clean(queue));
                Fate::refused(jid, Code::StateChanged, why)
            }
            Refusal::Holder(worker) => Fate::held_by(jid, worker),
        })
    }

    /// A job that another worker holds.
    pub fn held_by(jid: &Name, worker: impl AsRef<[u8]>) -> Fate {
        let why = format!("it is held by `{}`", clean(worker));
        Fate::refused(jid, Code::NotHolder, why)
            .hint("`--as-holder` acts in the name of whoever holds it")
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Fate {
        self.hint = Some(hint.into());
        self
    }

    pub fn seen(mut self, seen: &Seen) -> Fate {
        self.item.queue = seen.queue.clone();
        self.item.state_before = Some(seen.state.clone()).filter(|state| !state.is_empty());
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

    /// Returns why a call about one job ended in an error, in our words where there are any.
    pub fn explained(jid: &Name, verb: &str, error: Error) -> Error {
        match Fate::refused_by(jid, &error) {
            Some(fate) => fate.error(verb),
            None => error,
        }
    }

    /// Returns a refusal as the error of a command that named this one job.
    pub fn error(&self, asks: &str) -> Error {
        let jid = clean(&self.item.jid);
        let message = match (self.item.code, self.item.detail.as_deref()) {
            (Code::Gone, _) => format!("job `{jid}` does not exist"),
            (_, Some(why)) => format!("cannot {asks} `{jid}`: {why}"),
            (code, None) => format!("cannot {asks} `{jid}`: {}", code.word()),
        };
        let error = Error::new(exit::kind(self.item.code), message).jid(&self.item.jid);
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
    named: Named,
    dry_run: bool,
    refused: Vec<Fate>,
    jobs: Vec<Seen>,
    /// In a dry run: what would go with them.
    along: Vec<Fate>,
}

/// How the jobs of a plan were told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// One jid: then a refusal is an error.
    One,
    /// Several jids, or a list of them.
    Many,
    /// By a selector.
    Not,
}

impl Plan {
    /// Looks at the jobs that are named or selected; those that `judge` refuses are left
    /// out. A selector without a state means jobs in one of `states`.
    pub fn open(
        cx: &mut Cx,
        verb: &'static Verb,
        dry_run: bool,
        targets: &Targets,
        states: &[State],
        judge: impl Fn(&Seen) -> Option<Fate>,
    ) -> Result<Plan, Error> {
        targets.check()?;
        let told = jids::read(&mut Source::default(), &targets.jids)?;
        if !targets.jids.is_empty() {
            let now = cx.begin()?;
            return Plan::told(cx, now, verb, dry_run, &told, judge);
        }
        let mut selector = targets.selector.clone();
        if selector.states.is_empty() {
            selector.states = states.to_vec();
        }
        let now = cx.begin()?;
        let jobs = select::all(cx.core()?, now, &selector, Tell::Mark)?;
        Ok(Plan::selected(verb, dry_run, jobs, judge))
    }

    /// Looks at the jobs that are named.
    pub fn told(
        cx: &mut Cx,
        now: Moment,
        verb: &'static Verb,
        dry_run: bool,
        told: &Told,
        judge: impl Fn(&Seen) -> Option<Fate>,
    ) -> Result<Plan, Error> {
        let named = match told {
            Told::One(_) => Named::One,
            Told::Many(_) => Named::Many,
        };
        let mut plan = Plan::new(verb, named, dry_run);
        let seen = cx.core()?.seen(now, told.jids())?;
        for (jid, seen) in told.jids().iter().zip(seen) {
            match seen {
                None => plan.refused.push(Fate::gone(jid)),
                Some(seen) => plan.judge(seen, &judge),
            }
        }
        Ok(plan)
    }

    /// Takes jobs that were selected.
    pub fn selected(
        verb: &'static Verb,
        dry_run: bool,
        jobs: Vec<Job>,
        judge: impl Fn(&Seen) -> Option<Fate>,
    ) -> Plan {
        let mut plan = Plan::new(verb, Named::Not, dry_run);
        for job in jobs {
            plan.judge(Seen::from(job), &judge);
        }
        plan
    }

    /// Returns whether some jobs do not exist.
    pub fn lacks_some(&self) -> bool {
        self.refused.iter().any(|fate| fate.item.code == Code::Gone)
    }

    /// Takes jobs that do not exist, where a trace of them can still be changed.
    pub fn readmit(&mut self, trace: impl Fn(&Name) -> bool) {
        for fate in std::mem::take(&mut self.refused) {
            match fate.item.code == Code::Gone && trace(&fate.item.jid) {
                true => self.jobs.push(Seen {
                    jid: fate.item.jid,
                    ..Seen::default()
                }),
                false => self.refused.push(fate),
            }
        }
    }

    /// Takes only the traces of jobs that do not exist.
    pub fn keep_missing(&mut self) {
        self.jobs.clear();
        self.readmit(|_| true);
    }

    fn new(verb: &'static Verb, named: Named, dry_run: bool) -> Plan {
        Plan {
            verb,
            named,
            dry_run,
            refused: Vec::new(),
            jobs: Vec::new(),
            along: Vec::new(),
        }
    }

    fn judge(&mut self, seen: Seen, judge: impl Fn(&Seen) -> Option<Fate>) {
        match judge(&seen) {
            None => self.jobs.push(seen),
            Some(fate) => self.refused.push(fate.seen(&seen)),
        }
    }

    /// Asks whether to go on, where the jobs were not named one by one.
    pub fn consent(&self, cx: &mut Cx, more: &str) -> Result<(), Error> {
        if self.named != Named::Not || self.dry_run || self.jobs.is_empty() {
            return Ok(());
        }
        let jobs = plural(self.jobs.len() as u64, "job", "jobs");
        let what = format!("{} {jobs} on {}", self.verb.asks, cx.core()?.address());
        let details = |page: &Page| format!("{}{more}", by_queue(&self.jobs, page));
        cx.out.confirm(&what, details).map(drop)
    }

    fn one(&self) -> bool {
        self.named == Named::One
    }

    pub fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the refusal of the one job that was named.
    pub fn refusal(&self) -> Result<(), Error> {
        match self.refused.first() {
            Some(fate) if self.one() => Err(fate.error(self.verb.asks)),
            _ => Ok(()),
        }
    }
}

/// What became of a slice.
#[derive(Debug, Default)]
pub struct Slice {
    pub fates: Vec<Fate>,
    /// What keeps the action from going on. Jobs of which nothing is said were lost by it.
    pub broke: Option<Error>,
}

impl From<Result<Vec<Fate>, Error>> for Slice {
    fn from(changed: Result<Vec<Fate>, Error>) -> Slice {
        match changed {
            Ok(fates) => Slice { fates, broke: None },
            Err(error) => Slice {
                fates: Vec::new(),
                broke: Some(error),
            },
        }
    }
}

impl Slice {
    /// Reads the answers to one call per job; `done` says what became of one that was changed.
    pub fn each<T>(jobs: &[Seen], answers: Each<T>, done: impl Fn(&Seen, T) -> Fate) -> Slice {
        let mut slice = Slice::default();
        for (job, answer) in jobs.iter().zip(answers) {
            match answer {
                Ok(answer) => slice.fates.push(done(job, answer).seen(job)),
                Err(error) => match Fate::refused_by(&job.jid, &error) {
                    Some(fate) => slice.fates.push(fate.seen(job)),
                    None => {
                        slice.fates.push(lost(job, &error));
                        slice.broke.get_or_insert(error);
                    }
                },
            }
        }
        slice
    }

    /// Adds the jobs of which nothing is said.
    fn lose(&mut self, jobs: &[Seen], error: &Error) {
        let told: HashSet<Name> = self
            .fates
            .iter()
            .map(|fate| fate.item.jid.clone())
            .collect();
        let untold = jobs.iter().filter(|job| !told.contains(&job.jid));
        self.fates.extend(untold.map(|job| lost(job, error)));
    }
}

/// Returns what became of a job whose call ended in an error.
fn lost(job: &Seen, error: &Error) -> Fate {
    Fate::refused(&job.jid, code(error), error.message()).seen(job)
}

/// Returns what became of a job by an outcome that needs no words of its own.
fn other(job: &Seen, outcome: &Outcome) -> Fate {
    let why = outcome.word(0).map(|why| clean(why.as_bytes()));
    let why = why.unwrap_or_else(|| outcome.code.word().into());
    Fate::refused(&job.jid, outcome.code, why).seen(job)
}

/// Returns what a change leaves in a job's history: which verb, and who typed it.
pub fn note(verb: &str) -> String {
    serde_json::json!({ "verb": verb, "by": who::by() }).to_string()
}

/// Returns the code of an error that ended a call.
fn code(error: &Error) -> Code {
    match error.kind() {
        Kind::Unknown => Code::Unknown,
        _ => Code::Server,
    }
}
