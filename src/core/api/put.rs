//! Submitting jobs, one or many in a call, and pausing queues.

use std::time::Duration;

use super::guard::{GuardReply, outcomes};
use crate::clock::duration::seconds;
use crate::clock::moment::Moment;
use crate::core::call::Call;
use crate::core::call::Core;
use crate::core::call::{connect, reply};
use crate::error::Error;
use crate::json::quote::{array, quote};
use crate::model::bulk::Code;
use crate::name::Name;

/// A job to be put. What is absent is left to the core: its default, or for a job that is put
/// again what it had.
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
}

/// What to do where not all is as wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// Put a job again that exists.
    pub replace: bool,
    /// Wait only for those dependencies that exist.
    pub allow_missing: bool,
}

/// A job as the words of a call, for those who put many.
#[derive(Clone, Copy, Debug)]
pub struct PackedJob<'j> {
    pub queue: &'j [u8],
    pub jid: &'j [u8],
    pub klass: &'j [u8],
    pub data: &'j [u8],
    /// In seconds.
    pub delay: &'j [u8],
    /// The other options of `guard.put`, by name (`core.md` 9.4).
    pub options: &'j [(&'static str, &'j [u8])],
}

impl PackedJob<'_> {
    /// Hands over the words as `guard.put` takes them, their count first.
    fn each(&self, mut add: impl FnMut(&[u8])) {
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
    /// Returns it as `guard.put` takes it.
    fn word(self) -> String {
        let missing = match self.allow_missing {
            true => "allow",
            false => "refuse",
        };
        let replace = self.replace;
        format!(r#"{{"replace":{replace},"missing":"{missing}"}}"#)
    }
}

/// Jobs that are put by one call, at most `MAX_JOBS_PER_CALL`: each whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct Puts {
    pub policy: Policy,
    /// Their own moment, if it is not that of all calls made with this one.
    at: Option<Moment>,
    words: connect::Words,
    /// For each job whether it comes with its history.
    restored: Vec<bool>,
}

impl Puts {
    pub fn new(policy: Policy) -> Puts {
        Puts {
            policy,
            ..Puts::default()
        }
    }

    /// Gives them a moment of their own: jobs that are put at the same one have no order.
    pub fn at(self, moment: Moment) -> Puts {
        let at = Some(moment);
        Puts { at, ..self }
    }

    pub fn add(&mut self, job: &PackedJob) {
        job.each(|word| self.words.add(word));
        let history = job.options.iter().any(|(name, _)| *name == "history");
        self.restored.push(history);
    }

    /// Returns how many bytes they take.
    pub fn size(&self) -> usize {
        self.words.size()
    }

    fn call(self) -> Call {
        Call::new("guard.put")
            .arg(self.policy.word())
            .more(self.words)
            .at(self.at)
    }
}

impl Core {
    /// Puts one job, if it may.
    pub fn put(&mut self, now: Moment, policy: Policy, job: &Put) -> Result<GuardReply, Error> {
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
            .collect();
        let policy = policy.word();
        let delay = job.delay.map_or("0".into(), seconds);
        let mut words = vec![policy.into_bytes()];
        let words_of_job = PackedJob {
            queue: job.queue.as_bytes(),
            jid: job.jid.as_bytes(),
            klass: job.klass.as_bytes(),
            data: &job.data,
            delay: delay.as_bytes(),
            options: &options,
        };
        words_of_job.each(|word| words.push(word.to_vec()));
        let call = Call::new("guard.put").args(&words);
        let (reply, again) = self.answer(now, call);
        let outcome = outcomes(reply?)?.pop();
        let mut outcome = outcome.ok_or_else(|| reply::unexpected("an outcome"))?;
        if again && outcome.code == Code::Exists {
            outcome.settle_put(now, false);
            if outcome.code == Code::Ok {
                // It is put, whether it can be shown or not.
                let found = self.seen(now, std::slice::from_ref(&job.jid));
                let found = found.unwrap_or_default().into_iter().flatten().next();
                outcome.detail.push(found.map(|job| job.state.clone()));
            }
        }
        Ok(outcome)
    }

    /// Puts many jobs in one round trip, call by call in order; of each call what became of its
    /// jobs, in order.
    pub fn puts(&mut self, now: Moment, puts: Vec<Puts>) -> Vec<Result<Vec<GuardReply>, Error>> {
        let restored: Vec<Vec<bool>> = puts.iter().map(|puts| puts.restored.clone()).collect();
        let calls: Vec<Call> = puts.into_iter().map(Puts::call).collect();
        let answers = self.answers(now, &calls, true).into_iter().zip(restored);
        let answers = answers.map(|(answer, restored)| {
            let mut outcomes = outcomes(answer.reply?)?;
            if outcomes.len() != restored.len() {
                return Err(reply::unexpected("an outcome for each job"));
            }
            if answer.again {
                for (outcome, restored) in outcomes.iter_mut().zip(restored) {
                    outcome.settle_put(now, restored);
                }
            }
            Ok(outcomes)
        });
        answers.collect()
    }

    /// Pauses queues, for good or until a moment.
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
        let mut words: Vec<&[u8]> = vec![until.as_bytes(), &note];
        words.extend(queues.iter().map(Name::as_bytes));
        self.call(now, "guard.pause", &words).map(drop)
    }

    /// Lets pops take from queues again.
    pub fn unpause(&mut self, now: Moment, queues: &[Name]) -> Result<(), Error> {
        let words: Vec<&[u8]> = queues.iter().map(Name::as_bytes).collect();
        self.call(now, "unpause", &words).map(drop)
    }
}
