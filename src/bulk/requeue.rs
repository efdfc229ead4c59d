//! Putting jobs back into a queue: retries, and what retry, promote and move share.

use std::collections::HashMap;
use std::time::Duration;

use super::plan::TargetSource;
use super::{BulkPlan, JobOutcome};
use crate::args::shared::RequireExistingQueueFlag;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::core::api::guard::RequeueVerb;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{JobSnapshot, OutcomeCode, OutcomeDetail, Verb};
use crate::model::job::Job;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_duration;

pub(crate) const RETRY: Verb = Verb::new("retry", "retry", "retried");

/// How jobs are retried.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryOptions {
    pub to: Option<Name>,
    pub existing: RequireExistingQueueFlag,
    pub delay: Option<Duration>,
    pub priority: Option<i64>,
    /// Run completed jobs again.
    pub completed: bool,
    /// Take running jobs from their workers.
    pub force: bool,
}

/// Retries the jobs of a plan, those of a lane in the order of their puts. Running and stalled jobs keep their
/// remaining retries; failed and complete jobs get all their retries again.
pub(crate) fn retry_jobs(
    mut plan: BulkPlan,
    options: &RetryOptions,
    session: &mut Session,
) -> Result<Exit, Error> {
    let (to, priority) = (options.to.as_ref(), options.priority);
    let new_queue_lines = plan.note_or_refuse_new_queue(to, options.existing, session)?;
    let effects = options.effect_lines(&plan) + &new_queue_lines;
    let consent = plan.ask_consent_or_print_plan(session, &effects)?;
    sort_lanes_by_put(&mut plan, session.now(), session)?;
    let begun = session.now();
    plan.change_in_slices(session, consent, |core, now, note, jobs, outcomes| {
        let due = |job: &JobSnapshot| due_after_delay_and_spread(options.delay, job, begun, now);
        let jobs = jobs.iter().map(|job| (job, due(job)));
        let (kept, fresh): (Vec<_>, Vec<_>) = jobs.partition(|(job, _)| is_running_or_stalled(job));
        for (verb, jobs) in [
            (RequeueVerb::Retry, fresh),
            (RequeueVerb::RetryRunning, kept),
        ] {
            if !jobs.is_empty() {
                outcomes.extend(core.requeue_jobs(now, note, verb, to, priority, &jobs)?);
            }
        }
        Ok(())
    })
}

/// Sorts the failed jobs of each lane by the time of their puts, within the positions that the lane has in the plan.
/// The order matters because a job that is put again joins its lane at the end. Failure lists have another order:
/// burying begins with the last job of a lane.
fn sort_lanes_by_put(plan: &mut BulkPlan, now: Moment, session: &mut Session) -> Result<(), Error> {
    if plan.jobs.len() < 2 {
        return Ok(());
    }
    let jids: Vec<Name> = plan.jobs.iter().map(|job| job.jid.clone()).collect();
    let mut lanes: HashMap<Name, Vec<(usize, Option<Moment>)>> = HashMap::new();
    let placed = session.core()?.lanes_with_put_or_start_times(now, &jids)?;
    for (at, placed) in placed.into_iter().enumerate() {
        if let Some(lane) = placed.lane {
            lanes.entry(lane).or_default().push((at, placed.time));
        }
    }
    for places in lanes.into_values().filter(|places| places.len() > 1) {
        let jids: Vec<Name> = places.iter().map(|(at, _)| jids[*at].clone()).collect();
        let found = session
            .core()?
            .jobs_with_fields(now, "jid,history", &jids)?;
        let keyed = places.iter().zip(found).map(|(&(at, time), job)| {
            let (put, started) = job
                .as_ref()
                .map_or((None, false), last_put_and_started_since);
            // Jobs that one call put have equal times. Burying put the last of them into the failure list first, so
            // reverse their order.
            let tie = match plan.targeting {
                TargetSource::Selector if !started => usize::MAX - at,
                _ => at,
            };
            ((put, !started, time, tie), at)
        });
        let mut keyed: Vec<_> = keyed.collect();
        keyed.sort_unstable();
        let sorted = keyed.iter().map(|(_, at)| plan.jobs[*at].clone());
        let sorted: Vec<JobSnapshot> = sorted.collect();
        for ((at, _), job) in places.iter().zip(sorted) {
            plan.jobs[*at] = job;
        }
    }
    Ok(())
}

/// When a job was last put, in whole seconds, and whether it was started since. Of the jobs of a lane that were put
/// within one second, the started ones were first in the lane.
fn last_put_and_started_since(job: &Job) -> (Option<Moment>, bool) {
    let history = job.history.as_deref().unwrap_or_default();
    let put = history
        .iter()
        .rposition(|entry| entry.what.as_bytes() == b"put");
    let since = put.map_or(history, |put| &history[put..]);
    let started = since.iter().any(|entry| entry.what.as_bytes() == b"popped");
    (put.and_then(|put| history[put].when), started)
}

impl RetryOptions {
    pub(crate) fn refuse_not_retriable(&self, job: &JobSnapshot) -> Option<JobOutcome> {
        let hint = |words: &str, sentence: &str| {
            let command = CommandLine::new(words).with_name_argument(&job.jid);
            command.fill_sentence(sentence)
        };
        let hint = match job.stored.as_bytes() {
            b"failed" => return None,
            b"complete" if self.completed => return None,
            b"running" | b"stalled" if self.force => return None,
            b"complete" => hint("retry --completed", "run it again: {}"),
            b"running" | b"stalled" if job.state.as_bytes() == b"stalled" => hint(
                "retry --force",
                "the next pop of its queue gets it; all its retries again: {}",
            ),
            b"running" | b"stalled" => hint("retry --force", "take its lock away: {}"),
            b"scheduled" => hint("promote", "run it now: {}"),
            b"depends" => hint("depends", "see which: {}"),
            _ => {
                return Some(
                    wrong_state_outcome(job).with_already_as_asked(self.is_already_as_asked(job)),
                );
            }
        };
        Some(wrong_state_outcome(job).hint_if(hint))
    }

    /// Where the jobs go, for the question.
    fn effect_lines(&self, plan: &BulkPlan) -> String {
        let to = match &self.to {
            Some(to) => format!("all go to `{to}`"),
            None => "each goes back to its own queue".into(),
        };
        let fresh: Vec<&JobSnapshot> = plan
            .jobs
            .iter()
            .filter(|job| !is_running_or_stalled(job))
            .collect();
        let retries = fresh.first().and_then(|job| job.retries.as_ref());
        let retries =
            retries.filter(|one| fresh.iter().all(|job| job.retries.as_ref() == Some(one)));
        let retries = match retries {
            Some(one) if one.as_bytes() == b"1" => "1 fresh retry".into(),
            Some(many) => format!("{many} fresh retries"),
            None => "fresh retries".into(),
        };
        let priority = self
            .priority
            .map(|priority| format!(", with priority {priority}"));
        let delay = self
            .delay
            .map(|delay| format!(", to run in {}", format_duration(delay.as_secs_f64())));
        let changes = [priority, delay].into_iter().flatten().collect::<String>();
        match (fresh.len(), fresh.len() == plan.jobs.len()) {
            (0, _) => format!("\n  {to} with its remaining retries{changes}\n"),
            (_, true) => format!("\n  {to} with {retries}{changes}\n"),
            _ => format!(
                "\n  {to} with {retries}{changes}; running jobs keep their remaining retries\n"
            ),
        }
    }

    /// Whether the job already waits in the queue and with the priority that a retry with these options gives it.
    fn is_already_as_asked(&self, job: &JobSnapshot) -> bool {
        let priority = self.priority.map(|priority| priority.to_string().into());
        job.has_stored_state("waiting")
            && self.delay.is_none()
            && (self.to.is_none() || self.to == job.queue)
            && (priority.is_none() || priority == job.priority)
    }
}

/// When a job is due; `None` means immediately. If the action spreads the starts of the jobs over a time, a delay
/// counts from `begun`, the start of the action, otherwise from `now`, the call for this part of the jobs.
pub(crate) fn due_after_delay_and_spread(
    delay: Option<Duration>,
    job: &JobSnapshot,
    begun: Moment,
    now: Moment,
) -> Option<Moment> {
    let is_spread = !job.later.is_zero();
    let from = if is_spread { begun } else { now };
    let due = from.plus(delay.unwrap_or_default()).plus(job.later);
    (is_spread || delay.is_some()).then_some(due)
}

/// Whether a worker holds the job, or has lost it and no other worker took it since.
fn is_running_or_stalled(job: &JobSnapshot) -> bool {
    job.has_stored_state("running") || job.has_stored_state("stalled")
}

/// The refusal to put a job back into a queue because of its state, with the reason.
pub(crate) fn wrong_state_outcome(job: &JobSnapshot) -> JobOutcome {
    let worker = || match &job.worker {
        Some(worker) => format!("`{worker}`"),
        None => "a worker without a name".into(),
    };
    let why = match job.state.as_bytes() {
        b"stalled" => OutcomeDetail::Is(format!("stalled, {} lost its lock", worker())),
        b"running" => OutcomeDetail::Is(format!("running, held by {}", worker())),
        b"depends" => "it waits for other jobs".into(),
        b"complete" => return JobOutcome::already_complete(&job.jid),
        _ => return JobOutcome::wrong_state(&job.jid, job.state.clone(), None),
    };
    JobOutcome::refused(&job.jid, OutcomeCode::StateChanged, why)
}
