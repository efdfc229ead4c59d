//! The calls of `qless work`: one ends the jobs that are done and pops further ones, the others extend and release
//! locks. After a lost reply, the history of the jobs shows which endings the core applied.

use std::borrow::Cow;

use super::guard::GuardReply;
use super::index::Index;
use super::job::JOBS_PER_READ;
use super::job::JobFields;
use super::reconcile::whole_second;
use crate::clock::duration::decimal_seconds_text;
use crate::clock::moment::Moment;
use crate::core::call::reply::{self, Bytes};
use crate::core::call::{Call, Core, Value, calls};
use crate::error::{Cause, Error, Kind};
use crate::json::Number;
use crate::json::quote::quote_array;
use crate::model::bulk::MAX_JOBS_PER_CALL;
use crate::model::bulk::{FieldInterner, JobSnapshot};
use crate::model::ending::{
    EndingAction, EndingOutcome, EndingRequest, LockExtensionOutcome, NextQueue,
};
use crate::model::job::{Job, MergePayload, State};
use crate::model::queue::JobsLeftInQueue;
use crate::model::work::PoppedJob;
use crate::name::{Name, lossless_text};

/// The reply to a finish-and-pop call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FinishAndPopReply {
    /// The outcome of each requested ending, in the order of the request.
    pub endings: Vec<EndingOutcome>,
    /// The jobs that the call popped, in the order of the queues.
    pub jobs: Vec<PoppedJob>,
    /// The queues whose pop the core refused after the endings, and why.
    pub refused: Vec<(Name, String)>,
    /// Seconds until the next job of the queues is due. `None` if the core does not know that, or if it popped all jobs
    /// asked for.
    pub due_in: Option<f64>,
    /// The queues that gave fewer jobs than they were asked for. The worker's thread of calls sets this and what
    /// follows.
    pub emptied: Vec<Name>,
    /// Whether jobs of the queues become ready without a put: they wait for a slot of a throttle, for a job before them
    /// in their lane, or for the end of a grace period. Read only after a call that may be the last one.
    pub has_rest: bool,
    /// The queues that still hold jobs. Read only after a call that may be the last one.
    pub left: Vec<JobsLeftInQueue>,
}

/// Why an ending is invalid whose call is longer than the server reads, even without other endings.
const TOO_LONG: &str = "it is longer than the server reads (`proto-max-bulk-len`)";

impl Core {
    /// Ends jobs of a worker, in order: completes, retries or fails each. `may_have_ended`: an earlier call with the
    /// same `now`, whose reply was lost, may have ended the jobs.
    pub fn finish_jobs(
        &mut self,
        now: Moment,
        worker: &Name,
        jobs: &[EndingRequest],
        may_have_ended: bool,
    ) -> Result<Vec<EndingOutcome>, Error> {
        let chunks = || jobs.chunks(MAX_JOBS_PER_CALL);
        let calls: Vec<Call> = chunks()
            .map(|jobs| {
                let call = Call::new(calls::GUARD_FINISH).arg(worker);
                add_ending_args(call, jobs)
            })
            .collect();
        let replies = self.call_all_for_replies(now, &calls);
        let mut none_applied = replies.iter().all(|reply| reply.result.is_err());
        let mut outcomes = Vec::with_capacity(jobs.len());
        for (jobs, reply) in chunks().zip(replies) {
            let repeated = reply.repeated;
            match reply.read() {
                Ok(rows) => {
                    let mut ended = require_outcomes_and_derive_states(rows, jobs)?;
                    if may_have_ended || repeated {
                        self.reconcile_endings(now, worker, jobs, &mut ended);
                    }
                    outcomes.append(&mut ended);
                }
                Err(error) if error.cause() == Some(&Cause::ArgumentTooLong) => match jobs {
                    [_] => outcomes.push(EndingOutcome::Invalid(TOO_LONG.to_owned())),
                    jobs => {
                        none_applied = false;
                        for job in jobs {
                            let one = std::slice::from_ref(job);
                            let ended = self.finish_jobs(now, worker, one, may_have_ended);
                            outcomes.append(&mut ended.map_err(outcome_unknown_error)?);
                        }
                    }
                },
                Err(error) if none_applied => return Err(error),
                // Other calls have ended jobs, and an error would hide their outcomes. So only the jobs of this call
                // get the outcome `Unknown`.
                Err(_) => outcomes.extend(jobs.iter().map(|_| EndingOutcome::Unknown)),
            }
        }
        Ok(outcomes)
    }

    /// Corrects the outcomes of jobs that the worker no longer held at the last attempt: an earlier attempt may have
    /// ended them. The history of each job shows whether it did.
    fn reconcile_endings(
        &mut self,
        now: Moment,
        worker: &Name,
        jobs: &[EndingRequest],
        outcomes: &mut [EndingOutcome],
    ) {
        let mut open = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match outcome {
                // A job that is missing may have completed and been deleted since: its outcome is unknown.
                EndingOutcome::Gone => *outcome = EndingOutcome::Unknown,
                EndingOutcome::NotHolder { .. } => open.push((job, outcome)),
                _ => {}
            }
        }
        for open in open.chunks_mut(JOBS_PER_READ) {
            let jids: Vec<&Name> = open.iter().map(|(job, _)| &job.jid).collect();
            let read = self.read_jobs_in_one_call(now, "state,remaining,history", &jids);
            let mut read = read.unwrap_or_default().into_iter();
            for (job, outcome) in open {
                **outcome = match read.next().flatten() {
                    Some(present) => {
                        let second = whole_second(now);
                        match outcome_if_applied(&present, second, worker, &job.action) {
                            Some(done) => done,
                            None => continue,
                        }
                    }
                    None => EndingOutcome::Unknown,
                };
            }
        }
    }

    /// Ends jobs of a worker, then pops further ones for it: from each queue, in order, up to its count, and up to
    /// `total` in all. After a lost reply, the error has the kind `OutcomeUnknown`. Then `finish_jobs`, with this
    /// `now` and `may_have_ended`, returns the outcomes of the endings, and `recover_jobs_of_lost_pop` finds the popped
    /// jobs.
    pub fn finish_and_pop(
        &mut self,
        now: Moment,
        worker: &Name,
        total: u64,
        queues: &[(Name, u64)],
        jobs: &[EndingRequest],
    ) -> Result<FinishAndPopReply, Error> {
        let first = jobs.len().saturating_sub(1) / MAX_JOBS_PER_CALL * MAX_JOBS_PER_CALL;
        let (first, last) = jobs.split_at(first);
        let mut done = FinishAndPopReply::default();
        if !first.is_empty() {
            done.endings = self.finish_jobs(now, worker, first, false)?;
        }
        let mut call = Call::new(calls::GUARD_TURN)
            .arg(worker)
            .arg(total.to_string())
            .arg((2 * queues.len()).to_string());
        for (queue, count) in queues {
            call = call.arg(queue).arg(count.to_string());
        }
        let rows = match self
            .call_for_reply(now, add_ending_args(call, last))?
            .result
        {
            // Send the endings without the pops, since `finish_jobs` finds the ending that is too long. Then pop.
            Err(error) if error.cause() == Some(&Cause::ArgumentTooLong) && !last.is_empty() => {
                let ended = self.finish_jobs(now, worker, last, false);
                done.endings
                    .append(&mut ended.map_err(outcome_unknown_error)?);
                let pops = self.finish_and_pop(now, worker, total, queues, &[]);
                let pops = pops.map_err(outcome_unknown_error)?;
                return Ok(FinishAndPopReply {
                    endings: done.endings,
                    ..pops
                });
            }
            Err(error) if !done.endings.is_empty() => return Err(outcome_unknown_error(error)),
            rows => rows?,
        };
        // Do not read this reply with serde: only the numbers of jobs and of queues show which rows are endings and
        // which are pops.
        let name = calls::GUARD_TURN.name;
        let expected = last.len() + queues.len();
        let Value::Array(mut rows) = rows else {
            return Err(reply::unexpected_reply(name, "not a list"));
        };
        if rows.len() == expected + 1 {
            done.due_in = rows.pop().and_then(|due| reply::read_reply(name, due).ok());
        }
        if rows.len() != expected {
            return Err(reply::unexpected_reply(
                name,
                "not an item for each job and queue",
            ));
        }
        let pops = rows.split_off(last.len());
        let ended = reply::read_reply(name, Value::Array(rows))?;
        done.endings
            .append(&mut require_outcomes_and_derive_states(ended, last)?);
        for ((queue, _), pop) in queues.iter().zip(pops) {
            if matches!(pop, Value::Array(_)) {
                let (_, why): (Name, String) = reply::read_reply(name, pop)?;
                done.refused.push((queue.clone(), why));
            } else {
                let Bytes(jobs) = reply::read_reply(name, pop)?;
                done.jobs.append(&mut read_popped_jobs(name, &jobs)?);
            }
        }
        Ok(done)
    }

    /// Extends the locks of a worker.
    pub fn extend_locks(
        &mut self,
        now: Moment,
        worker: &Name,
        jids: &[Name],
    ) -> Result<Vec<LockExtensionOutcome>, Error> {
        let extend = |jids: &[Name]| {
            let call = Call::new(calls::GUARD_HEARTBEAT).arg(worker);
            call.args(jids.iter().flat_map(|jid| [jid.as_bytes(), b""]))
        };
        let calls: Vec<Call> = jids.chunks(MAX_JOBS_PER_CALL).map(extend).collect();
        let mut outcomes = Vec::with_capacity(jids.len());
        for locks in self.call_all::<Vec<LockExtensionOutcome>>(now, &calls) {
            outcomes.append(&mut locks?);
        }
        if outcomes.len() == jids.len() {
            Ok(outcomes)
        } else {
            let call = calls::GUARD_HEARTBEAT.name;
            Err(reply::unexpected_reply(call, "not one outcome per lock"))
        }
    }

    /// Releases the locks on jobs that a worker holds, without using a retry. Returns the jobs that it still held.
    pub(crate) fn release_jobs(
        &mut self,
        now: Moment,
        worker: &Name,
        jids: &[Name],
        note: &[u8],
    ) -> Result<Vec<Name>, Error> {
        let mut released = Vec::new();
        let mut interner = FieldInterner::default();
        let found = self.jobs(now, JobFields::Snapshot, jids)?;
        let held = found.into_iter().flatten().filter(|job| {
            let is_running = matches!(job.state, Some(State::Running | State::Stalled));
            is_running && job.worker.as_ref() == Some(worker)
        });
        let jobs: Vec<JobSnapshot> = held
            .map(|job| JobSnapshot::from_job(job, &mut interner))
            .collect();
        for (job, reply) in jobs.iter().zip(self.revoke_locks(now, note, &jobs)) {
            // A refusal means that the job has changed: the worker no longer holds it.
            match reply {
                Ok(GuardReply::Done(())) => released.push(job.jid.clone()),
                Ok(GuardReply::Refused(_)) => {}
                Err(error) if error.refusal_of(&job.jid).is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(released)
    }

    /// The jobs that the worker holds without knowing of them, because the reply to their pop was lost. Extends their
    /// locks: success proves that the worker still holds the job.
    pub fn recover_jobs_of_lost_pop(
        &mut self,
        now: Moment,
        worker: &Name,
        is_known: impl Fn(&Name) -> bool,
    ) -> Result<Vec<PoppedJob>, Error> {
        let mut jids = self.index_members(now, &Index::Worker(worker.clone()))?;
        jids.retain(|jid| !is_known(jid));
        if jids.is_empty() {
            return Ok(Vec::new());
        }
        let locks = self.extend_locks(now, worker, &jids)?;
        let held = jids.into_iter().zip(locks);
        let held: Vec<Name> = held
            .filter(|(_, lock)| matches!(lock, LockExtensionOutcome::Extended(_)))
            .map(|(jid, _)| jid)
            .collect();
        let fields = "jid,state,shown,worker,klass,queue,data,tags,priority,retries,remaining,expires,\
                      spawned_from_jid,dependencies,key,fence,payloads";
        let jobs = self
            .jobs_with_fields(now, fields, &held)?
            .into_iter()
            .flatten();
        let held = jobs.filter(|job| job.worker.as_ref() == Some(worker));
        Ok(held.map(popped_job_from_job).collect())
    }
}

/// Gives an error the kind `OutcomeUnknown`, because some of the jobs may have ended before the error.
fn outcome_unknown_error(error: Error) -> Error {
    Error::new(Kind::OutcomeUnknown, error.message())
}

/// Adds the words of endings to a call.
fn add_ending_args(mut call: Call, jobs: &[EndingRequest]) -> Call {
    for job in jobs {
        let mut words: Vec<Cow<[u8]>> =
            vec![job.jid.as_bytes().into(), job.queue.as_bytes().into()];
        match &job.action {
            EndingAction::Complete { data, next } => {
                words.push(b"complete".into());
                words.push(data.as_deref().unwrap_or_default().into());
                let next = next.iter().flat_map(next_queue_args);
                words.extend(next.map(Cow::from));
            }
            EndingAction::Retry { delay, why } => {
                words.push(b"retry".into());
                words.push(decimal_seconds_text(*delay).into_bytes().into());
                if let Some(why) = why {
                    words.extend([why.group.as_bytes().into(), why.message.as_bytes().into()]);
                    words.extend(job.exit.map(|code| code.to_string().into_bytes().into()));
                }
            }
            EndingAction::Fail { why, data } => {
                words.push(b"fail".into());
                words.extend([why.group.as_bytes().into(), why.message.as_bytes().into()]);
                words.push(data.as_deref().unwrap_or_default().into());
            }
        }
        call.push_arg(words.len().to_string().as_bytes());
        words.iter().for_each(|word| call.push_arg(word));
    }
    call
}

/// The arguments of `complete` by which a job goes on to its next queue.
pub(super) fn next_queue_args(next: &NextQueue) -> Vec<Vec<u8>> {
    let delay = decimal_seconds_text(next.delay);
    let depends = quote_array(next.depends.iter().map(Name::as_bytes));
    let options: [(&str, &[u8]); 3] = [
        ("next", next.queue.as_bytes()),
        ("delay", delay.as_bytes()),
        ("depends", &depends),
    ];
    let options = options.into_iter().chain(next.coordination.option_pairs());
    let words = options.flat_map(|(name, value)| [name.as_bytes().to_vec(), value.to_vec()]);
    words.collect()
}

/// Refuses a reply without one outcome per job. For a retry, the core replies with the number of remaining retries in
/// place of the state: derives the new state from it.
fn require_outcomes_and_derive_states(
    mut outcomes: Vec<EndingOutcome>,
    jobs: &[EndingRequest],
) -> Result<Vec<EndingOutcome>, Error> {
    let unexpected = |why| reply::unexpected_reply(calls::GUARD_FINISH.name, why);
    if outcomes.len() != jobs.len() {
        return Err(unexpected("not one outcome per job"));
    }
    for (job, outcome) in jobs.iter().zip(&mut outcomes) {
        if let (EndingAction::Retry { delay, .. }, EndingOutcome::Done { state, remaining }) =
            (&job.action, outcome)
        {
            let left = Number::from_decimal(state.as_bytes());
            let left = left.ok_or_else(|| unexpected("not a number of retries"))?.0 as i64;
            let now = match (left < 0, delay.is_zero()) {
                (true, _) => "failed",
                (false, false) => "scheduled",
                (false, true) => "waiting",
            };
            (*state, *remaining) = (now.into(), Some(left));
        }
    }
    Ok(outcomes)
}

/// The outcome of an ending, if the history of the job shows that the core applied it at this second. Otherwise `None`:
/// the worker had lost the lock before.
fn outcome_if_applied(
    job: &Job,
    second: i64,
    worker: &Name,
    action: &EndingAction,
) -> Option<EndingOutcome> {
    let done = |state: &str, remaining| EndingOutcome::Done {
        state: state.into(),
        remaining,
    };
    let wrote = |what| has_history_entry(job, second, worker, what);
    match action {
        EndingAction::Complete { next: None, .. } => wrote("done").then(|| done("complete", None)),
        // Report the current state: other workers may have changed it since, and the state right after the ending is
        // unknown.
        EndingAction::Complete { next: Some(_), .. } => {
            let state = job.state_stored.clone().unwrap_or_default();
            let remaining = None;
            wrote("done").then_some(EndingOutcome::Done { state, remaining })
        }
        EndingAction::Fail { .. } => wrote("failed").then(|| done("failed", None)),
        EndingAction::Retry { .. } if wrote("failed") => Some(done("failed", Some(-1))),
        EndingAction::Retry { delay, .. } => {
            let state = if delay.is_zero() {
                "waiting"
            } else {
                "scheduled"
            };
            let remaining = job.remaining.map_or(0, Number::floor);
            wrote("retried").then(|| done(state, Some(remaining)))
        }
    }
}

/// Whether the history has an entry of this name and this second that was written while the worker held the job.
fn has_history_entry(job: &Job, second: i64, worker: &Name, entry_name: &str) -> bool {
    // The core may have trimmed the entry of the worker's pop: the worker counts as the holder until the entry of
    // another pop.
    let mut is_holder = true;
    job.history.iter().flatten().any(|entry| {
        let entry_worker = entry.extra_field_text("worker");
        if entry.what.as_bytes() == b"popped" {
            is_holder = entry_worker.as_ref() == Some(worker);
        }
        let is_writer = entry_worker.is_none_or(|writer| writer == *worker);
        let is_then = entry.when.map(whole_second) == Some(second);
        is_holder && is_then && entry.what.as_bytes() == entry_name.as_bytes() && is_writer
    })
}

/// Reads the JSON text of popped jobs, a part of the reply to `call`, which errors name. Skips the history of the jobs.
pub fn read_popped_jobs(call: &str, bytes: &[u8]) -> Result<Vec<PoppedJob>, Error> {
    if bytes == b"{}" {
        return Ok(Vec::new());
    }
    let mut jobs: Vec<PoppedJob> = serde_json::from_str(&lossless_text(bytes))
        .map_err(|why| reply::unexpected_reply(call, why))?;
    // Jobs of one reply mostly have the same class and queue: share the names with the job before.
    for at in 1..jobs.len() {
        let (before, rest) = jobs.split_at_mut(at);
        let (last, job) = (&before[at - 1], &mut rest[0]);
        if job.klass == last.klass {
            job.klass = last.klass.clone();
        }
        if job.queue == last.queue {
            job.queue = last.queue.clone();
        }
    }
    Ok(jobs)
}

/// A job as pop would return it.
fn popped_job_from_job(job: Job) -> PoppedJob {
    let whole = |number: Option<Number>| number.map_or(0, |number| number.0 as i64);
    let payloads = job.payloads.into_iter();
    let payload = |payload: MergePayload| {
        let score = payload.score.to_string();
        (payload.data.as_bytes().to_vec(), score)
    };
    PoppedJob {
        jid: job.jid,
        klass: job.klass.unwrap_or_default(),
        queue: job.queue.unwrap_or_default(),
        data: job.data.as_bytes().to_vec(),
        tags: job.tags,
        priority: whole(job.priority),
        retries: whole(job.retries),
        remaining: whole(job.remaining),
        expires: job.expires.map_or(0.0, Moment::seconds),
        spawned_from: job.spawned_from,
        dependencies: job.dependencies,
        key: job.key,
        fence: job.fence.map(|fence| fence.0 as u64),
        payloads: payloads.map(payload).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_a_popped_job_is_kept() {
        let reply = b"[{\"jid\":\"\xff\xf4\x8f\xbe\x80\",\"klass\":\"K\xf4\x8f\xbe\x80\",\"queue\":false,\"data\":\"{\\n}\",\
            \"tags\":{},\"history\":[{\"what\":\"put\"}],\"priority\":1.5,\"spawned_from_jid\":false,\"fence\":7,\
            \"payloads\":[[\"1\",2.50]]}]";
        let jobs = read_popped_jobs("pop", reply).unwrap();
        let expected = PoppedJob {
            jid: Name::from(b"\xff\xf4\x8f\xbe\x80".as_slice()),
            klass: Name::from("K\u{10FF80}"),
            data: b"{\n}".to_vec(),
            priority: 1,
            fence: Some(7),
            payloads: vec![(b"1".to_vec(), "2.50".to_owned())],
            ..PoppedJob::default()
        };
        assert_eq!(jobs, [expected]);
    }
}
