//! Importing: the jobs of an export come back, each as it was, behind those it waits for.
//!
//! The file is read twice: [`check`] judges the whole of it and keeps where each job stands,
//! [`order`] puts them in order; then each is read again, packed ([`pack`]) and put. Memory grows
//! with the number of jobs, not with their data.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;

use super::{BulkRun, JobOutcome, Plan, Slice};
use crate::args::shared::BulkFlags;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::api::guard::GuardReply;
use crate::core::api::job::Detail;
use crate::core::api::put::{Policy, Puts};
use crate::core::call::Core;
use crate::error::{Cause, Error, Kind};
use crate::exit::Exit;
use crate::input::archive;
use crate::input::archive::ArchiveLine;
use crate::input::two_pass::TwoPassFile;
use crate::model::bulk::MOST;
use crate::model::bulk::{Code, Item, Result as Counted, Shows};
use crate::model::config::OptionChange;
use crate::model::job_snapshot::{Interner, JobSnapshot, SharedFields};
use crate::model::verb::Verb;
use crate::name::Name;
use crate::session::Session;
use crate::session::actor;
use crate::text::{clean, plural};
use crate::view::import::Proposal;

mod check;
mod order;
mod pack;

use check::Contents;
use pack::{How, Packed};

pub(crate) const IMPORT: Verb = Verb {
    word: "import",
    asks: "import",
    past: "imported",
    shows: Shows::Nothing,
};

/// The longest line: as much as a server takes at once.
const LONGEST: usize = 512 << 20;

/// As much as is sent at once.
const ROOM: usize = 8 << 20;

/// How far apart jobs are put, so that they keep their order: about as long as the server takes
/// for one.
const STEP: std::time::Duration = std::time::Duration::from_micros(20);

/// What is to be done, as it was told.
#[derive(Debug)]
pub(crate) struct ImportOptions {
    /// A file, or `-`.
    pub from: OsString,
    /// Queues by their old names.
    pub map: Vec<(Name, Name)>,
    pub existing: Existing,
    pub failed: Failed,
    pub allow_missing: bool,
    pub hold: bool,
    pub flags: BulkFlags,
}

/// What to do about jobs that exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Refuse,
    Leave,
    Replace,
}

/// How jobs come back that have failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Failed {
    /// As failed, in their group
    #[default]
    Keep,
    /// To be run again, with fresh retries
    Waiting,
    /// Not at all
    Skip,
}

impl ImportOptions {
    /// Returns what a queue is called here.
    fn queue<'q>(&'q self, queue: &'q Name) -> &'q Name {
        let mut map = self.map.iter();
        map.find(|(old, _)| old == queue)
            .map_or(queue, |(_, new)| new)
    }
}

/// Imports a file.
pub(crate) fn run(told: ImportOptions, session: &mut Session) -> Result<Exit, Error> {
    let mut twice = TwoPassFile::open(&told.from, LONGEST)?;
    let contents = Contents::read(&mut twice, &told)?;
    let order = contents.order(twice.what())?;
    let plan_of = BulkRun::new(session, &IMPORT, &told.flags)?;
    let now = session.begin()?;
    let missing = outside(&contents, &told, twice.what(), now, session)?;
    let existing = existing(&contents, &told, now, session)?;
    let mut changes = OptionChange::all(&session.core()?.config(now)?, &contents.options, false);
    if told.existing == Existing::Leave {
        changes.retain(|change| change.before.is_none());
    }
    let pauses = Pauses::of(&contents, &told, now, session)?;
    if let Some(cut) = contents.cut() {
        session.ui.warn(&cut);
    }
    let proposal = Proposal {
        queues: contents.by_queue(),
        recurring: contents.recurring.len(),
        existing: existing.len() as u64,
        replaces: told.existing == Existing::Replace,
        changes: &changes,
        pauses: &pauses.names(),
        holds: &pauses.hold,
    };
    let dry = told.flags.dry_run;
    let nothing = order.is_empty()
        && contents.recurring.is_empty()
        && changes.is_empty()
        && pauses.is_empty();
    if !nothing {
        let jobs = plural(order.len() as u64, "job", "jobs");
        let what = format!("import {jobs} on {}", session.place()?);
        match dry {
            true => session.ui.rehearse(&what, |page| proposal.text(page)),
            false => {
                let consent = session.ui.confirm(&what, |page| proposal.text(page))?;
                settings(&changes, &pauses, now, consent, session)?;
            }
        }
    }
    if contents.unreadable > 0 {
        let entries = plural(contents.unreadable, "entry", "entries");
        session.ui.warn(&format!(
            "{entries} of histories cannot be read and are left out"
        ));
    }
    let plan = plan(plan_of, &contents, &order, &existing, &told);
    drop(order);
    let mut importer = Importer {
        twice: &twice,
        contents: &contents,
        told: &told,
        missing,
        note: told.flags.reason.is_some().then(|| plan.note()),
        last: now,
    };
    let held = !dry && !pauses.hold.is_empty();
    let ended = plan.run(session, |core, now, jobs| importer.slice(core, now, jobs));
    if held {
        let queues: Vec<String> = pauses.hold.iter().map(clean).collect();
        session.ui.hint(&format!(
            "nothing runs there until `qless unpause {}`",
            queues.join(" ")
        ));
    }
    ended.map_err(|error| match (error.kind(), told.existing) {
        (Kind::Interrupted | Kind::Terminated | Kind::Unknown, Existing::Refuse) => {
            error.hint("the same command with `--if-absent` brings the rest")
        }
        _ => error,
    })
}

/// Returns the jobs that others wait for and that are nowhere.
fn outside(
    contents: &Contents,
    told: &ImportOptions,
    what: &str,
    now: Moment,
    session: &mut Session,
) -> Result<HashSet<Name>, Error> {
    let outside = contents.outside();
    let asked: BTreeSet<&Name> = outside.iter().map(|(_, jid)| *jid).collect();
    let asked: Vec<Name> = asked.into_iter().cloned().collect();
    let found = session.core()?.jobs(now, Detail::Match, &asked)?;
    let missing: HashSet<Name> = asked
        .into_iter()
        .zip(found)
        .filter(|(_, job)| job.is_none())
        .map(|(jid, _)| jid)
        .collect();
    let waiting: Vec<_> = outside
        .iter()
        .filter(|(_, jid)| missing.contains(*jid))
        .collect();
    let Some((job, jid)) = waiting.first() else {
        return Ok(missing);
    };
    if told.allow_missing {
        return Ok(missing);
    }
    let more = match waiting.len() {
        1 => String::new(),
        some => format!(", and {} more like this", some - 1),
    };
    Err(Error::not_found(format!(
        "`{}` waits for `{}`, which neither {what} brings nor the server has{more}",
        clean(job),
        clean(jid)
    ))
    .jid(jid)
    .hint("`--allow-missing` lets such jobs run without them"))
}

/// Returns the jobs of the file that exist already; refuses them unless it was told what to do.
fn existing(
    contents: &Contents,
    told: &ImportOptions,
    now: Moment,
    session: &mut Session,
) -> Result<HashSet<Name>, Error> {
    let mut existing = HashSet::new();
    if told.existing != Existing::Refuse && !told.flags.dry_run && !session.ui.asks() {
        // Each is judged when it is put.
        return Ok(existing);
    }
    let put = |at: &u32| contents.jobs[*at as usize].fate == check::Fate::Put;
    let jids = contents.jids.iter().filter(|(_, at)| put(at));
    let jids: Vec<&Name> = jids.map(|(jid, _)| jid).collect();
    for slice in jids.chunks(MOST) {
        let slice: Vec<Name> = slice.iter().copied().cloned().collect();
        let found = session.core()?.jobs(now, Detail::Match, &slice)?;
        let there = slice.into_iter().zip(found);
        existing.extend(there.filter(|(_, job)| job.is_some()).map(|(jid, _)| jid));
    }
    if told.existing != Existing::Refuse {
        return Ok(existing);
    }
    let mut names: Vec<&Name> = existing.iter().collect();
    let recurring: Vec<Name> = contents
        .recurring
        .iter()
        .map(|(jid, _)| jid.clone())
        .collect();
    let templates = session.core()?.recurs(now, &recurring)?;
    let there = recurring.iter().zip(&templates);
    names.extend(there.filter(|(_, job)| job.is_some()).map(|(jid, _)| jid));
    names.sort();
    let shown: Vec<String> = names
        .iter()
        .take(3)
        .map(|jid| format!("`{}`", clean(jid)))
        .collect();
    let message = match names.len() {
        0 => return Ok(existing),
        1 => format!("{} exists already; nothing was changed", shown[0]),
        some @ ..=3 => format!(
            "{some} jobs exist already: {}; nothing was changed",
            shown.join(", ")
        ),
        some => format!(
            "{some} jobs exist already: {} and {} more; nothing was changed",
            shown.join(", "),
            some - 3
        ),
    };
    let error = Error::conflict(message).hint(
        "`--if-absent` leaves them as they are and brings the rest, `--replace` puts them again",
    );
    Err(match names.as_slice() {
        [jid] => error.jid(jid),
        _ => error,
    })
}

/// Which queues are paused before anything is put.
#[derive(Debug, Default)]
struct Pauses {
    /// As the file tells.
    told: Vec<archive::Paused>,
    /// Because of `--hold`.
    hold: Vec<Name>,
}

impl Pauses {
    fn of(
        contents: &Contents,
        told: &ImportOptions,
        now: Moment,
        session: &mut Session,
    ) -> Result<Pauses, Error> {
        let mut pauses = Pauses::default();
        if contents.paused.is_empty() && !told.hold {
            return Ok(pauses);
        }
        let paused: HashSet<Name> = session
            .core()?
            .paused(now)?
            .into_iter()
            .map(|one| one.queue)
            .collect();
        for pause in &contents.paused {
            let ended = pause.until.is_some_and(|until| until <= now);
            // A pause that is there was meant, whoever made it.
            let stays = paused.contains(&pause.queue) && told.existing != Existing::Replace;
            if !ended && !stays {
                pauses.told.push(archive::Paused {
                    queue: pause.queue.clone(),
                    until: pause.until,
                    reason: pause.reason.clone(),
                    by: pause.by.clone(),
                });
            }
        }
        if told.hold {
            let there = |queue: &Name| {
                paused.contains(queue) || pauses.told.iter().any(|pause| pause.queue == *queue)
            };
            let queues = contents.queues.iter().filter(|queue| !there(queue));
            pauses.hold = queues.cloned().collect();
        }
        Ok(pauses)
    }

    fn names(&self) -> Vec<&Name> {
        self.told.iter().map(|pause| &pause.queue).collect()
    }

    fn is_empty(&self) -> bool {
        self.told.is_empty() && self.hold.is_empty()
    }
}

/// Pauses queues and sets options: before there are jobs that could run.
fn settings(
    changes: &[OptionChange],
    pauses: &Pauses,
    now: Moment,
    _: Consent,
    session: &mut Session,
) -> Result<(), Error> {
    let core = session.core()?;
    let by = actor::by();
    let reason = Name::from("qless import --hold");
    for queues in pauses.hold.chunks(MOST) {
        core.pause(now, queues, None, Some(&reason), &by)?;
    }
    for pause in &pauses.told {
        let by = pause.by.as_ref().and_then(Name::as_str).unwrap_or(&by);
        let queue = std::slice::from_ref(&pause.queue);
        core.pause(now, queue, pause.until, pause.reason.as_ref(), by)?;
    }
    for change in changes {
        if let Some(value) = &change.after {
            core.set(now, &change.key, value)?;
        }
    }
    Ok(())
}

/// What of a plan's jobs is a template.
const RECURRING: &str = "recurring";

fn plan(
    order: BulkRun,
    contents: &Contents,
    jobs: &[u32],
    existing: &HashSet<Name>,
    told: &ImportOptions,
) -> Plan {
    let jids = contents.by_number();
    let mut left_out = Vec::new();
    for (place, jid) in contents.jobs.iter().zip(&jids) {
        let why = match place.fate {
            check::Fate::Put => continue,
            check::Fate::Complete => JobOutcome::refused(jid, Code::Complete, "it is complete"),
            check::Fate::Failed => JobOutcome::refused(
                jid,
                Code::StateChanged,
                "it has failed, as `--failed skip` says",
            ),
        };
        left_out.push(at_line(why, place.line));
    }
    let rehearsed = told.flags.dry_run && told.existing == Existing::Leave;
    let mut seen = Vec::with_capacity(jobs.len() + contents.recurring.len());
    let mut alike = Interner::default();
    for &at in jobs {
        let jid = jids[at as usize];
        match rehearsed && existing.contains(jid) {
            true => left_out.push(at_line(there(jid), contents.jobs[at as usize].line)),
            false => seen.push(JobSnapshot {
                jid: jid.clone(),
                // Afterwards it is known anyway.
                common: alike.share(SharedFields {
                    queue: told.flags.dry_run.then(|| contents.queue(at)).flatten(),
                    ..SharedFields::default()
                }),
                ..JobSnapshot::default()
            }),
        }
    }
    seen.extend(contents.recurring.iter().map(|(jid, _)| JobSnapshot {
        jid: jid.clone(),
        common: alike.share(SharedFields {
            stored: RECURRING.into(),
            ..SharedFields::default()
        }),
        ..JobSnapshot::default()
    }));
    Plan::listed(order, seen, left_out)
}

fn at_line(mut fate: JobOutcome, line: u64) -> JobOutcome {
    fate.item.line = Some(line);
    fate
}

/// A job that is left as it is.
fn there(jid: &Name) -> JobOutcome {
    let mut item = Item::new(jid, Code::Exists);
    item.result = Counted::Skipped;
    item.detail("it exists already").into()
}

/// Puts the jobs of a plan.
struct Importer<'i> {
    twice: &'i TwoPassFile,
    contents: &'i Contents,
    told: &'i ImportOptions,
    /// Jobs that others wait for and that are nowhere.
    missing: HashSet<Name>,
    /// What each job is to keep in its history.
    note: Option<Vec<u8>>,
    /// When the last job was put.
    last: Moment,
}

impl Importer<'_> {
    fn slice(&mut self, core: &mut Core, now: Moment, jobs: &[JobSnapshot]) -> Slice {
        let mut slice = Slice::default();
        if let Err(changed) = self.twice.unchanged() {
            slice.broke = Some(changed);
            return slice;
        }
        let mut left = jobs;
        while !left.is_empty() && slice.broke.is_none() {
            let some = match left[0].is(RECURRING) {
                true => self.recurring(core, now, &left[0], &mut slice).map(|()| 1),
                false => self.some(core, now, left, &mut slice),
            };
            match some {
                Ok(some) => left = &left[some..],
                Err(error) => slice.broke = Some(error),
            }
        }
        slice
    }

    /// Puts as many jobs as there is room for; returns how many.
    fn some(
        &mut self,
        core: &mut Core,
        now: Moment,
        jobs: &[JobSnapshot],
        slice: &mut Slice,
    ) -> Result<usize, Error> {
        let policy = Policy {
            replace: self.told.existing == Existing::Replace,
            allow_missing: false,
        };
        self.last = self.last.max(now);
        let (mut puts, mut packed, mut size) = (Vec::new(), Vec::new(), 0);
        let mut line = Vec::new();
        for job in jobs.iter().take_while(|job| !job.is(RECURRING)) {
            if size > ROOM {
                break;
            }
            let how = How {
                contents: self.contents,
                told: self.told,
                missing: &self.missing,
                note: self.note.as_deref(),
            };
            let number = self.read(job, &mut line)?;
            let read = match archive::read(&line) {
                Ok(ArchiveLine::Job(read)) if read.jid == job.jid => read,
                _ => return Err(self.twice.changed()),
            };
            // One by one, each at a moment of its own: so they run in the order of the file.
            self.last = self.last.after(STEP);
            let mut put = Puts::new(policy).at(self.last);
            packed.push(how.pack(&read, number, &mut put));
            size += put.size();
            puts.push(put);
        }
        let answers = core.puts(now, puts);
        let (mut tracked, mut broke) = (Vec::new(), None);
        for (packed, answer) in packed.iter().zip(answers) {
            match answer.map(|mut outcomes| outcomes.pop()) {
                Ok(Some(outcome)) => {
                    if packed.tracked && outcome.code == Code::Ok {
                        tracked.push(&packed.jid);
                    }
                    slice.fates.push(self.fate(packed, &outcome));
                }
                Ok(None) => {}
                // What the core does not take is a fault of this job alone.
                Err(error) if error.kind() == Kind::Usage => {
                    let why = refused_argument(&error);
                    slice.fates.push(packed.told(JobOutcome::refused(
                        &packed.jid,
                        Code::Invalid,
                        why,
                    )));
                }
                Err(error) => {
                    slice
                        .fates
                        .push(packed.told(super::lost(&packed.seen(), &error)));
                    broke.get_or_insert(error);
                }
            }
        }
        for answer in core.track_new(now, &tracked) {
            if let Err(error) = answer {
                broke.get_or_insert(error);
            }
        }
        slice.broke = broke;
        Ok(packed.len())
    }

    fn fate(&self, packed: &Packed, outcome: &GuardReply) -> JobOutcome {
        let jid = &packed.jid;
        let names = || {
            let names: Vec<String> = outcome
                .names()
                .map(|jid| format!("`{}`", clean(jid)))
                .collect();
            names.join(", ")
        };
        let fate = match outcome.code {
            Code::Ok => {
                let fate = JobOutcome::done(jid);
                match outcome.word(0).and_then(Name::as_str) {
                    Some(state) => fate.now(state),
                    None => fate,
                }
            }
            Code::Exists if self.told.existing == Existing::Leave => there(jid),
            Code::Exists => JobOutcome::refused(jid, Code::Exists, "it exists already"),
            Code::MissingDependency => JobOutcome::refused(
                jid,
                Code::MissingDependency,
                format!("it waits for {}, which does not exist", names()),
            ),
            Code::Cycle => JobOutcome::refused(
                jid,
                Code::Cycle,
                format!("it would wait for itself, by {}", names()),
            ),
            _ => {
                let why = outcome
                    .word(0)
                    .map_or_else(|| outcome.code.word().into(), clean);
                JobOutcome::refused(jid, outcome.code, why)
            }
        };
        packed.told(fate)
    }

    /// Makes a recurring job again.
    fn recurring(
        &mut self,
        core: &mut Core,
        now: Moment,
        job: &JobSnapshot,
        slice: &mut Slice,
    ) -> Result<(), Error> {
        let mut line = Vec::new();
        let number = self.read(job, &mut line)?;
        let read = match archive::read(&line) {
            Ok(ArchiveLine::Recurring(read)) if read.jid == job.jid => read,
            _ => return Err(self.twice.changed()),
        };
        let queue = self.told.queue(&read.queue).clone();
        let told = |mut fate: JobOutcome| {
            fate.item.queue = Some(queue.clone());
            fate.item.line = Some(number);
            fate
        };
        let there_is = core.recurs(now, std::slice::from_ref(&job.jid))?;
        let exists = there_is.into_iter().any(|job| job.is_some());
        let fate = match (exists, self.told.existing) {
            (true, Existing::Leave) => there(&job.jid),
            (true, Existing::Refuse) => {
                JobOutcome::refused(&job.jid, Code::Exists, "it exists already")
            }
            _ => match core.import_template(now, &pack::template(&read, &queue, now)) {
                Ok(()) => JobOutcome::done(&job.jid).now(RECURRING),
                Err(error) if error.kind() == Kind::Usage => {
                    let why = refused_argument(&error);
                    JobOutcome::refused(&job.jid, Code::Invalid, why)
                }
                Err(error) => return Err(error),
            },
        };
        slice.fates.push(told(fate));
        Ok(())
    }

    /// Reads the line of a job again; returns its number.
    fn read(&self, job: &JobSnapshot, line: &mut Vec<u8>) -> Result<u64, Error> {
        let place = match job.is(RECURRING) {
            false => self
                .contents
                .jids
                .get(&job.jid)
                .map(|&at| self.contents.jobs[at as usize]),
            true => {
                let mut recurring = self.contents.recurring.iter();
                recurring
                    .find(|(jid, _)| *jid == job.jid)
                    .map(|(_, place)| *place)
            }
        };
        match place {
            Some(place) => {
                self.twice.line(place.at, place.length as usize, line)?;
                Ok(place.line)
            }
            None => Err(Error::internal("a job without a line")),
        }
    }
}

/// Which queues are told by `OLD=NEW`.
pub(crate) fn mapped(pairs: &[(Name, Name)]) -> Result<(), Error> {
    let mut seen: HashMap<&Name, &Name> = HashMap::new();
    for (old, new) in pairs {
        if seen.insert(old, new).is_some() {
            let old = clean(old);
            return Err(Error::usage(format!("`--map-queue` names `{old}` twice")));
        }
    }
    Ok(())
}

/// Returns why the core refused a job, without the name of the call.
fn refused_argument(error: &Error) -> &str {
    match error.cause() {
        Some(Cause::Argument(reason)) => reason,
        _ => error.message(),
    }
}
