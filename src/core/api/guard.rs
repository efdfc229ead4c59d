//! Guarded writes: the core changes a job only if the job has not changed since the client read it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, SeqAccess, Visitor};

use strum::IntoStaticStr;

use super::job::JobFields;
use crate::clock::moment::Moment;
use crate::consent::Consent;
use crate::core::call::calls::RetryClass;
use crate::core::call::jobs_per_reply::JobsPerReply;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::model::bulk::{FieldInterner, JobOutcome, JobSnapshot, OutcomeCode, OutcomeDetail};
use crate::model::job::{Job, State};
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
    pub(super) fn detail_moment(&self, index: usize) -> Option<Moment> {
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
    const fn verb_and_participle(self) -> (&'static str, &'static str) {
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

/// The number of jobs that one call reads. 500 would keep a server busy for 10 ms.
pub(crate) const JOBS_PER_READ: usize = 250;

impl Core {
    /// Snapshots of jobs, `None` for each that does not exist.
    pub fn job_snapshots(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<Vec<Option<JobSnapshot>>, Error> {
        let mut interner = FieldInterner::default();
        let mut snapshots = Vec::with_capacity(jids.len());
        for jids in jids.chunks(JOBS_PER_READ) {
            for job in self.jobs(now, JobFields::Snapshot, jids)? {
                snapshots.push(job.map(|job| {
                    // An older core stored scheduled jobs in state `waiting`: their score in the schedule is the due
                    // time.
                    let is_waiting = job.state == Some(State::Waiting);
                    let left_due = job.due_score.filter(|_| is_waiting);
                    let left_due = left_due.and_then(Moment::from_seconds);
                    let mut snapshot = JobSnapshot::from_job(job, &mut interner);
                    snapshot.due = snapshot.due.or(left_due).filter(|due| *due > now);
                    snapshot
                }));
            }
        }
        Ok(snapshots)
    }

    /// The dependents of each job that has any, by its jid.
    pub fn dependents_by_job(
        &mut self,
        now: Moment,
        jids: &[Name],
    ) -> Result<HashMap<Name, Vec<Name>>, Error> {
        #[derive(Deserialize)]
        struct DependentsRow {
            dependents: Vec<Name>,
        }
        let mut dependents = HashMap::new();
        let (mut rest, mut size) = (jids, JobsPerReply::new(JOBS_PER_READ, JOBS_PER_READ));
        while !rest.is_empty() {
            let (jids, rows) = self.read_next_slice(now, "dependents", &mut rest, &mut size)?;
            for (jid, row) in jids.iter().zip(rows) {
                let row: Option<DependentsRow> = reply::read_reply(calls::LOOK_JOBS.name, row)?;
                let names = row.map(|row| row.dependents).unwrap_or_default();
                if !names.is_empty() {
                    dependents.insert(jid.clone(), names);
                }
            }
        }
        Ok(dependents)
    }

    /// Reads fields of jobs: `None` for each job that does not exist.
    pub(super) fn read_job_fields<T: DeserializeOwned, J: AsRef<[u8]>>(
        &mut self,
        now: Moment,
        fields: &str,
        jids: &[J],
    ) -> Result<Vec<Option<T>>, Error> {
        let rows = self.call(now, Call::new(calls::LOOK_JOBS).arg(fields).args(jids))?;
        reply::require_row_per_item(calls::LOOK_JOBS.name, rows, jids.len())
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
            options.pop();
            options.extend(b",\"to\":");
            options.extend(crate::json::quote::quote_string(to.as_bytes()));
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
        let (verb, doing) = verb.verb_and_participle();
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
    pub fn add_dependencies(
        &mut self,
        now: Moment,
        job: &JobSnapshot,
        note: &[u8],
        dependencies: &[Name],
    ) -> Result<GuardReply<Vec<Name>>, Error> {
        let class = if job.mark.is_empty() {
            RetryClass::Idempotent
        } else {
            RetryClass::Guarded
        };
        let call = Call::new(calls::GUARD_DEPENDS.with_retry_class(class));
        let call = call
            .arg(&job.jid)
            .arg(&job.mark)
            .arg(note)
            .args(dependencies);
        let reply = self.call_for_reply(now, call)?;
        let repeated = reply.repeated;
        let mut outcome = reply.read()?;
        if repeated {
            let repeated = vec![(&job.jid, &mut outcome)];
            self.reconcile_repeated_calls(now, note, repeated, |_| Vec::new());
        }
        Ok(outcome)
    }
}
