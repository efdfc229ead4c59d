//! Guarded writes: puts, which treat an existing job as the policy says, and changes that the core makes only if the job
//! has not changed since the client read it.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use strum::IntoStaticStr;

use super::reconcile::whole_second;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::calls::{CallSpec, RetryClass, SubjectArgs};
use crate::core::call::connect::WireEncodedWords;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::model::bulk::{JobOutcome, JobSnapshot, OutcomeCode, OutcomeDetail};
use crate::model::job::Job;
use crate::name::Name;
use crate::text::backtick_list;

/// The reply to a guarded call about one job. `D` has the values that the core returns with the change.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardReply<D = ()> {
    /// The core made the change.
    Done(D),
    Refused(GuardRefusal),
}

/// Why a guarded call did not change a job. With the code `unknown` the call may have changed it: its reply was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardRefusal {
    pub code: OutcomeCode,
    /// The current mark of the job, if the job changed since it was read.
    pub mark: Vec<u8>,
    /// Names, times or a sentence, depending on the code.
    pub detail: Vec<Option<Name>>,
}

impl<D> GuardReply<D> {
    /// The code of a refusal; `None` if the core made the change.
    pub(crate) fn refusal_code(&self) -> Option<OutcomeCode> {
        match self {
            GuardReply::Done(_) => None,
            GuardReply::Refused(refusal) => Some(refusal.code),
        }
    }
}

impl GuardRefusal {
    pub fn detail_names(&self) -> impl Iterator<Item = &Name> {
        self.detail.iter().flatten()
    }

    /// Why a put or a change of dependencies was refused.
    pub(crate) fn put_or_dependency_detail(&self) -> OutcomeDetail {
        match self.code {
            OutcomeCode::Exists => "a job of this id exists already".into(),
            OutcomeCode::MissingDependency => {
                let missing: Vec<&Name> = self.detail_names().collect();
                let verb = if missing.len() == 1 { "does" } else { "do" };
                OutcomeDetail::Caused {
                    reason: "a job that it would wait for does not exist",
                    text: format!("{} {verb} not exist", backtick_list(missing)),
                }
            }
            OutcomeCode::Cycle => {
                let mut path: Vec<String> = self.detail_names().map(Name::to_string).collect();
                if path.len() < 2 || path.first() != path.last() {
                    path.extend(path.first().cloned());
                }
                OutcomeDetail::Caused {
                    reason: "it would wait for itself",
                    text: format!("it would wait for itself: {}", path.join(" → ")),
                }
            }
            _ => self.core_refusal_text().into(),
        }
    }

    /// The core's sentence for a refusal. If there is none, the name of the outcome.
    pub fn core_refusal_text(&self) -> String {
        let why = self.detail.first().and_then(Option::as_ref);
        why.map_or_else(|| self.code.into_str().into(), Name::to_string)
    }

    /// A time in the detail.
    fn detail_moment(&self, index: usize) -> Option<Moment> {
        Moment::from_decimal(self.detail.get(index)?.as_ref()?.as_bytes())
    }
}

impl JobOutcome {
    /// The outcome of a job that a guarded call did not change.
    pub(crate) fn from_guard_refusal(job: &JobSnapshot, refusal: &GuardRefusal) -> JobOutcome {
        let jid = &job.jid;
        // A mark begins with the state. If the state is unchanged, another part of the job has changed.
        let state = [job.stored.as_bytes(), b":"].concat();
        let outcome = match refusal.code {
            OutcomeCode::Gone => JobOutcome::gone(jid),
            OutcomeCode::StateChanged if refusal.mark.starts_with(&state) => {
                JobOutcome::changed_meanwhile(jid)
            }
            OutcomeCode::StateChanged => {
                let why = OutcomeDetail::Is(format!("no longer {}", job.stored));
                JobOutcome::refused(jid, OutcomeCode::StateChanged, why)
            }
            OutcomeCode::Complete => JobOutcome::already_complete(jid),
            code => JobOutcome::refused(jid, code, refusal.core_refusal_text()),
        };
        outcome.with_snapshot(job)
    }
}

/// Reads the outcome and the mark, then the values of the change if it was made, else the detail.
impl<'de, D: Deserialize<'de>> Deserialize<'de> for GuardReply<D> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<GuardReply<D>, R::Error> {
        struct GuardVisitor<D>(PhantomData<D>);
        impl<'de, D: Deserialize<'de>> Visitor<'de> for GuardVisitor<D> {
            type Value = GuardReply<D>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an outcome")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<Self::Value, A::Error> {
                let absent = || A::Error::custom("no outcome");
                let code: OutcomeCode = row.next_element()?.ok_or_else(absent)?;
                let mark: Option<Option<Bytes>> = row.next_element()?;
                Ok(if code == OutcomeCode::Ok {
                    GuardReply::Done(row.next_element()?.ok_or_else(absent)?)
                } else {
                    GuardReply::Refused(GuardRefusal {
                        code,
                        mark: mark.flatten().unwrap_or_default().0,
                        detail: row.next_element()?.unwrap_or_default(),
                    })
                })
            }
        }
        deserializer.deserialize_struct("row", &["code", "mark", ".."], GuardVisitor(PhantomData))
    }
}

/// How a put treats a job that exists already and a dependency that does not exist, and what it reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PutPolicy {
    /// Put an existing job again.
    pub replace: bool,
    /// Skip dependencies that do not exist.
    pub allow_missing: bool,
    /// Report for each put the job that it duplicates, and the job before it in its lane.
    pub tell_lanes: bool,
    /// Report what the put would do, and write nothing.
    pub dry_run: bool,
}

/// The result of a put.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row", default)]
pub(crate) struct PutResult {
    /// `merged`, `skipped` or `replaced` if the job was a duplicate of another one, else the state of the job.
    pub state: Option<Name>,
    /// The job that this one duplicates, if [`PutPolicy::tell_lanes`] is set.
    pub jid: Option<Name>,
    /// The job before this one in its lane, if [`PutPolicy::tell_lanes`] is set.
    #[serde(deserialize_with = "reply::name_unless_empty")]
    pub behind: Option<Name>,
    /// The given dependencies for which the job does not wait, because they are complete or missing.
    #[serde(rename = "..")]
    pub no_dependencies: Vec<Name>,
}

impl PutPolicy {
    /// A call that puts one job, whose words are to be added. If it puts the job, it also gives throttles these maxima.
    pub(crate) fn put_one_call(self, maxima: Option<&ThrottleMaximaJson>) -> Call {
        Call::new(self.guard_put_spec()).arg(self.json_with_maxima(maxima))
    }

    /// A call that puts many jobs, up to `MAX_JOBS_PER_CALL`, from the words of each. Its errors speak of jobs in
    /// general, because errors cannot read jids from packed words. If it puts at least one job, it also gives throttles these maxima.
    pub(crate) fn put_many_call(
        self,
        maxima: Option<&ThrottleMaximaJson>,
        jobs: WireEncodedWords,
    ) -> Call {
        let spec = self.guard_put_spec().with_subject(SubjectArgs::Jobs);
        let call = Call::new(spec).arg(self.json_with_maxima(maxima));
        call.packed_args(jobs)
    }

    /// The spec of the call. With `replace`, the call must not be repeated after a lost reply: a second put would
    /// replace the job again.
    fn guard_put_spec(self) -> CallSpec {
        if self.dry_run {
            calls::GUARD_PUT.as_dry_run()
        } else if self.replace {
            calls::GUARD_PUT
        } else {
            calls::GUARD_PUT.with_retry_class(RetryClass::Idempotent)
        }
    }

    /// The policy and the maxima as the first argument of the call.
    fn json_with_maxima(self, maxima: Option<&ThrottleMaximaJson>) -> Vec<u8> {
        let replace = self.replace;
        let missing = if self.allow_missing {
            "allow"
        } else {
            "refuse"
        };
        let mut text = format!(r#"{{"replace":{replace},"missing":"{missing}""#).into_bytes();
        if self.tell_lanes {
            text.extend(br#","lanes":true"#);
        }
        if self.dry_run {
            text.extend(br#","dry":true"#);
        }
        if let Some(ThrottleMaximaJson(fields)) = maxima {
            text.extend(fields);
        }
        text.push(b'}');
        text
    }
}

/// The maxima of throttles that a call sets if it puts at least one job, as JSON fields of the policy.
#[derive(Debug, PartialEq)]
pub(crate) struct ThrottleMaximaJson(Vec<u8>);

impl ThrottleMaximaJson {
    /// Writes the JSON fields `by` and `maxima` of a put's policy, from the operator and the maxima by throttle id.
    pub(crate) fn new<'t>(
        maxima: impl Iterator<Item = (&'t Name, i64)>,
        by: &str,
    ) -> ThrottleMaximaJson {
        let mut text = br#","by":"#.to_vec();
        text.extend(quote_string(by.as_bytes()));
        text.extend(br#","maxima":{"#);
        for (at, (id, maximum)) in maxima.enumerate() {
            if at > 0 {
                text.push(b',');
            }
            text.extend(quote_string(id.as_bytes()));
            text.extend(format!(":{maximum}").bytes());
        }
        text.push(b'}');
        ThrottleMaximaJson(text)
    }
}

/// Which entry in the history of an existing job gives its age: it shows whether an earlier attempt put the job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PutEvidence {
    /// The first entry: an attempt that created the job wrote it. A newer put may be that of another client.
    FirstEntry,
    /// The entry of the newest put: an imported job has the older entries of its export, and a replaced job keeps its
    /// own.
    NewestPut,
}

impl GuardReply<PutResult> {
    /// Whether a put was refused because the job exists and is not older than `put_at`, so that an earlier attempt has
    /// put it.
    pub(crate) fn is_existing_since(&self, put_at: Moment, evidence: PutEvidence) -> bool {
        let GuardReply::Refused(refusal) = self else {
            return false;
        };
        let since = refusal.detail_moment(match evidence {
            PutEvidence::FirstEntry => 0,
            PutEvidence::NewestPut => 1,
        });
        refusal.code == OutcomeCode::Exists
            && since.is_some_and(|since| whole_second(since) >= whole_second(put_at))
    }
}

/// How jobs are put into a queue again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequeueVerb {
    /// The job gets all its retries again.
    Retry,
    /// The job keeps its remaining retries.
    RetryRunning,
    /// The job keeps its remaining retries.
    Promote,
    /// The job gets all its retries again.
    Move,
}

impl RequeueVerb {
    /// The verb and its participle, for errors.
    const fn verb_and_present_participle(self) -> (&'static str, &'static str) {
        match self {
            RequeueVerb::Retry | RequeueVerb::RetryRunning => ("retry", "retrying"),
            RequeueVerb::Promote => ("promote", "promoting"),
            RequeueVerb::Move => ("move", "moving"),
        }
    }

    const fn keeps_remaining_retries(self) -> bool {
        matches!(self, RequeueVerb::RetryRunning | RequeueVerb::Promote)
    }
}

/// The treatment of the dependents of a cancelled job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DependentsPolicy {
    /// Do not cancel the job
    #[default]
    Refuse,
    /// Cancel them and their dependents, too
    Cancel,
    /// Remove the job from their dependencies
    Release,
}

impl Core {
    /// Makes a call that puts one job, which has the id `jid`. Errors name the job.
    pub(crate) fn put_one(
        &mut self,
        now: Moment,
        jid: &Name,
        put_one_call: Call,
    ) -> Result<GuardReply<PutResult>, Error> {
        let reply = self.call_for_reply(now, put_one_call)?;
        let repeated = reply.repeated;
        let (outcome,): (GuardReply<PutResult>,) = reply.read()?;
        if !repeated || !outcome.is_existing_since(now, PutEvidence::FirstEntry) {
            return Ok(outcome);
        }
        // The first attempt put the job. If the job cannot be read now, only its state is missing from the result.
        let found = self.job_snapshots(now, std::slice::from_ref(jid));
        let found = found.unwrap_or_default().into_iter().flatten().next();
        Ok(GuardReply::Done(PutResult {
            state: found.map(|job| job.state.clone()),
            ..PutResult::default()
        }))
    }

    /// Makes calls that put many jobs in one round trip, in order; each call comes with the number of its jobs. Returns
    /// the outcomes of each call's jobs, in order.
    pub(crate) fn put_many(
        &mut self,
        now: Moment,
        calls_with_job_counts: Vec<(Call, usize)>,
        evidence: PutEvidence,
    ) -> Vec<Result<Vec<GuardReply<PutResult>>, Error>> {
        let (calls, job_counts): (Vec<Call>, Vec<usize>) =
            calls_with_job_counts.into_iter().unzip();
        let replies = self.call_all_for_replies(now, &calls).into_iter();
        let results = replies.zip(job_counts).map(|(reply, job_count)| {
            let repeated = reply.repeated;
            let outcomes: Vec<GuardReply<PutResult>> = reply.read()?;
            let call = calls::GUARD_PUT.name;
            let mut outcomes = reply::require_row_per_item(call, outcomes, job_count)?;
            for outcome in outcomes.iter_mut().filter(|_| repeated) {
                if outcome.is_existing_since(now, evidence) {
                    // The first attempt put the job.
                    *outcome = GuardReply::Done(PutResult::default());
                }
            }
            Ok(outcomes)
        });
        results.collect()
    }

    /// Puts jobs into a queue again, as retry, promote and move do: into the queue `to`, or each into its own; each at
    /// its due time, or immediately if it has none. The core refuses a job that has changed since its snapshot. Returns
    /// the outcome of each job.
    pub(crate) fn requeue_jobs(
        &mut self,
        now: Moment,
        note: &[u8],
        verb: RequeueVerb,
        to: Option<&Name>,
        priority: Option<i64>,
        jobs_and_due_times: &[(&JobSnapshot, Option<Moment>)],
    ) -> Result<Vec<JobOutcome>, Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename = "row", default)]
        struct Requeued {
            /// The new state; `merged` if the last job of the lane took the payloads of the job.
            state: Option<Name>,
            queue: Option<Name>,
        }
        let from: BTreeSet<Option<&str>> = jobs_and_due_times
            .iter()
            .map(|(job, _)| job.stored.as_str())
            .collect();
        let mut options =
            serde_json::json!({ "from": from, "keep": verb.keeps_remaining_retries() });
        if let Some(priority) = priority {
            options["priority"] = priority.into();
        }
        let mut options = options.to_string().into_bytes();
        if let Some(to) = to {
            // A name that is not UTF-8 cannot be part of a serde_json value, so `to` is added to the text.
            options.pop();
            options.extend(b",\"to\":");
            options.extend(quote_string(to.as_bytes()));
            options.push(b'}');
        }
        // Without a mark, the core would requeue a job a second time: the call must not be repeated.
        let class = if jobs_and_due_times
            .iter()
            .all(|(job, _)| !job.mark.is_empty())
        {
            RetryClass::Guarded
        } else {
            RetryClass::Never
        };
        let (verb, doing) = verb.verb_and_present_participle();
        let spec = calls::GUARD_REQUEUE
            .with_retry_class(class)
            .with_wording(verb, doing);
        let mut call = Call::new(spec).arg(options).arg(note);
        for (job, due) in jobs_and_due_times {
            let due = due.map_or(String::new(), |due| due.to_string());
            call = call.arg(&job.jid).arg(&job.mark).arg(due);
        }
        let reply = self.call_for_reply(now, call)?;
        let repeated = reply.repeated;
        let replies: Vec<GuardReply<Requeued>> = reply.read()?;
        let call = calls::GUARD_REQUEUE.name;
        let mut replies = reply::require_row_per_item(call, replies, jobs_and_due_times.len())?;
        if repeated {
            let jids = jobs_and_due_times.iter().map(|(job, _)| &job.jid);
            let requeued = |job: Job| Requeued {
                state: job.state.map(|state| state.into_str().into()),
                queue: job.queue,
            };
            self.reconcile_repeated_calls(now, note, jids.zip(&mut replies).collect(), requeued);
        }
        let outcomes = jobs_and_due_times.iter().zip(replies);
        let outcomes = outcomes.map(|((job, _), reply)| match reply {
            GuardReply::Refused(refusal) => JobOutcome::from_guard_refusal(job, &refusal),
            GuardReply::Done(done) => JobOutcome {
                state_after: done.state,
                queue: done.queue.or_else(|| job.queue.clone()),
                ..JobOutcome::done(&job.jid).with_snapshot(job)
            },
        });
        Ok(outcomes.collect())
    }

    /// Cancels jobs in order, at least one, until the limit of one call is reached. The outcome of a cancelled job names
    /// the dependents that were deleted or released with it; `None` if the reply with the names was lost.
    pub fn cancel_jobs_up_to_call_limit(
        &mut self,
        now: Moment,
        dependents: DependentsPolicy,
        jobs: &[&JobSnapshot],
        _: Consent,
    ) -> Result<Vec<GuardReply<Option<Vec<Name>>>>, Error> {
        let mut call = Call::new(calls::GUARD_CANCEL).arg(dependents.into_str());
        for job in jobs {
            call = call.arg(&job.jid).arg(&job.mark);
        }
        let reply = self.call_for_reply(now, call)?;
        let repeated = reply.repeated;
        let mut outcomes: Vec<GuardReply<Option<Vec<Name>>>> = reply.read()?;
        if outcomes.is_empty() || outcomes.len() > jobs.len() {
            let call = calls::GUARD_CANCEL.name;
            let error = reply::unexpected_reply(call, "not an outcome for each job");
            return Err(match jobs {
                [job] => error.about_jid(&job.jid),
                _ => error,
            });
        }
        if repeated {
            outcomes
                .iter_mut()
                .for_each(GuardReply::treat_gone_as_cancelled);
        }
        Ok(outcomes)
    }

    /// Adds dependencies to a job: all of these, or none. The outcome names the dependencies that are complete already.
    /// Without a note it is a dry run.
    pub fn add_dependencies_returning_completed(
        &mut self,
        now: Moment,
        job: &JobSnapshot,
        note: Option<&[u8]>,
        dependencies: &[Name],
    ) -> Result<GuardReply<Vec<Name>>, Error> {
        let class = if job.mark.is_empty() {
            RetryClass::Idempotent
        } else {
            RetryClass::Guarded
        };
        let spec = match note {
            Some(_) => calls::GUARD_DEPENDS.with_retry_class(class),
            None => calls::GUARD_DEPENDS.as_dry_run(),
        };
        let call = Call::new(spec)
            .arg(&job.jid)
            .arg(&job.mark)
            .arg(note.unwrap_or(b"dry"))
            .args(dependencies);
        let reply = self.call_for_reply(now, call)?;
        let repeated = reply.repeated;
        let mut outcome = reply.read()?;
        if let Some(note) = note.filter(|_| repeated) {
            let repeated = vec![(&job.jid, &mut outcome)];
            self.reconcile_repeated_calls(now, note, repeated, |_| Vec::new());
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_job_that_is_not_older_than_the_put_was_put() {
        let now: Moment = "1000.7".parse().unwrap();
        for (first, newest, evidence, is_put) in [
            (Some("1000"), Some("1000"), PutEvidence::FirstEntry, true),
            (Some("1001"), Some("1001"), PutEvidence::FirstEntry, true),
            (Some("999"), Some("1000"), PutEvidence::FirstEntry, false),
            (Some("999"), Some("1000"), PutEvidence::NewestPut, true),
            (None, None, PutEvidence::FirstEntry, false),
            (None, None, PutEvidence::NewestPut, false),
        ] {
            let put = GuardReply::Refused(GuardRefusal {
                code: OutcomeCode::Exists,
                mark: Vec::new(),
                detail: [first, newest].map(|when| when.map(Name::from)).into(),
            });
            let found = put.is_existing_since(now, evidence);
            assert_eq!(found, is_put, "{first:?} {newest:?} {evidence:?}");
        }
    }
}
