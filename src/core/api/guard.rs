//! Guarded writes: each job is changed only if it still is as it was seen.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::Core;
use crate::core::call::reply;
use crate::core::call::{Call, Value};
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::job_snapshot::{Interner, JobSnapshot, SharedFields};
use crate::name::Name;

/// What a guarded call did to one job.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardReply {
    pub code: Code,
    /// The mark of the job as it is, where it is not as it was seen.
    pub mark: Vec<u8>,
    /// What else it says, by outcome (`core.md` 9.4).
    pub detail: Vec<Option<Name>>,
    /// Whether it was found out after the answer was lost: then the detail is not told.
    pub settled: bool,
}

impl GuardReply {
    /// What was done by a call that is not guarded.
    pub(crate) fn done() -> GuardReply {
        GuardReply {
            code: Code::Ok,
            mark: Vec::new(),
            detail: Vec::new(),
            settled: false,
        }
    }

    /// Returns the names in the detail.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.detail.iter().flatten()
    }

    /// Returns one word of the detail.
    pub fn word(&self, at: usize) -> Option<&Name> {
        self.detail.get(at)?.as_ref()
    }
}

/// How jobs are put back into a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requeue<'a> {
    /// Their own queue where nothing is said.
    pub to: Option<&'a Name>,
    pub priority: Option<i64>,
    /// Whether the tries left stay as they are.
    pub keep: bool,
}

/// A job and its neighbors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kin {
    pub seen: JobSnapshot,
    pub dependencies: Vec<Name>,
    pub dependents: Vec<Name>,
}

/// What to do about jobs that wait for one that is cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Dependents {
    /// Do not cancel the job
    #[default]
    Refuse,
    /// Cancel them, too, and all that wait for them
    Cancel,
    /// Let them no longer wait for it
    Release,
}

impl Dependents {
    pub const fn word(self) -> &'static str {
        match self {
            Dependents::Refuse => "refuse",
            Dependents::Cancel => "cancel",
            Dependents::Release => "release",
        }
    }
}

/// As many jobs are looked at by one call; with 500 it keeps a server busy for 10 ms.
pub(crate) const JOBS_PER_READ: usize = 250;

impl Core {
    /// Looks at jobs; those that do not exist are `None`.
    pub fn seen(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<Option<JobSnapshot>>, Error> {
        let mut alike = Interner::default();
        let mut seen = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            let mut words: Vec<&[u8]> =
                vec![b"state,queue,worker,priority,retries,shown,since,mark,due,scheduled"];
            words.extend(jids.iter().map(Name::as_bytes));
            let found = reply::list(self.call(now, "look.jobs", &words)?)?;
            for (jid, job) in jids.iter().zip(found) {
                seen.push(read(now, jid, job, &mut alike)?);
            }
        }
        Ok(seen)
    }

    /// Looks at jobs with those that they wait for, and that wait for them.
    pub fn kin(&mut self, now: Moment, jids: &[Name]) -> Result<Vec<Option<Kin>>, Error> {
        let (mut kin, mut alike) = (Vec::with_capacity(jids.len()), Interner::default());
        for jids in jids.chunks(JOBS_PER_READ) {
            let mut words: Vec<&[u8]> =
                vec![b"state,queue,shown,since,mark,dependencies,dependents"];
            words.extend(jids.iter().map(Name::as_bytes));
            let found = reply::list(self.call(now, "look.jobs", &words)?)?;
            for (jid, job) in jids.iter().zip(found) {
                let (mut dependencies, mut dependents) = (Vec::new(), Vec::new());
                let Value::Array(words) = job else {
                    kin.push(None);
                    continue;
                };
                let mut fields = Vec::with_capacity(words.len());
                for (name, value) in reply::pairs(Value::Array(words))? {
                    match name.as_slice() {
                        b"dependencies" => dependencies = reply::names(value)?,
                        b"dependents" => dependents = reply::names(value)?,
                        _ => fields.extend([Value::BulkString(name), value]),
                    }
                }
                let seen = read(now, jid, Value::Array(fields), &mut alike)?;
                kin.push(seen.map(|seen| Kin {
                    seen,
                    dependencies,
                    dependents,
                }));
            }
        }
        Ok(kin)
    }

    /// Returns who waits for whom.
    pub fn dependents(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<HashMap<Name, Vec<Name>>, Error> {
        let mut dependents = HashMap::new();
        for jids in jids.chunks(JOBS_PER_READ) {
            let mut words: Vec<&[u8]> = vec![b"dependents"];
            words.extend(jids.iter().map(Name::as_bytes));
            let found = reply::list(self.call(now, "look.jobs", &words)?)?;
            for (jid, job) in jids.iter().zip(found) {
                if matches!(job, Value::Nil) {
                    continue;
                }
                for (_, names) in reply::pairs(job)? {
                    let names = reply::names(names)?;
                    if !names.is_empty() {
                        dependents.insert(jid.clone(), names);
                    }
                }
            }
        }
        Ok(dependents)
    }

    /// Puts jobs back into a queue, each when it is due, at once where nothing is said: retry,
    /// promote and move. The mark says from which state a job may go.
    pub fn requeue(
        &mut self,
        now: Moment,
        how: &Requeue,
        note: &[u8],
        jobs: &[(&JobSnapshot, Option<Moment>)],
    ) -> Result<Vec<GuardReply>, Error> {
        let from: BTreeSet<Option<&str>> =
            jobs.iter().map(|(job, _)| job.stored.as_str()).collect();
        let mut options = serde_json::json!({ "from": from, "keep": how.keep });
        if let Some(priority) = how.priority {
            options["priority"] = priority.into();
        }
        let mut options = options.to_string().into_bytes();
        if let Some(to) = &how.to {
            options.pop();
            options.extend(b",\"to\":");
            options.extend(crate::json::quote::quote(to.as_bytes()));
            options.push(b'}');
        }
        let due = |due: &Option<Moment>| due.map_or(String::new(), |due| due.to_string());
        let dues: Vec<String> = jobs.iter().map(|(_, at)| due(at)).collect();
        let mut words: Vec<&[u8]> = vec![&options, note];
        for ((job, _), due) in jobs.iter().zip(&dues) {
            words.extend([job.jid.as_bytes(), &job.mark, due.as_bytes()]);
        }
        let call = Call::new("guard.requeue").args(&words);
        let (reply, again) = self.answer(now, call);
        let mut outcomes = outcomes(reply?)?;
        if again {
            let jids = jobs.iter().map(|(job, _)| &job.jid);
            self.settle(now, note, jids.zip(&mut outcomes).collect());
        }
        Ok(outcomes)
    }

    /// Deletes jobs.
    pub fn cancel(
        &mut self,
        now: Moment,
        dependents: Dependents,
        jobs: &[&JobSnapshot],
        _: Consent,
    ) -> Result<Vec<GuardReply>, Error> {
        let mut words: Vec<&[u8]> = vec![dependents.word().as_bytes()];
        for job in jobs {
            words.extend([job.jid.as_bytes(), &job.mark]);
        }
        let call = Call::new("guard.cancel").args(&words);
        let (reply, again) = self.answer(now, call);
        let mut outcomes = outcomes(reply?)?;
        if again {
            outcomes.iter_mut().for_each(GuardReply::settle_cancel);
        }
        Ok(outcomes)
    }

    /// Lets a job wait for further ones: for all of them, or for none.
    pub fn depend(
        &mut self,
        now: Moment,
        job: &JobSnapshot,
        note: &[u8],
        on: &[Name],
    ) -> Result<GuardReply, Error> {
        let mut words: Vec<&[u8]> = vec![job.jid.as_bytes(), &job.mark, note];
        words.extend(on.iter().map(Name::as_bytes));
        let call = Call::new("guard.depends").args(&words);
        let (reply, again) = self.answer(now, call);
        let mut outcome = outcome(reply?)?;
        if again {
            self.settle(now, note, vec![(&job.jid, &mut outcome)]);
        }
        Ok(outcome)
    }
}

/// Reads what was asked of one job.
fn read(
    now: Moment,
    jid: &Name,
    job: Value,
    alike: &mut Interner,
) -> Result<Option<JobSnapshot>, Error> {
    if matches!(job, Value::Nil) {
        return Ok(None);
    }
    let (mut due, mut scheduled, mut since) = (None, None, None);
    let (mut common, mut mark) = (SharedFields::default(), Vec::new());
    for (field, value) in reply::pairs(job)? {
        let Some(text) = reply::optional(value)? else {
            continue;
        };
        let some = |text: Vec<u8>| (!text.is_empty()).then(|| Name::from(text));
        match field.as_slice() {
            b"state" => common.stored = text.into(),
            b"shown" => common.state = text.into(),
            b"queue" => common.queue = some(text),
            b"priority" => common.priority = some(text),
            b"retries" => common.retries = some(text),
            b"worker" => common.worker = some(text),
            b"since" => since = Moment::read(&text),
            b"mark" => mark = text,
            b"due" => due = Moment::read(&text),
            b"scheduled" => scheduled = Moment::read(&text),
            _ => {}
        }
    }
    // What waits for other jobs has its time in the field.
    let waits = common.stored.as_bytes() == b"depends";
    let told = if waits { scheduled } else { due };
    Ok(Some(JobSnapshot {
        jid: jid.clone(),
        mark: mark.into(),
        common: alike.share(common),
        since,
        due: told.filter(|due| *due > now),
        later: Duration::ZERO,
    }))
}

/// Reads `[outcome, mark, detail …]` of each job.
pub(crate) fn outcomes(value: Value) -> Result<Vec<GuardReply>, Error> {
    reply::list(value)?.into_iter().map(outcome).collect()
}

/// Reads what `guard.call` answers: what became of the job, and the command's own reply if it was
/// run.
pub(crate) fn outcome_and_reply(value: Value) -> Result<(GuardReply, Option<Value>), Error> {
    let mut words = reply::list(value)?;
    let done = matches!(words.first(), Some(Value::BulkString(word)) if word == b"done");
    let reply = match done && words.len() > 2 {
        true => Some(words.swap_remove(2)),
        false => None,
    };
    words.truncate(if done { 2 } else { words.len() });
    Ok((outcome(Value::Array(words))?, reply))
}

pub(crate) fn outcome(value: Value) -> Result<GuardReply, Error> {
    let mut words = reply::list(value)?.into_iter();
    let code = match words.next() {
        Some(word) => Code::read(&reply::bytes(word)?),
        None => None,
    };
    let code = code.ok_or_else(|| reply::unexpected("an outcome"))?;
    let mark = match words.next() {
        Some(mark) => reply::optional(mark)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let detail = words
        .map(|word| Ok(reply::optional(word)?.map(Name::from)))
        .collect::<Result<_, Error>>()?;
    Ok(GuardReply {
        code,
        mark,
        detail,
        settled: false,
    })
}
