//! Guarded writes: a job is changed only if it is still as it was when it was read.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use strum::IntoStaticStr;

use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::call_spec::{RetryClass, Subject};
use crate::core::call::reply;
use crate::core::call::{Call, Core, Value};
use crate::error::Error;
use crate::model::bulk::Code;
use crate::model::job::Failure;
use crate::model::job_snapshot::{Interner, JobSnapshot, SharedFields};
use crate::name::Name;

/// What a guarded call did to one job.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardReply {
    pub code: Code,
    /// The current mark of the job, if the job changed since it was read.
    pub mark: Vec<u8>,
    /// The other values, by outcome.
    pub detail: Vec<Option<Name>>,
    /// Whether the outcome was found out after the reply was lost. Then there is no detail.
    pub reconciled: bool,
}

impl GuardReply {
    /// The reply to a call that is not guarded and succeeded.
    pub(crate) fn done() -> GuardReply {
        GuardReply {
            code: Code::Ok,
            mark: Vec::new(),
            detail: Vec::new(),
            reconciled: false,
        }
    }

    /// Returns the names in the detail.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.detail.iter().flatten()
    }

    /// Returns one value of the detail.
    pub fn word(&self, at: usize) -> Option<&Name> {
        self.detail.get(at)?.as_ref()
    }
}

/// How jobs are put into a queue again.
#[derive(Clone, Debug, PartialEq)]
pub struct Requeue<'a> {
    pub verb: RequeueVerb,
    /// Their own queue if absent.
    pub to: Option<&'a Name>,
    pub priority: Option<i64>,
    /// Whether the remaining retries stay as they are.
    pub keep: bool,
}

/// Which command requeues jobs, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequeueVerb {
    Retry,
    Promote,
    Move,
}

impl RequeueVerb {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            RequeueVerb::Retry => ("retry", "retrying"),
            RequeueVerb::Promote => ("promote", "promoting"),
            RequeueVerb::Move => ("move", "moving"),
        }
    }
}

/// A job with its dependencies and dependents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobWithNeighbors {
    pub seen: JobSnapshot,
    pub dependencies: Vec<Name>,
    pub dependents: Vec<Name>,
}

/// What to do about the dependents of a cancelled job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Dependents {
    /// Do not cancel the job
    #[default]
    Refuse,
    /// Cancel them and their dependents, too
    Cancel,
    /// Remove the job from their dependencies
    Release,
}

/// The number of jobs that one call reads. 500 would keep a server busy for 10 ms.
pub(crate) const JOBS_PER_READ: usize = 250;

impl Core {
    /// Returns snapshots of jobs, `None` for those that do not exist.
    pub fn snapshots(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<JobSnapshot>>, Error> {
        let mut interner = Interner::default();
        let mut snapshots = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            let fields =
                "state,queue,worker,priority,retries,failure,shown,since,mark,due,scheduled";
            for (jid, job) in jids.iter().zip(self.look(now, fields, jids)?) {
                snapshots.push(read(now, jid, job, &mut interner)?);
            }
        }
        Ok(snapshots)
    }

    /// Returns snapshots of jobs with their dependencies and dependents.
    pub fn jobs_with_neighbors(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<JobWithNeighbors>>, Error> {
        let (mut kin, mut interner) = (Vec::with_capacity(jids.len()), Interner::default());
        for jids in jids.chunks(JOBS_PER_READ) {
            let fields = "state,queue,shown,since,mark,dependencies,dependents";
            for (jid, job) in jids.iter().zip(self.look(now, fields, jids)?) {
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
                let seen = read(now, jid, Value::Array(fields), &mut interner)?;
                kin.push(seen.map(|seen| JobWithNeighbors {
                    seen,
                    dependencies,
                    dependents,
                }));
            }
        }
        Ok(kin)
    }

    /// Returns the dependents of those jobs that have any.
    pub fn dependents(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<HashMap<Name, Vec<Name>>, Error> {
        let mut dependents = HashMap::new();
        for jids in jids.chunks(JOBS_PER_READ) {
            for (jid, job) in jids.iter().zip(self.look(now, "dependents", jids)?) {
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

    /// Reads fields of jobs: nil for each job that does not exist.
    pub(super) fn look<J: AsRef<[u8]>>(
        &mut self,
        now: Moment,
        fields: &str,
        jids: &[J],
    ) -> Result<Vec<Value>, Error> {
        let call = Call::read("look.jobs").arg(fields).args(jids);
        reply::list(self.call(now, call)?)
    }

    /// Puts jobs into a queue again, each at its due time, or immediately if it has none: retry,
    /// promote and move. The mark says in which state a job must be.
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
        // Without a mark the core does not refuse a second requeue.
        let class = if jobs.iter().all(|(job, _)| !job.mark.is_empty()) {
            RetryClass::Guarded
        } else {
            RetryClass::Never
        };
        let (verb, doing) = how.verb.words();
        let mut call = Call::write("guard.requeue", class, verb, doing);
        call = call.arg(options).arg(note).about(Subject::Jid(2));
        for (job, due) in jobs {
            let due = due.map_or(String::new(), |due| due.to_string());
            call = call.arg(&job.jid).arg(&job.mark).arg(due);
        }
        let reply = self.reply(now, call)?;
        let mut outcomes = outcomes(reply.result?)?;
        if reply.repeated {
            let jids = jobs.iter().map(|(job, _)| &job.jid);
            self.reconcile(now, note, jids.zip(&mut outcomes).collect());
        }
        Ok(outcomes)
    }

    /// Deletes jobs in their order, as many as one call deletes and at least one. Returns the outcomes of
    /// these.
    pub fn cancel(
        &mut self,
        now: Moment,
        dependents: Dependents,
        jobs: &[&JobSnapshot],
        _: Consent,
    ) -> Result<Vec<GuardReply>, Error> {
        let mut call = Call::write(
            "guard.cancel",
            RetryClass::Idempotent,
            "cancel",
            "cancelling",
        );
        call = call.arg(dependents.into_str()).about(Subject::Jid(1));
        for job in jobs {
            call = call.arg(&job.jid).arg(&job.mark);
        }
        let reply = self.reply(now, call)?;
        let mut outcomes = outcomes(reply.result?)?;
        if outcomes.is_empty() || outcomes.len() > jobs.len() {
            return Err(reply::unexpected("an outcome for each job"));
        }
        if reply.repeated {
            outcomes.iter_mut().for_each(GuardReply::reconcile_cancel);
        }
        Ok(outcomes)
    }

    /// Adds dependencies to a job: all of these, or none.
    pub fn depend(
        &mut self,
        now: Moment,
        job: &JobSnapshot,
        note: &[u8],
        on: &[Name],
    ) -> Result<GuardReply, Error> {
        let class = if job.mark.is_empty() {
            RetryClass::Idempotent
        } else {
            RetryClass::Guarded
        };
        let (verb, doing) = CHANGE_DEPENDENCIES;
        let call = Call::write("guard.depends", class, verb, doing);
        let call = call.jid(&job.jid).arg(&job.mark).arg(note).args(on);
        let reply = self.reply(now, call)?;
        let mut outcome = outcome(reply.result?)?;
        if reply.repeated {
            self.reconcile(now, note, vec![(&job.jid, &mut outcome)]);
        }
        Ok(outcome)
    }
}

/// How errors speak of a change of dependencies.
pub(super) const CHANGE_DEPENDENCIES: (&str, &str) =
    ("change the dependencies of", "changing the dependencies of");

/// Reads the snapshot of one job.
fn read(
    now: Moment,
    jid: &Name,
    job: Value,
    interner: &mut Interner,
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
            b"failure" => common.group = Failure::read(&text).map(|failure| failure.group),
            b"since" => since = Moment::read(&text),
            b"mark" => mark = text,
            b"due" => due = Moment::read(&text),
            b"scheduled" => scheduled = Moment::read(&text),
            _ => {}
        }
    }
    // A job with dependencies has its due time only in its own field.
    let depends = common.stored.as_bytes() == b"depends";
    let due = if depends { scheduled } else { due };
    Ok(Some(JobSnapshot {
        jid: jid.clone(),
        mark: mark.into(),
        common: interner.share(common),
        since,
        due: due.filter(|due| *due > now),
        later: Duration::ZERO,
    }))
}

/// Reads `[outcome, mark, detail …]` of each job.
pub(crate) fn outcomes(value: Value) -> Result<Vec<GuardReply>, Error> {
    reply::list(value)?.into_iter().map(outcome).collect()
}

/// Reads the reply of `guard.call`: the outcome for the job, and the inner command's reply if it ran.
pub(crate) fn outcome_and_reply(value: Value) -> Result<(GuardReply, Option<Value>), Error> {
    let mut words = reply::list(value)?;
    let done = matches!(words.first(), Some(Value::BulkString(word)) if word == b"done");
    let reply = if done && words.len() > 2 {
        Some(words.swap_remove(2))
    } else {
        None
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
        reconciled: false,
    })
}
