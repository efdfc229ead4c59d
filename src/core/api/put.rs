//! Puts jobs, one or many in a call.

use serde::Deserialize;

use super::guard::GuardReply;
use super::reconcile::whole_second;
use crate::clock::moment::Moment;
use crate::core::call::calls::{CallSpec, RetryClass, SubjectArgs};
use crate::core::call::connect::PackedWords;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::json::quote::quote_string;
use crate::model::bulk::OutcomeCode;
use crate::name::Name;

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
    /// A call that puts one job, whose words are to be added. The put sets the maxima.
    pub(crate) fn put_one_call(self, maxima: Option<&ThrottleMaximaJson>) -> Call {
        Call::new(self.call_spec()).arg(self.json_with_maxima(maxima))
    }

    /// A call that puts many jobs, up to `MAX_JOBS_PER_CALL`, from the words of each. Its errors speak of jobs in
    /// general, because errors cannot read jids from packed words. The first job that is put sets the maxima.
    pub(crate) fn put_many_call(
        self,
        maxima: Option<&ThrottleMaximaJson>,
        jobs: PackedWords,
    ) -> Call {
        let spec = self.call_spec().with_subject(SubjectArgs::Jobs);
        let call = Call::new(spec).arg(self.json_with_maxima(maxima));
        call.packed_args(jobs)
    }

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

impl GuardReply<PutResult> {
    /// Whether a put was refused because the job exists and is not older than `put_at`, so that an earlier attempt has
    /// put it. The job's first history entry gives its age; with `by_newest_put`, the entry of its newest put does.
    pub(crate) fn is_existing_since(&self, put_at: Moment, by_newest_put: bool) -> bool {
        let GuardReply::Refused(refusal) = self else {
            return false;
        };
        let since = refusal.detail_moment(usize::from(by_newest_put));
        refusal.code == OutcomeCode::Exists
            && since.is_some_and(|since| whole_second(since) >= whole_second(put_at))
    }
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
        if !repeated || !outcome.is_existing_since(now, false) {
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
    /// the outcomes of each call's jobs, in order. `have_histories` says whether the jobs come with their histories.
    pub(crate) fn put_many(
        &mut self,
        now: Moment,
        calls_with_job_counts: Vec<(Call, usize)>,
        have_histories: bool,
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
                if outcome.is_existing_since(now, have_histories) {
                    // The first attempt put the job.
                    *outcome = GuardReply::Done(PutResult::default());
                }
            }
            Ok(outcomes)
        });
        results.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::GuardRefusal;
    use super::*;

    #[test]
    fn an_existing_job_that_is_not_older_than_the_put_was_put() {
        let now: Moment = "1000.7".parse().unwrap();
        for (first, newest, by_newest_put, is_put) in [
            (Some("1000"), Some("1000"), false, true),
            (Some("1001"), Some("1001"), false, true),
            (Some("999"), Some("1000"), false, false),
            (Some("999"), Some("1000"), true, true),
            (None, None, false, false),
            (None, None, true, false),
        ] {
            let put = GuardReply::Refused(GuardRefusal {
                code: OutcomeCode::Exists,
                mark: Vec::new(),
                detail: [first, newest].map(|when| when.map(Name::from)).into(),
            });
            let found = put.is_existing_since(now, by_newest_put);
            assert_eq!(found, is_put, "{first:?} {newest:?} {by_newest_put}");
        }
    }
}
