//! Submitting many jobs: `put --from`.
//!
//! Every line is checked ([`check`]) before the first is sent; where jobs wait for jobs of later
//! lines they are put in order ([`order`]). Then the lines are read again and packed into calls
//! ([`pack`]), sent in rounds of a few calls, and told ([`tally`]). What was sent and what was
//! answered is noted in a journal ([`journal`]).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use crate::bulk::ledger::Head;
use crate::bulk::pace::Pace;
use crate::clock::moment::Moment;
use crate::core::api::guard::GuardReply;
use crate::core::api::put::{Policy, Puts};
use crate::error::{Error, Kind};
use crate::exit::Exit;
use crate::input::two_pass::TwoPassFile;
use crate::interrupt::Interrupt;
use crate::model::bulk::MOST;
use crate::model::bulk::{Code, Result as Counted};
use crate::model::rate::Rate;
use crate::session::Session;
use crate::text::{clean, plural};
use crate::ui::Progress;

mod check;
mod journal;
mod order;
mod pack;
pub(crate) mod plan;
mod rehearse;
mod tally;

use journal::Journal;
use pack::{How, Part, Round, Sent};
use plan::Plan;
use tally::{Tally, Told};

/// What is to be submitted, and how.
#[derive(Debug)]
pub(crate) struct SubmitOptions {
    /// A file, or `-`.
    pub from: OsString,
    pub plan: Plan,
    pub policy: Policy,
    /// Whether a job that is there already is as good as one that is put.
    pub if_absent: bool,
    pub batch: Option<usize>,
    pub rate: Option<Rate>,
    pub fail_fast: bool,
    pub journal: Option<PathBuf>,
    pub dry_run: bool,
    /// How many replicas are to have each round before the next.
    pub replicas: Option<u64>,
}

/// As many jobs as a call takes where nothing is said.
const SLICE: usize = 200;

/// As many jobs, and calls, as are sent in one round trip.
const ROUND: usize = 1000;
const CALLS: usize = 50;

/// So far apart are the moments of two calls: what is put at one moment is popped in the order of
/// its jids, and the core's scores do not tell closer ones apart.
const APART: Duration = Duration::from_micros(20);

/// As many rounds as are packed ahead.
const AHEAD: usize = 2;

/// What a line may have besides its data, names and blanks.
const BESIDES: usize = 1 << 20;

/// Submits the lines of a file.
pub(crate) fn run(order: &SubmitOptions, session: &mut Session) -> Result<Exit, Error> {
    let plan = &order.plan;
    let mut twice = TwoPassFile::open(&order.from, plan.max_data.saturating_add(BESIDES))?;
    let checked = check::check(&mut twice, plan, order.journal.is_some())?;
    let sorted = match checked.forward {
        true => Some(order::order(&twice, plan)?),
        false => None,
    };
    let jobs = usize::try_from(checked.jobs).unwrap_or(usize::MAX);
    if jobs > 0 && !order.dry_run {
        let (jobs, place) = (plural(checked.jobs, "job", "jobs"), session.place()?);
        let what = format!("put {jobs} on {place}");
        session.ui.confirm_protected(&what, |_| String::new())?;
    }
    let head = Head::of("journal", session)?;
    let (mut journal, notes) = match &order.journal {
        Some(path) => {
            let opened = Journal::open(path, head, order.dry_run, &checked.sums)?;
            (Some(opened.0), Some(opened.1))
        }
        None => (None, None),
    };
    let fresh = checked.fresh;
    drop(checked);
    let begun = session.begin()?;
    if let (Some(journal), false) = (&mut journal, order.dry_run) {
        journal.ledger.begin(session)?;
    }
    let pace = Pace::new(order.rate);
    let how = How {
        policy: order.policy,
        // One by one, so that nothing comes after the first failure.
        batch: order
            .batch
            .unwrap_or(if order.fail_fast { 1 } else { SLICE })
            .min(MOST),
        jobs: pace.slice(if order.fail_fast { 1 } else { ROUND }),
        calls: if order.fail_fast { 1 } else { CALLS },
        now: begun,
    };
    let tally = Tally::new(&session.ui, jobs, order.dry_run, sorted.is_some(), begun);
    let (to, rounds) = sync_channel(AHEAD);
    thread::scope(|scope| {
        let (twice, sorted, notes) = (&twice, sorted.as_deref(), notes.as_ref());
        scope.spawn(move || pack::pack(twice, plan, sorted, notes, how, &to));
        let mut sender = Sender {
            order,
            twice,
            stop: Interrupt::listen(),
            progress: session.ui.progress(jobs as u64),
            pace,
            tally,
            again: !fresh || journal.is_some(),
            journal,
            jobs,
            next: begun,
        };
        let broke = match order.dry_run {
            true => sender.rehearse(session, &rounds),
            false => sender.send(session, &rounds),
        };
        // So that nothing more is packed.
        drop(rounds);
        let now = session.now();
        match broke {
            Ok(broke) => {
                let broke = broke.map(|error| match error.kind() {
                    Kind::Unknown => error.hint(sender.go_on(session)),
                    _ => error,
                });
                sender.tally.end(&mut session.ui, now, broke)
            }
            Err(unwritten) => Err(unwritten),
        }
    })
}

/// The loop: rounds, pace, progress, signals.
struct Sender<'s> {
    order: &'s SubmitOptions,
    twice: &'s TwoPassFile,
    stop: Interrupt,
    progress: Progress,
    pace: Pace,
    tally: Tally,
    journal: Option<Journal>,
    jobs: usize,
    /// The moment of the next call, at least.
    next: Moment,
    /// Whether the same command goes on where this one ended.
    again: bool,
}

/// What became of the jobs of a call.
type Answer = Result<Vec<GuardReply>, Error>;

impl Sender<'_> {
    /// Sends the rounds; returns what broke that off. An error is one of telling it.
    fn send(
        &mut self,
        session: &mut Session,
        rounds: &Receiver<Result<Round, Error>>,
    ) -> Result<Option<Error>, Error> {
        for round in rounds {
            let mut round = match round {
                Ok(round) => round,
                Err(error) => return Ok(Some(error)),
            };
            self.done_before(&round);
            self.pace.wait(round.jobs(), &self.stop);
            if let Some(kind) = self.stop.asked() {
                return Ok(Some(self.interrupted(kind, session)));
            }
            if let Err(changed) = self.twice.unchanged() {
                return Ok(Some(changed));
            }
            let now = session.core()?.now().max(self.next);
            if let Some(journal) = &mut self.journal
                && let Err(error) = journal.intend(&round, now)
            {
                return Ok(Some(error));
            }
            let mut puts: Vec<Puts> = Vec::with_capacity(round.parts.len());
            self.next = now;
            for part in &mut round.parts {
                puts.push(part.take().at(self.next));
                self.next = self.next.after(APART);
            }
            let answers = session.core()?.puts(now, puts);
            let mut broke = self.settle(session, &mut round, answers)?;
            if let Some(replicas) = self.order.replicas
                && broke.is_none()
            {
                broke = session.core()?.wait_for_replicas(replicas).err();
            }
            session.ui.finish()?;
            self.progress.add(round.jobs() as u64);
            if broke.is_some() || (self.order.fail_fast && self.tally.failed()) {
                return Ok(broke);
            }
        }
        Ok(None)
    }

    /// Tells what became of the jobs of a round; returns what keeps the next from being sent.
    fn settle(
        &mut self,
        session: &mut Session,
        round: &mut Round,
        answers: Vec<Answer>,
    ) -> Result<Option<Error>, Error> {
        let mut broke = None;
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        let mut parts = std::mem::take(&mut round.parts);
        for (part, mut answer) in parts.iter_mut().zip(answers) {
            if part.again.is_some()
                && let Ok(outcomes) = &mut answer
                && let Some(outcome) = outcomes.pop()
            {
                answer = self.once_more(session, part, outcome);
            }
            let outcomes = match answer {
                Ok(outcomes) => outcomes,
                Err(error) => {
                    self.lost(session, round, part, &error)?;
                    broke.get_or_insert(error);
                    continue;
                }
            };
            for (job, outcome) in part.jobs.iter().zip(&outcomes) {
                let told = judge(round, job, outcome, self.order.if_absent);
                if self.journal.is_some() {
                    match told.result {
                        Counted::Failed => failed.push(job.line),
                        _ => done.push(job.line),
                    }
                }
                self.tally.add(&mut session.ui, told)?;
            }
        }
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.answered(&done, &failed)
        {
            broke.get_or_insert(error);
        }
        Ok(broke)
    }
}

impl Sender<'_> {
    /// Counts the lines that an earlier run has done.
    fn done_before(&mut self, round: &Round) {
        self.tally.before(round.before);
        self.progress.add(round.before as u64);
    }

    /// Replaces a job of which it was unknown whether an earlier run had replaced it; it had not.
    fn once_more(&mut self, session: &mut Session, part: &mut Part, outcome: GuardReply) -> Answer {
        let sent = part.jobs.first().and_then(|job| job.since);
        let (Code::Exists, Some(since), Some(mut puts)) = (outcome.code, sent, part.again.take())
        else {
            return Ok(vec![outcome]);
        };
        if is_since(&outcome, 1, since) {
            let detail = Vec::new();
            return Ok(vec![GuardReply {
                code: Code::Ok,
                detail,
                ..outcome
            }]);
        }
        puts.policy.replace = true;
        let core = session.core()?;
        let now = core.now();
        core.puts(now, vec![puts])
            .pop()
            .unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Tells that nothing is known of the jobs of a call.
    fn lost(
        &mut self,
        session: &mut Session,
        round: &Round,
        part: &Part,
        error: &Error,
    ) -> Result<(), Error> {
        for job in &part.jobs {
            self.tally
                .add(&mut session.ui, unanswered(round, job, error))?;
        }
        Ok(())
    }

    fn interrupted(&self, kind: Kind, session: &Session) -> Error {
        let page = session.ui.page();
        let count = |number: usize| page.count(number as u64);
        let (done, all) = (count(self.jobs - self.tally.left()), count(self.jobs));
        Error::new(kind, format!("interrupted after {done} of {all}")).hint(self.go_on(session))
    }

    /// Returns how to submit the rest.
    fn go_on(&self, session: &Session) -> String {
        match (self.again, session.typed()) {
            (true, Some(typed)) => format!("run the same command again to go on: `{typed}`"),
            (true, None) => "run the same command again to go on".to_owned(),
            (false, _) => "the same command would put them anew; `--jid-from` or `--journal` \
                           make it go on"
                .to_owned(),
        }
    }
}

/// Returns what became of a job of which nothing is known.
fn unanswered<'r>(round: &'r Round, job: &Sent, error: &Error) -> Told<'r> {
    let code = match error.kind() {
        Kind::Unknown => Code::Unknown,
        _ => Code::Server,
    };
    Told {
        line: job.line,
        jid: round.jid(job),
        queue: round.queue(job),
        result: Counted::Failed,
        code,
        why: Some(error.message().to_owned()),
        detail: None,
        state: None,
    }
}

/// Returns what became of a job by what the core says.
fn judge<'r>(round: &'r Round, job: &Sent, outcome: &'r GuardReply, if_absent: bool) -> Told<'r> {
    let mut told = Told {
        line: job.line,
        jid: round.jid(job),
        queue: round.queue(job),
        result: outcome.code.result(),
        code: outcome.code,
        why: None,
        detail: None,
        state: None,
    };
    let ours = |since| is_since(outcome, 0, since);
    match outcome.code {
        Code::Ok => told.state = outcome.word(0),
        // An earlier run put it and did not live to note it.
        Code::Exists if job.since.is_some_and(ours) => {
            (told.result, told.code) = (Counted::Done, Code::Ok);
        }
        Code::Exists if if_absent => told.result = Counted::Skipped,
        Code::Exists => told.why = Some("a job of this id exists already".into()),
        Code::MissingDependency => {
            told.why = Some("a job that it would wait for does not exist".into());
            let names: Vec<String> = outcome
                .names()
                .map(|name| format!("`{}`", clean(name)))
                .collect();
            let verb = if names.len() == 1 { "does" } else { "do" };
            told.detail = Some(format!("{} {verb} not exist", names.join(", ")));
        }
        Code::Cycle => {
            told.why = Some("it would wait for itself".into());
            let names: Vec<String> = outcome.names().map(clean).collect();
            told.detail = Some(format!("it would wait for itself: {}", names.join(" → ")));
        }
        _ => {
            let why = outcome.word(0).map(clean);
            told.why = Some(why.unwrap_or_else(|| outcome.code.word().into()));
        }
    }
    told
}

/// Returns whether a job that exists is from a moment on, by its first entry (0) or its newest
/// put (1): those tell whole seconds.
fn is_since(outcome: &GuardReply, which: usize, moment: Moment) -> bool {
    let when = outcome
        .word(which)
        .and_then(|when| Moment::read(when.as_bytes()));
    when.is_some_and(|when| when.micros() >= moment.micros().div_euclid(1_000_000) * 1_000_000)
}
