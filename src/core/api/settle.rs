//! What the outcomes of endings mean if an earlier attempt of the same call may have ended the
//! jobs: the job's history shows it.

use serde::{Deserialize, Deserializer};

use super::guard::JOBS_PER_READ;
use crate::clock::moment::Moment;
use crate::core::call::Core;
use crate::error::Error;
use crate::json::{Json, Number};
use crate::lenient;
use crate::model::ending::{EndingOutcome, EndingWay, JobEnding};
use crate::name::Name;

impl Core {
    /// Corrects the outcomes of jobs that the worker did not hold at the last attempt.
    pub(super) fn settle_endings(
        &mut self,
        now: Moment,
        worker: &Name,
        jobs: &[JobEnding],
        outcomes: &mut [EndingOutcome],
    ) {
        let mut open = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match outcome {
                // A completed job may have been deleted since.
                EndingOutcome::Gone => *outcome = EndingOutcome::Unknown,
                EndingOutcome::NotHolder { .. } => open.push((job, outcome)),
                _ => {}
            }
        }
        for open in open.chunks_mut(JOBS_PER_READ) {
            let jids: Vec<&Name> = open.iter().map(|(job, _)| &job.jid).collect();
            let fields = "state,worker,remaining,history";
            let present: Result<Vec<Option<JobNow>>, Error> = self.look(now, fields, &jids);
            let Ok(present) = present else {
                for (_, outcome) in open {
                    **outcome = EndingOutcome::Unknown;
                }
                continue;
            };
            for ((job, outcome), present) in open.iter_mut().zip(present) {
                match present {
                    Some(present) => {
                        if let Some(done) = present.done(second(now), worker, &job.way) {
                            **outcome = done;
                        }
                    }
                    None => **outcome = EndingOutcome::Unknown,
                }
            }
        }
    }
}

/// Returns the whole second of a moment, as in histories.
fn second(moment: Moment) -> i64 {
    moment.micros().div_euclid(1_000_000)
}

/// A job as it is now.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JobNow {
    state: Name,
    worker: Name,
    #[serde(deserialize_with = "lenient::read")]
    remaining: Option<Number>,
    #[serde(deserialize_with = "history")]
    history: Vec<Entry>,
}

/// Reads the entries of a history; those that cannot be read are left out.
fn history<'de, D: Deserializer<'de>>(entries: D) -> Result<Vec<Entry>, D::Error> {
    let entries = Vec::<Name>::deserialize(entries)?;
    let entries = entries
        .iter()
        .filter_map(|entry| Entry::read(entry.as_bytes()));
    Ok(entries.collect())
}

/// An entry of a history.
#[derive(Clone, Debug, Default)]
struct Entry {
    second: i64,
    what: Name,
    /// The worker that popped, retried or failed the job.
    worker: Option<Name>,
}

impl Entry {
    fn read(entry: &[u8]) -> Option<Entry> {
        let words = Json::read(entry)?.array()?;
        let worker = words.get(2).and_then(Json::object).and_then(|members| {
            let mut members = members.into_iter();
            members
                .find(|(key, _)| key.as_bytes() == b"worker")?
                .1
                .text()
        });
        Some(Entry {
            second: words.first()?.number()? as i64,
            what: words.get(1)?.text()?,
            worker,
        })
    }

    fn is(&self, what: &str) -> bool {
        self.what.as_bytes() == what.as_bytes()
    }

    /// Whether the job was given to this worker here.
    fn gives_to(&self, worker: &Name) -> bool {
        self.is("popped") && self.worker.as_ref() == Some(worker)
    }
}

impl JobNow {
    /// Returns what the ending did if it was applied at this second, `None` if the lock was lost
    /// before.
    fn done(&self, second: i64, worker: &Name, way: &EndingWay) -> Option<EndingOutcome> {
        let done = |state: &str, remaining| EndingOutcome::Done {
            state: state.into(),
            remaining,
        };
        match way {
            EndingWay::Complete { next: None, .. } => self
                .wrote(second, worker, "done")
                .then(|| done("complete", None)),
            // Where the job went then, other workers may have changed since.
            EndingWay::Complete { next: Some(_), .. } => {
                let state = self.state.clone();
                let remaining = None;
                let applied = self.wrote(second, worker, "done");
                applied.then_some(EndingOutcome::Done { state, remaining })
            }
            EndingWay::Fail { .. } => self
                .wrote(second, worker, "failed")
                .then(|| done("failed", None)),
            EndingWay::Retry { .. } if self.wrote(second, worker, "failed") => {
                Some(done("failed", Some(-1)))
            }
            EndingWay::Retry { delay, .. } => {
                let state = if delay.is_zero() {
                    "waiting"
                } else {
                    "scheduled"
                };
                self.wrote(second, worker, "retried")
                    .then(|| done(state, Some(self.remaining.map_or(0, Number::floor))))
            }
        }
    }

    /// Whether the history has this entry of this second, written while the worker held the job.
    fn wrote(&self, second: i64, worker: &Name, what: &str) -> bool {
        // The pop may have left a history that is at its limit.
        let mut is_holder = true;
        self.history.iter().any(|entry| {
            if entry.is("popped") {
                is_holder = entry.gives_to(worker);
            }
            let writer = entry.worker.as_ref().is_none_or(|writer| writer == worker);
            is_holder && entry.second == second && entry.is(what) && writer
        })
    }
}
