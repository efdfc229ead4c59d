//! Putting jobs, one or many in a call, and pausing queues.

use std::time::Duration;

use serde::Deserialize;

use super::guard::GuardReply;
use crate::clock::duration::seconds;
use crate::clock::moment::Moment;
use crate::core::call::call_spec::{CallSpec, RetryClass, Subject};
use crate::core::call::{Call, Core, calls};
use crate::core::call::{connect, reply};
use crate::error::Error;
use crate::json::quote::{array, quote};
use crate::model::bulk::Code;
use crate::model::coordination::Coordination;
use crate::name::Name;

/// A job to put. For an absent field the core uses its default, or for an existing job the present
/// value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Put {
    pub queue: Name,
    pub klass: Name,
    pub jid: Name,
    pub data: Vec<u8>,
    pub delay: Option<Duration>,
    pub at: Option<Moment>,
    pub priority: Option<i64>,
    pub retries: Option<u64>,
    pub tags: Option<Vec<Name>>,
    pub depends: Vec<Name>,
    pub spawned_from: Option<Name>,
    pub coordination: Coordination<'static>,
}

/// What to do if the job exists or a dependency does not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// Put an existing job again.
    pub replace: bool,
    /// Skip dependencies that do not exist.
    pub allow_missing: bool,
    /// Tell which job took each put, and which is before it in its lane.
    pub tell_lanes: bool,
}

/// What a put did.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "row", default)]
pub struct Placed {
    /// `merged`, `skipped` or `replaced` if another job took the put, else the state of the job.
    pub state: Option<Name>,
    /// The job that took the put, with [`Policy::tell_lanes`].
    pub jid: Option<Name>,
    /// The job before it in its lane, with [`Policy::tell_lanes`].
    #[serde(deserialize_with = "reply::not_empty")]
    pub behind: Option<Name>,
    /// Dependencies that are complete or missing.
    #[serde(rename = "..")]
    pub no_dependencies: Vec<Name>,
}

/// A job as the arguments of a call, for callers that put many.
#[derive(Clone, Copy, Debug)]
pub struct PackedJob<'j> {
    pub queue: &'j [u8],
    pub jid: &'j [u8],
    pub klass: &'j [u8],
    pub data: &'j [u8],
    /// In seconds.
    pub delay: &'j [u8],
    /// The other options of `guard.put`, by name.
    pub options: &'j [(&'static str, &'j [u8])],
}

impl PackedJob<'_> {
    /// Passes the arguments of `guard.put` to `add`, their count first.
    fn for_each_word(&self, mut add: impl FnMut(&[u8])) {
        let count = 5 + 2 * self.options.len();
        add(count.to_string().as_bytes());
        for word in [self.queue, self.jid, self.klass, self.data, self.delay] {
            add(word);
        }
        for (name, value) in self.options {
            add(name.as_bytes());
            add(value);
        }
    }
}

impl Policy {
    /// Returns the policy as an argument of `guard.put`.
    fn word(self) -> String {
        let missing = if self.allow_missing {
            "allow"
        } else {
            "refuse"
        };
        let replace = self.replace;
        let lanes = if self.tell_lanes {
            r#","lanes":true"#
        } else {
            ""
        };
        format!(r#"{{"replace":{replace},"missing":"{missing}"{lanes}}}"#)
    }

    /// Returns the spec of the call. The second put of a replaced job would replace it again.
    fn spec(self) -> CallSpec {
        if self.replace {
            calls::GUARD_PUT
        } else {
            calls::GUARD_PUT.class(RetryClass::Idempotent)
        }
    }

    /// Returns the call with the policy as its first argument.
    fn call(self, spec: CallSpec) -> Call {
        Call::new(spec).arg(self.word())
    }
}

/// Jobs that one call puts, up to `MAX_JOBS_PER_CALL`. The core puts each job completely or
/// not at all.
#[derive(Clone, Debug, Default)]
pub struct Puts {
    pub policy: Policy,
    /// Their own time, if that is not the time of all calls in the round trip.
    at: Option<Moment>,
    words: connect::Words,
    /// Whether each job has its history.
    restored: Vec<bool>,
    /// The number of tags and dependencies.
    links: usize,
}

/// The number of tags and dependencies at which a call is full. The core takes 50,000.
const FULL_OF_LINKS: usize = 20_000;

/// The size in bytes at which a call is full, so that it does not block the server for long.
const FULL_CALL: usize = 1 << 19;

impl Puts {
    pub fn new(policy: Policy) -> Puts {
        Puts {
            policy,
            ..Puts::default()
        }
    }

    /// Gives the jobs their own time: jobs that are put at the same time have no order.
    pub fn at(self, moment: Moment) -> Puts {
        let at = Some(moment);
        Puts { at, ..self }
    }

    pub fn add(&mut self, job: &PackedJob) {
        job.for_each_word(|word| self.words.add(word));
        let history = job.options.iter().any(|(name, _)| *name == "history");
        self.restored.push(history);
        for (name, value) in job.options {
            if matches!(*name, "tags" | "depends") {
                // At least as many as there are: a text may contain commas, too.
                self.links += 1 + value.iter().filter(|byte| **byte == b',').count();
            }
        }
    }

    /// Returns whether the call has as much as it should.
    pub fn is_full(&self) -> bool {
        self.size() >= FULL_CALL || self.links >= FULL_OF_LINKS
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.words.size()
    }

    fn call(self) -> Call {
        let spec = self.policy.spec().about(Subject::Jobs);
        self.policy.call(spec).packed_args(self.words).at(self.at)
    }
}

impl Core {
    /// Puts one job, if the policy allows it.
    pub fn put(
        &mut self,
        now: Moment,
        policy: Policy,
        job: &Put,
    ) -> Result<GuardReply<Placed>, Error> {
        let mut options: Vec<(&'static str, Vec<u8>)> = Vec::new();
        if let Some(at) = job.at {
            options.push(("at", at.to_string().into_bytes()));
        }
        if let Some(priority) = job.priority {
            options.push(("priority", priority.to_string().into_bytes()));
        }
        if let Some(retries) = job.retries {
            options.push(("retries", retries.to_string().into_bytes()));
        }
        if let Some(tags) = &job.tags {
            options.push(("tags", array(tags.iter().map(Name::as_bytes))));
        }
        if !job.depends.is_empty() {
            options.push(("depends", array(job.depends.iter().map(Name::as_bytes))));
        }
        if let Some(template) = &job.spawned_from {
            options.push(("spawned_from_jid", template.as_bytes().to_vec()));
        }
        let options: Vec<_> = options
            .iter()
            .map(|(name, value)| (*name, &value[..]))
            .chain(job.coordination.words())
            .collect();
        let mut call = policy.call(policy.spec());
        let delay = job.delay.map_or("0".into(), seconds);
        let job_words = PackedJob {
            queue: job.queue.as_bytes(),
            jid: job.jid.as_bytes(),
            klass: job.klass.as_bytes(),
            data: &job.data,
            delay: delay.as_bytes(),
            options: &options,
        };
        job_words.for_each_word(|word| call.push_arg(word));
        let reply = self.reply(now, call)?;
        let repeated = reply.repeated;
        let (mut outcome,): (GuardReply<Placed>,) = reply.read()?;
        if repeated && outcome.code == Code::Exists {
            outcome.reconcile_put(now, false);
            if outcome.code == Code::Ok {
                // The job was put, even if it cannot be read now.
                let found = self.snapshots(now, std::slice::from_ref(&job.jid));
                let found = found.unwrap_or_default().into_iter().flatten().next();
                let state = found.map(|job| job.state.clone());
                outcome.done = Some(Placed {
                    state,
                    ..Placed::default()
                });
            }
        }
        Ok(outcome)
    }

    /// Puts many jobs in one round trip, call by call in order. Returns the outcomes of each call's
    /// jobs, in order.
    pub fn puts(
        &mut self,
        now: Moment,
        puts: Vec<Puts>,
    ) -> Vec<Result<Vec<GuardReply<Placed>>, Error>> {
        let restored: Vec<Vec<bool>> = puts.iter().map(|puts| puts.restored.clone()).collect();
        let calls: Vec<Call> = puts.into_iter().map(Puts::call).collect();
        let replies = self.replies(now, &calls).into_iter().zip(restored);
        let results = replies.map(|(reply, restored)| {
            let repeated = reply.repeated;
            let mut outcomes: Vec<GuardReply<Placed>> = reply.read()?;
            if outcomes.len() != restored.len() {
                let call = calls::GUARD_PUT.name;
                return Err(reply::unexpected(call, "not an outcome for each job"));
            }
            if repeated {
                for (outcome, restored) in outcomes.iter_mut().zip(restored) {
                    outcome.reconcile_put(now, restored);
                }
            }
            Ok(outcomes)
        });
        results.collect()
    }

    /// Pauses queues, until a moment if one is given.
    pub fn pause(
        &mut self,
        now: Moment,
        queues: &[Name],
        until: Option<Moment>,
        reason: Option<&Name>,
        by: &str,
    ) -> Result<(), Error> {
        let until = until.map_or(String::new(), |until| until.to_string());
        let mut note = b"{\"by\":".to_vec();
        note.extend(quote(by.as_bytes()));
        if let Some(reason) = reason {
            note.extend(b",\"reason\":");
            note.extend(quote(reason.as_bytes()));
        }
        note.push(b'}');
        let call = Call::new(calls::GUARD_PAUSE).arg(until).arg(note);
        self.call_in_slices(now, &call, queues).map(|_: Vec<()>| ())
    }

    /// Ends the pause of queues.
    pub fn unpause(&mut self, now: Moment, queues: &[Name]) -> Result<(), Error> {
        self.call_in_slices(now, &Call::new(calls::UNPAUSE), queues)
            .map(|_: Vec<()>| ())
            .map(drop)
    }
}
