//! Puts jobs, one or many in a call, and pauses queues.

use std::sync::Arc;

use serde::Deserialize;

use super::guard::GuardReply;
use crate::clock::moment::Moment;
use crate::core::call::calls::{CallSpec, RetryClass, SubjectArgs};
use crate::core::call::{Call, Core, calls};
use crate::core::call::{connect, reply};
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::model::bulk::OutcomeCode;
use crate::name::Name;

/// How a put treats a job that exists already and a dependency that does not exist, and what it reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PutPolicy {
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
pub struct PutResult {
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
    /// The spec of the call. With `replace`, the call must not be repeated after a lost reply: a second put would
    /// replace the job again.
    fn call_spec(self) -> CallSpec {
        if self.dry_run {
            calls::GUARD_PUT.as_dry_run()
        } else if self.replace {
            calls::GUARD_PUT
        } else {
            calls::GUARD_PUT.with_retry_class(RetryClass::Idempotent)
        }
    }
}

/// The maxima of throttles that a call sets if it puts at least one job, as JSON fields of the policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrottleMaximaJson(Arc<[u8]>);

impl ThrottleMaximaJson {
    /// Writes the JSON fields `by` and `maxima` of a put's policy, from the operator and the maxima by throttle id.
    pub fn new<'t>(maxima: impl Iterator<Item = (&'t Name, i64)>, by: &str) -> ThrottleMaximaJson {
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
        ThrottleMaximaJson(text.into())
    }
}

/// A call that puts jobs, up to `MAX_JOBS_PER_CALL`. The core puts each job completely or not at all.
#[derive(Clone, Debug, Default)]
pub struct PutCall {
    pub policy: PutPolicy,
    pub maxima: Option<ThrottleMaximaJson>,
    /// The time of the put, if it differs from the time of the other calls in the round trip.
    at: Option<Moment>,
    words: connect::PackedWords,
    /// Whether each job has its history.
    restored: Vec<bool>,
    /// The number of tags and dependencies.
    links: usize,
}

/// The number of tags and dependencies at which a call is full. The core accepts up to 50,000.
const FULL_OF_LINKS: usize = 20_000;

/// The size in bytes at which a call is full, so that it does not block the server for long.
const FULL_CALL: usize = 1 << 19;

impl PutCall {
    pub fn new(policy: PutPolicy) -> PutCall {
        PutCall {
            policy,
            ..PutCall::default()
        }
    }

    /// Sets the time of the put. A caller that sends several calls gives each a later time, because jobs put at one and
    /// the same time have no order.
    pub fn at_moment(self, moment: Moment) -> PutCall {
        let at = Some(moment);
        PutCall { at, ..self }
    }

    /// Adds a job: queue, jid, class, data, delay in seconds, and the options of `guard.put` by name.
    pub fn add_job(&mut self, job_words: [&[u8]; 5], options: &[(&'static str, &[u8])]) {
        let count = job_words.len() + 2 * options.len();
        self.words.add_word(count.to_string().as_bytes());
        job_words.iter().for_each(|word| self.words.add_word(word));
        let mut restored = false;
        for (name, value) in options {
            self.words.add_word(name.as_bytes());
            self.words.add_word(value);
            restored |= *name == "history";
            if matches!(*name, "tags" | "depends") {
                // Counts the tags or the dependencies of the job by the commas of their list. The count may be too high,
                // because a name may contain commas, too.
                self.links += 1 + value.iter().filter(|byte| **byte == b',').count();
            }
        }
        self.restored.push(restored);
    }

    /// Whether the call has reached its size limit, so that the next job needs another call.
    pub fn is_full(&self) -> bool {
        self.added_jobs_byte_len() >= FULL_CALL || self.links >= FULL_OF_LINKS
    }

    /// The size in bytes.
    pub fn added_jobs_byte_len(&self) -> usize {
        self.words.byte_len()
    }

    /// The call that puts the added jobs. Its errors speak of jobs in general, because errors cannot read jids from
    /// packed words.
    fn put_call(self) -> Call {
        let head = Call::new(self.policy.call_spec().with_subject(SubjectArgs::Jobs))
            .arg(self.policy_json());
        head.packed_args(self.words).at_moment(self.at)
    }

    /// The policy and the maxima as the first argument.
    fn policy_json(&self) -> Vec<u8> {
        let policy = &self.policy;
        let replace = policy.replace;
        let missing = if policy.allow_missing {
            "allow"
        } else {
            "refuse"
        };
        let mut text = format!(r#"{{"replace":{replace},"missing":"{missing}""#).into_bytes();
        if policy.tell_lanes {
            text.extend(br#","lanes":true"#);
        }
        if policy.dry_run {
            text.extend(br#","dry":true"#);
        }
        if let Some(ThrottleMaximaJson(fields)) = &self.maxima {
            text.extend(fields.iter());
        }
        text.push(b'}');
        text
    }
}

impl Core {
    /// Makes a call that puts one job, which has the id `jid`. Errors name the job.
    pub fn put_one(
        &mut self,
        now: Moment,
        jid: &Name,
        put: &PutCall,
    ) -> Result<GuardReply<PutResult>, Error> {
        let call = Call::new(put.policy.call_spec()).arg(put.policy_json());
        let reply = self.call_for_reply(now, call.args(put.words.to_args()))?;
        let repeated = reply.repeated;
        let (mut outcome,): (GuardReply<PutResult>,) = reply.read()?;
        if repeated && outcome.code == OutcomeCode::Exists {
            outcome.treat_existing_as_put_if_newer(now, false);
            if outcome.code == OutcomeCode::Ok {
                // The first attempt put the job. If the job cannot be read now, only its state is missing from the
                // result.
                let found = self.job_snapshots(now, std::slice::from_ref(jid));
                let found = found.unwrap_or_default().into_iter().flatten().next();
                let state = found.map(|job| job.state.clone());
                outcome.done = Some(PutResult {
                    state,
                    ..PutResult::default()
                });
            }
        }
        Ok(outcome)
    }

    /// Puts many jobs in one round trip, call by call in order. Returns the outcomes of each call's
    /// jobs, in order.
    pub fn put_batches(
        &mut self,
        now: Moment,
        puts: Vec<PutCall>,
    ) -> Vec<Result<Vec<GuardReply<PutResult>>, Error>> {
        let restored: Vec<Vec<bool>> = puts.iter().map(|puts| puts.restored.clone()).collect();
        let calls: Vec<Call> = puts.into_iter().map(PutCall::put_call).collect();
        let replies = self
            .call_all_for_replies(now, &calls)
            .into_iter()
            .zip(restored);
        let results = replies.map(|(reply, restored)| {
            let repeated = reply.repeated;
            let outcomes: Vec<GuardReply<PutResult>> = reply.read()?;
            let call = calls::GUARD_PUT.name;
            let mut outcomes = reply::require_row_per_item(call, outcomes, restored.len())?;
            if repeated {
                for (outcome, restored) in outcomes.iter_mut().zip(restored) {
                    outcome.treat_existing_as_put_if_newer(now, restored);
                }
            }
            Ok(outcomes)
        });
        results.collect()
    }

    /// Pauses queues: until the moment `until`, or without an end if none is given.
    pub fn pause_queues(
        &mut self,
        now: Moment,
        queues: &[Name],
        until: Option<Moment>,
        reason: Option<&Name>,
        by: &str,
    ) -> Result<(), Error> {
        let until = until.map_or(String::new(), |until| until.to_string());
        let mut note = b"{\"by\":".to_vec();
        note.extend(quote_string(by.as_bytes()));
        if let Some(reason) = reason {
            note.extend(b",\"reason\":");
            note.extend(quote_string(reason.as_bytes()));
        }
        note.push(b'}');
        let call = Call::new(calls::GUARD_PAUSE).arg(until).arg(note);
        self.call_in_slices::<()>(now, &call, queues).map(drop)
    }

    /// Ends the pause of queues.
    pub fn unpause_queues(&mut self, now: Moment, queues: &[Name]) -> Result<(), Error> {
        let call = Call::new(calls::UNPAUSE);
        self.call_in_slices::<()>(now, &call, queues).map(drop)
    }
}
