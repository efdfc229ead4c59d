//! Changing many jobs: list, plan, confirm, act in slices, report.
//!
//! A command looks at the jobs it was told and puts those that it may change into a [`Plan`]. What
//! it cannot change is refused there: an error where one job was named, else an item of the
//! report. [`Plan::run`] acts on the rest in slices, each job guarded by what was seen of it.

use std::collections::HashSet;
use std::time::Duration;

use crate::args::shared::{BulkFlags, Selector, Spread, Targets};
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardReply, JOBS_PER_READ};
use crate::core::api::job_calls::{CallOutcome, PerJob};
use crate::core::api::reconcile::LOST;
use crate::error::{Error, Kind, Refusal};
use crate::input::jids;
use crate::input::jids::JidArgs;
use crate::input::source::Source;
use crate::model::bulk::{Code, Item, Result as Counted};
use crate::model::job::{Job, State};
use crate::model::job_snapshot::{Interner, JobSnapshot};
use crate::model::verb::Verb;
use crate::name::Name;
use crate::select;
use crate::select::MisplacedEntry;
use crate::session::Session;
use crate::text::{clean, duration, plural};
use crate::view::Page;
use crate::view::bulk::by_queue;

mod act;
pub(crate) mod cancel;
pub(crate) mod exit;
pub(crate) mod held;
pub(crate) mod import;
pub(crate) mod ledger;
mod order;
pub(crate) mod pace;
mod report;
pub(crate) mod requeue;
pub(crate) mod save;

pub(crate) use order::BulkRun;
pub(crate) use report::Report;

/// As many jobs as are changed between two looks at the clock and at signals.
pub(crate) const SLICE: usize = 200;

/// What became of a job, and what is said and printed of it.
#[derive(Clone, Debug)]
pub(crate) struct JobOutcome {
    pub item: Item,
    /// What to do about a refusal.
    pub hint: Option<String>,
    /// What the table shows besides the jid.
    pub cells: Vec<Name>,
    /// The reply of the reference's command of this name.
    pub raw: Vec<u8>,
    /// Whether it was not told, but went with one that was.
    pub cascaded: bool,
}

impl From<Item> for JobOutcome {
    fn from(item: Item) -> JobOutcome {
        JobOutcome {
            item,
            hint: None,
            cells: Vec::new(),
            raw: Vec::new(),
            cascaded: false,
        }
    }
}

impl JobOutcome {
    /// A job that was changed.
    pub(crate) fn done(jid: &Name) -> JobOutcome {
        Item::new(jid, Code::Ok).into()
    }

    /// A job that was not: why, as the end of a sentence that begins with it.
    pub(crate) fn refused(jid: &Name, code: Code, why: impl Into<String>) -> JobOutcome {
        Item::new(jid, code).detail(why).into()
    }

    /// A job that does not exist.
    pub(crate) fn gone(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, Code::Gone, "it does not exist")
    }

    /// A job that was changed by others since it was seen.
    pub(crate) fn changed(jid: &Name) -> JobOutcome {
        JobOutcome::refused(jid, Code::StateChanged, "it changed meanwhile")
    }

    /// A job that a guarded call left as it is.
    pub(crate) fn left(job: &JobSnapshot, outcome: &GuardReply) -> JobOutcome {
        let jid = &job.jid;
        let fate = match outcome.code {
            Code::Gone => JobOutcome::gone(jid),
            // A mark begins with the state.
            Code::StateChanged
                if outcome
                    .mark
                    .starts_with(&[job.stored.as_bytes(), b":"].concat()) =>
            {
                JobOutcome::refused(jid, Code::StateChanged, "it changed meanwhile")
            }
            Code::StateChanged => {
                let why = format!("it is no longer {}", clean(&job.stored));
                JobOutcome::refused(jid, Code::StateChanged, why)
            }
            Code::Complete => JobOutcome::refused(jid, Code::Complete, "it is complete"),
            code => {
                let why = outcome.word(0).map(|why| clean(why.as_bytes()));
                JobOutcome::refused(jid, code, why.unwrap_or_else(|| code.word().into()))
            }
        };
        fate.seen(job)
    }

    /// A job whose own call ended in an error that says why.
    pub(crate) fn refused_by(jid: &Name, error: &Error) -> Option<JobOutcome> {
        Some(match error.refusal_of(jid)? {
            Refusal::Gone => JobOutcome::gone(jid),
            Refusal::State(None) => {
                JobOutcome::refused(jid, Code::StateChanged, "it is not running")
            }
            Refusal::State(Some(state)) => {
                JobOutcome::refused(jid, Code::StateChanged, format!("it is {state}"))
            }
            Refusal::Queue(queue) => {
                let why = format!("it runs in `{queue}`");
                JobOutcome::refused(jid, Code::StateChanged, why)
            }
            Refusal::Holder(worker) => JobOutcome::held_by(jid, worker),
        })
    }

    /// A job that another worker holds.
    pub(crate) fn held_by(jid: &Name, worker: impl AsRef<[u8]>) -> JobOutcome {
        let why = format!("it is held by `{}`", clean(worker));
        JobOutcome::refused(jid, Code::NotHolder, why)
            .hint("`--as-holder` acts in the name of whoever holds it")
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> JobOutcome {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn seen(mut self, seen: &JobSnapshot) -> JobOutcome {
        self.item.queue = seen.queue.clone();
        self.item.state_before = Some(seen.state.clone()).filter(|state| !state.is_empty());
        self
    }

    pub(crate) fn now(mut self, state: &str) -> JobOutcome {
        self.item.state_after = Some(state.into());
        self
    }

    pub(crate) fn cells(mut self, cells: impl IntoIterator<Item = Name>) -> JobOutcome {
        self.cells = cells.into_iter().collect();
        self
    }

    pub(crate) fn raw(mut self, raw: impl Into<Vec<u8>>) -> JobOutcome {
        self.raw = raw.into();
        self
    }

    pub(crate) fn cascaded(mut self) -> JobOutcome {
        self.cascaded = true;
        self
    }

    /// Returns why a call about one job ended in an error, in our words where there are any.
    pub(crate) fn explained(jid: &Name, verb: &str, error: Error) -> Error {
        match JobOutcome::refused_by(jid, &error) {
            Some(fate) => fate.error(verb),
            None => error,
        }
    }

    /// Returns a refusal as the error of a command that named this one job.
    pub(crate) fn error(&self, asks: &str) -> Error {
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
pub(crate) struct Plan {
    order: BulkRun,
    named: Named,
    refused: Vec<Refused>,
    /// Those that an earlier run has done.
    before: Vec<JobOutcome>,
    jobs: Vec<JobSnapshot>,
    /// In a dry run: what would go with them.
    cascaded: Vec<JobOutcome>,
    /// Over which time the jobs are to run.
    spread: Duration,
}

/// A job that is left out, and how many that are not were told before it.
#[derive(Debug)]
struct Refused {
    fate: JobOutcome,
    after: usize,
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
    pub(crate) fn open(
        session: &mut Session,
        verb: &'static Verb,
        flags: &BulkFlags,
        targets: &Targets,
        states: &[State],
        judge: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<Plan, Error> {
        let told = jids::read(&mut Source::default(), &targets.jids)?;
        Plan::open_told(session, verb, flags, (targets, &told), states, judge)
    }

    /// The same where the named jobs were read already.
    pub(crate) fn open_told(
        session: &mut Session,
        verb: &'static Verb,
        flags: &BulkFlags,
        (targets, told): (&Targets, &JidArgs),
        states: &[State],
        judge: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<Plan, Error> {
        targets.check()?;
        let selector = targets.selector.or_states(states)?;
        let order = BulkRun::new(session, verb, flags)?;
        if !targets.jids.is_empty() {
            let now = session.begin()?;
            return Plan::told(session, now, order, told, judge);
        }
        let now = session.begin()?;
        Plan::selected(session, now, order, &selector, judge)
    }

    /// Looks at the jobs that are named.
    pub(crate) fn told(
        session: &mut Session,
        now: Moment,
        order: BulkRun,
        told: &JidArgs,
        judge: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<Plan, Error> {
        let named = match told {
            JidArgs::One(_) => Named::One,
            JidArgs::Many(_) => Named::Many,
        };
        let mut plan = Plan::new(order, named);
        for jids in told.jids().chunks(JOBS_PER_READ) {
            let seen = session.core()?.snapshots(now, jids)?;
            for (jid, seen) in jids.iter().zip(seen) {
                match seen {
                    _ if plan.done_before(jid) => {}
                    None => plan.refuse(JobOutcome::gone(jid)),
                    Some(seen) => plan.judge(seen, &judge),
                }
            }
        }
        Ok(plan)
    }

    /// Looks at the jobs that are selected. What a failure list names without reason is left out
    /// and named.
    pub(crate) fn selected(
        session: &mut Session,
        now: Moment,
        order: BulkRun,
        selector: &Selector,
        judge: impl Fn(&JobSnapshot) -> Option<JobOutcome>,
    ) -> Result<Plan, Error> {
        let (mut jobs, strays) = select::seen(session, now, selector)?;
        let mut plan = Plan::new(order, Named::Not);
        // In place: there may be a million.
        let mut after = 0;
        jobs.retain(|job| {
            if plan.done_before(&job.jid) {
                return false;
            }
            let Some(fate) = judge(job) else {
                after += 1;
                return true;
            };
            let fate = fate.seen(job);
            plan.refused.push(Refused { fate, after });
            false
        });
        plan.jobs = jobs;
        for stray in &strays {
            plan.refuse(astray(stray));
        }
        for stray in strays.iter().take(NAMED) {
            session.ui.note(&format!(
                "note: {}: `{}`",
                in_list(stray),
                clean(&stray.jid)
            ));
        }
        if strays.len() > NAMED {
            let more = strays.len() - NAMED;
            session
                .ui
                .note(&format!("note: and {more} more that do not belong there"));
        }
        if !strays.is_empty() {
            session.ui.hint("`qless check` tells what else disagrees");
        }
        Ok(plan)
    }

    /// Takes jobs that were found by other means, and those that were left out.
    pub(crate) fn listed(
        order: BulkRun,
        jobs: Vec<JobSnapshot>,
        left_out: Vec<JobOutcome>,
    ) -> Plan {
        let mut plan = Plan::new(order, Named::Many);
        for fate in left_out {
            plan.refuse(fate);
        }
        for job in jobs {
            if !plan.done_before(&job.jid) {
                plan.jobs.push(job);
            }
        }
        plan
    }

    /// Returns whether some jobs do not exist.
    pub(crate) fn lacks_some(&self) -> bool {
        let mut fates = self.refused.iter().map(|refused| &refused.fate);
        fates.any(|fate| fate.item.code == Code::Gone)
    }

    /// Takes jobs that do not exist, where a trace of them can still be changed.
    pub(crate) fn readmit(&mut self, trace: impl Fn(&Name) -> bool) {
        for refused in std::mem::take(&mut self.refused) {
            let item = &refused.fate.item;
            match item.code == Code::Gone && trace(&item.jid) {
                true => self.jobs.push(JobSnapshot {
                    jid: refused.fate.item.jid,
                    ..JobSnapshot::default()
                }),
                false => self.refused.push(refused),
            }
        }
    }

    /// Takes only the traces of jobs that do not exist.
    pub(crate) fn keep_missing(&mut self) {
        self.jobs.clear();
        self.readmit(|_| true);
    }

    fn new(order: BulkRun, named: Named) -> Plan {
        Plan {
            order,
            named,
            refused: Vec::new(),
            before: Vec::new(),
            jobs: Vec::new(),
            cascaded: Vec::new(),
            spread: Duration::ZERO,
        }
    }

    /// Lets the jobs run evenly over a time, if one was given.
    pub(crate) fn spread(self, flag: &Spread) -> Plan {
        Plan {
            spread: flag.spread.unwrap_or_default(),
            ..self
        }
    }

    fn judge(&mut self, seen: JobSnapshot, judge: impl Fn(&JobSnapshot) -> Option<JobOutcome>) {
        match judge(&seen) {
            None => self.jobs.push(seen),
            Some(fate) => self.refuse(fate.seen(&seen)),
        }
    }

    fn refuse(&mut self, fate: JobOutcome) {
        let after = self.jobs.len();
        self.refused.push(Refused { fate, after });
    }

    /// Leaves out a job that an earlier run with the same report has done.
    fn done_before(&mut self, jid: &Name) -> bool {
        let done = self.order.before.contains(jid);
        if let (true, Some(report)) = (done, &self.order.report) {
            let mut item = Item::new(jid, Code::Ok);
            item.result = Counted::Skipped;
            let why = format!("done already, as `{}` tells", report.shown());
            self.before.push(item.detail(why).into());
        }
        done
    }

    /// Asks whether to go on, where the jobs were not named one by one.
    pub(crate) fn consent(&self, session: &mut Session, more: &str) -> Result<(), Error> {
        let many = match self.named {
            Named::One => false,
            Named::Many => self.dry_run() || (session.ui.is_protected() && self.jobs.len() > 1),
            Named::Not => true,
        };
        if !many || self.jobs.is_empty() {
            return Ok(());
        }
        let (asks, jobs) = (self.order.verb.asks, self.told_jobs(self.jobs.len()));
        let what = format!("{asks} {jobs} on {}", session.place()?);
        let details = |page: &Page| self.details(page, more);
        match self.dry_run() {
            true => session.ui.rehearse(&what, details),
            false => _ = session.ui.confirm(&what, details)?,
        }
        Ok(())
    }

    /// Returns `1,204 failed jobs`, the state told where all have one.
    fn told_jobs(&self, count: usize) -> String {
        let state = self.jobs.first().map(|job| &job.state);
        let state = state.filter(|state| self.jobs.iter().all(|job| job.state == **state));
        let state = state.and_then(|state| state.as_str()).unwrap_or_default();
        match state {
            // As an adjective this one says nothing.
            "" | "depends" => plural(count as u64, "job", "jobs"),
            state => {
                let (one, many) = (format!("{state} job"), format!("{state} jobs"));
                plural(count as u64, &one, &many)
            }
        }
    }

    /// Returns the jobs by queue, and what else would happen.
    fn details(&self, page: &Page, more: &str) -> String {
        let mut details = by_queue(&self.jobs, page);
        details.push_str(more);
        let mut pace = Vec::new();
        if !self.spread.is_zero() {
            let time = duration(self.spread.as_secs_f64());
            pace.push(format!(
                "  they are to run within {time}, one after the other\n"
            ));
        }
        if let Some(rate) = self.order.rate {
            pace.push(format!("  at most {rate}\n"));
        }
        if more.is_empty() && !pace.is_empty() {
            details.push('\n');
        }
        details.extend(pace);
        details
    }

    fn one(&self) -> bool {
        self.named == Named::One
    }

    pub(crate) fn dry_run(&self) -> bool {
        self.order.dry_run
    }

    /// Returns what each changed job is to keep in its history.
    pub(crate) fn note(&self) -> Vec<u8> {
        self.order.note.clone()
    }

    /// Returns the refusal of the one job that was named.
    pub(crate) fn refusal(&self) -> Result<(), Error> {
        match self.refused.first() {
            Some(Refused { fate, .. }) if self.one() => Err(fate.error(self.order.verb.asks)),
            _ => Ok(()),
        }
    }
}

/// As many strays of failure lists are named one by one.
const NAMED: usize = 10;

/// A job that a failure list names without reason.
fn astray(stray: &MisplacedEntry) -> JobOutcome {
    let code = match &stray.job {
        None => Code::Gone,
        Some(_) => Code::StateChanged,
    };
    let fate = JobOutcome::refused(&stray.jid, code, in_list(stray));
    match &stray.job {
        Some(job) => fate.seen(&JobSnapshot::of(job.clone(), &mut Interner::default())),
        None => fate,
    }
}

fn in_list(stray: &MisplacedEntry) -> String {
    let group = clean(&stray.group);
    match &stray.job {
        None => format!("in the list of `{group}`, but it does not exist"),
        Some(Job {
            state: Some(State::Failed),
            ..
        }) => format!("in the list of `{group}`, but it failed in another group"),
        Some(job) => {
            let state = job.state.map_or("in no known state", State::word);
            format!("in the list of `{group}`, but it is {state}")
        }
    }
}

/// What became of a slice.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    pub fates: Vec<JobOutcome>,
    /// What keeps the action from going on. Jobs of which nothing is said were lost by it.
    pub broke: Option<Error>,
}

impl From<Result<Vec<JobOutcome>, Error>> for Slice {
    fn from(changed: Result<Vec<JobOutcome>, Error>) -> Slice {
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
    pub(crate) fn each<T>(
        jobs: &[JobSnapshot],
        answers: PerJob<T>,
        done: impl Fn(&JobSnapshot, T) -> JobOutcome,
    ) -> Slice {
        let mut slice = Slice::default();
        for (job, answer) in jobs.iter().zip(answers) {
            match answer {
                Ok(CallOutcome::Done(answer)) => slice.fates.push(done(job, answer).seen(job)),
                Ok(CallOutcome::Refused(outcome)) => {
                    slice.fates.push(JobOutcome::left(job, &outcome))
                }
                Err(error) => match JobOutcome::refused_by(&job.jid, &error) {
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
    fn lose(&mut self, jobs: &[JobSnapshot], error: &Error) {
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
fn lost(job: &JobSnapshot, error: &Error) -> JobOutcome {
    let why = match error.kind() {
        Kind::Unknown => LOST,
        _ => error.message(),
    };
    JobOutcome::refused(&job.jid, code(error), why).seen(job)
}

/// Returns the code of an error that ended a call.
fn code(error: &Error) -> Code {
    match error.kind() {
        Kind::Unknown => Code::Unknown,
        _ => Code::Server,
    }
}
