//! Back into a queue: what retry, promote and move have in common.

use std::time::Duration;

use super::{JobOutcome, Plan, Slice};
use crate::clock::moment::Moment;
use crate::core::api::guard::{GuardReply, Requeue as Call, RequeueVerb};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::Code;
use crate::model::job_snapshot::JobSnapshot;
use crate::name::Name;
use crate::session::Session;
use crate::text::clean;

pub(crate) mod moving;
pub(crate) mod promote;
pub(crate) mod retry;

/// Where jobs go, and when they run there.
#[derive(Clone, Debug)]
pub(crate) struct Requeue {
    pub verb: RequeueVerb,
    /// Their own queue where nothing is said.
    pub to: Option<Name>,
    pub priority: Option<i64>,
}

/// When a job runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    /// At once.
    Now,
    After(Duration),
    At(Moment),
    /// When it was to run before, whatever becomes of the others.
    Still(Moment),
}

impl When {
    /// Returns when a job is due, at once where nothing is said. Where the jobs are spread over a
    /// time, that begins with the action, whenever it comes to this job.
    fn due(self, job: &JobSnapshot, begun: Moment, now: Moment) -> Option<Moment> {
        let from = if job.later.is_zero() { now } else { begun };
        match self {
            When::Now if job.later.is_zero() => None,
            When::Now => Some(from.after(job.later)),
            When::After(delay) => Some(from.after(delay).after(job.later)),
            When::At(at) => Some(at.after(job.later)),
            When::Still(at) => Some(at),
        }
    }
}

impl Requeue {
    /// Puts the jobs of a plan back, each when it is said; `keeps` tells whether one keeps the
    /// tries it has left, instead of getting all anew.
    pub(crate) fn run(
        &self,
        plan: Plan,
        session: &mut Session,
        when: impl Fn(&JobSnapshot) -> When,
        keeps: impl Fn(&JobSnapshot) -> bool,
    ) -> Result<Exit, Error> {
        let note = plan.note();
        let begun = session.now();
        plan.run(session, |core, now, jobs| {
            let mut fates = Vec::with_capacity(jobs.len());
            for keep in [false, true] {
                let jobs: Vec<(&JobSnapshot, Option<Moment>)> = jobs
                    .iter()
                    .filter(|job| keeps(job) == keep)
                    .map(|job| (job, when(job).due(job, begun, now)))
                    .collect();
                if jobs.is_empty() {
                    continue;
                }
                let call = Call {
                    verb: self.verb,
                    to: self.to.as_ref(),
                    priority: self.priority,
                    keep,
                };
                match core.requeue(now, &call, &note, &jobs) {
                    Ok(outcomes) => fates.extend(
                        jobs.iter()
                            .zip(outcomes)
                            .map(|((job, _), outcome)| fate(job, &outcome)),
                    ),
                    Err(error) => {
                        return Slice {
                            fates,
                            broke: Some(error),
                        };
                    }
                }
            }
            Ok(fates).into()
        })
    }
}

fn fate(job: &JobSnapshot, outcome: &GuardReply) -> JobOutcome {
    let mut fate = match outcome.code {
        Code::Ok => JobOutcome::done(&job.jid).seen(job),
        _ => JobOutcome::left(job, outcome),
    };
    if outcome.code == Code::Ok {
        fate.item.state_after = outcome.word(0).cloned();
        fate.item.queue = outcome.word(1).cloned().or(fate.item.queue);
    }
    fate
}

/// Returns whether a worker has the job, or had it last and nobody took it since.
fn held(job: &JobSnapshot) -> bool {
    job.is("running") || job.is("stalled")
}

/// A job that its state keeps from being put back, in words.
fn refuse(job: &JobSnapshot) -> JobOutcome {
    let worker = || match &job.worker {
        Some(worker) => format!("`{}`", clean(worker.as_bytes())),
        None => "a worker without a name".into(),
    };
    let why = match job.state.as_bytes() {
        b"stalled" => format!("it is stalled, {} lost it", worker()),
        b"running" => format!("it is running, held by {}", worker()),
        b"depends" => "it waits for other jobs".into(),
        b"complete" => return JobOutcome::refused(&job.jid, Code::Complete, "it is complete"),
        state => format!("it is {}", clean(state)),
    };
    JobOutcome::refused(&job.jid, Code::StateChanged, why)
}
