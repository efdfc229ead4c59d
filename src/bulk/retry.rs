//! Retrying: back into a queue, each job into its own one where nothing else is said.

use std::time::Duration;

use super::{Fate, Plan, Verb, note};
use crate::core::Core;
use crate::core::guard::{Outcome, Requeue};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Code, Shows};
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::model::seen::Seen;
use crate::view::text::{clean, quoted};

pub const RETRY: Verb = Verb {
    word: "retry",
    asks: "retry",
    past: "retried",
    shows: Shows::Nothing,
};

/// How jobs are retried.
#[derive(Clone, Debug, Default)]
pub struct How {
    pub to: Option<Name>,
    pub delay: Option<Duration>,
    pub priority: Option<i64>,
    /// Run complete jobs again.
    pub completed: bool,
    /// Take running jobs from their workers.
    pub force: bool,
}

impl How {
    /// Refuses a job that is not there to be retried.
    pub fn judge(&self, job: &Seen) -> Option<Fate> {
        let jid = quoted(&job.jid);
        let refuse = |why: String| Fate::refused(&job.jid, Code::StateChanged, why);
        let worker = || match &job.worker {
            Some(worker) => format!("`{}`", clean(worker.as_bytes())),
            None => "a worker without a name".into(),
        };
        match job.stored.as_bytes() {
            b"failed" => None,
            b"complete" if self.completed => None,
            b"complete" => Some(
                Fate::refused(&job.jid, Code::Complete, "it is complete")
                    .hint(format!("run it again: `qless retry --completed {jid}`")),
            ),
            b"running" | b"stalled" if self.force => None,
            b"running" | b"stalled" => {
                let why = match job.state.as_bytes() {
                    b"stalled" => format!("it is stalled, {} lost it", worker()),
                    _ => format!("it is running, held by {}", worker()),
                };
                Some(refuse(why).hint(format!("take its lock away: `qless retry --force {jid}`")))
            }
            b"depends" => Some(
                refuse("it waits for other jobs".into())
                    .hint(format!("see which: `qless depends {jid}`")),
            ),
            state => Some(refuse(format!("it is {}", clean(state)))),
        }
    }

    /// Returns where the jobs would go, for the one who is asked.
    pub fn promise(&self) -> String {
        let to = match &self.to {
            Some(to) => format!("all go to `{}`", clean(to.as_bytes())),
            None => "each goes back to its own queue".into(),
        };
        format!("\n  {to} with fresh retries\n")
    }

    /// Retries the jobs of a plan.
    pub fn run(&self, plan: Plan, cx: &mut Cx) -> Result<Exit, Error> {
        let note = note(RETRY.word);
        plan.run(cx, |core, now, jobs| {
            self.slice(core, now, &note, jobs).into()
        })
    }

    /// A job that was taken from its worker keeps the tries it has left; the others get all anew.
    fn slice(
        &self,
        core: &mut Core,
        now: Moment,
        note: &str,
        jobs: &[Seen],
    ) -> Result<Vec<Fate>, Error> {
        let mut fates = Vec::with_capacity(jobs.len());
        for keep in [false, true] {
            let jobs: Vec<&Seen> = jobs.iter().filter(|job| held(job) == keep).collect();
            if jobs.is_empty() {
                continue;
            }
            let how = Requeue {
                from: match keep {
                    true => vec!["running", "stalled"],
                    false => vec!["failed", "complete"],
                },
                to: self.to.clone(),
                priority: self.priority,
                keep,
                due: self.delay.map(|delay| now.after(delay)),
            };
            let outcomes = core.requeue(now, &how, note, &jobs)?;
            fates.extend(
                jobs.iter()
                    .zip(outcomes)
                    .map(|(job, outcome)| fate(job, &outcome)),
            );
        }
        Ok(fates)
    }
}

fn held(job: &Seen) -> bool {
    job.is("running") || job.is("stalled")
}

fn fate(job: &Seen, outcome: &Outcome) -> Fate {
    let mut fate = match outcome.code {
        Code::Ok => Fate::done(&job.jid).seen(job),
        Code::Gone => Fate::gone(&job.jid).seen(job),
        Code::StateChanged => Fate::changed(&job.jid).seen(job),
        _ => super::other(job, outcome),
    };
    if outcome.code == Code::Ok {
        fate.item.state_after = outcome.word(0).cloned();
        fate.item.queue = outcome.word(1).cloned().or(fate.item.queue);
    }
    fate
}
