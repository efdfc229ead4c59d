//! Derives from facts the reasons why a job does not run, the most decisive one first. Makes no calls.

use super::walk::DependencyWalkResult;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::json::Json;
use crate::model::explain::{FullThrottle, PopFacts};
use crate::model::job::reason::{BackoffCause, DelayReason, ReasonCode, ReasonEvidence};
use crate::model::job::{Job, Neighbor, State};
use crate::model::lane;
use crate::model::queue::RoundedSeconds;
use crate::model::recur::Recurring;
use crate::model::worker::SILENT_AFTER;
use crate::name::Name;

/// If the next job of a queue has been ready for more than this number of seconds, the reason is that no worker pops.
const MAX_NEXT_WAIT: f64 = 10.0;

/// The limit in seconds in place of [`MAX_NEXT_WAIT`] if a worker of any queue was seen since the next job became
/// ready. That worker may also poll this queue, but rarely.
const MAX_NEXT_WAIT_WITH_WORKERS: f64 = 60.0;

/// Maximum number of jobs that the evidence of a reason names, such as failed dependencies.
const MAX_NAMED: usize = 10;

/// The reasons why a job does not run, the blocking ones first. `before` are the jobs before it in its lane.
pub(super) fn job_reasons(
    job: &Job,
    facts: Option<&PopFacts>,
    walk: Option<&DependencyWalkResult>,
    before: &[Neighbor],
    backoff: Option<BackoffCause>,
    now: Moment,
) -> Vec<DelayReason> {
    let jid = &job.jid;
    let mut reasons = Vec::new();
    let full = facts.map_or(&[][..], |facts| facts.full.as_slice());
    let is_queued = !matches!(
        job.state,
        Some(State::Complete | State::Failed | State::Running)
    );
    let worker = job.worker.clone();
    reasons.extend(lane_occupied_reason(job, before));
    match job.state {
        Some(State::Complete) => reasons.push(DelayReason::new(
            ReasonCode::Complete,
            ReasonEvidence {
                since: job.since,
                ..ReasonEvidence::default()
            },
            CommandLine::new("retry --completed").with_name_argument(jid),
        )),
        Some(State::Failed) => {
            let failure = job.failure.clone().unwrap_or_default();
            let evidence = ReasonEvidence {
                since: failure.when.or(job.since),
                group: Some(failure.group),
                message: Some(failure.message),
                worker: failure.worker,
                ..ReasonEvidence::default()
            };
            let fix = CommandLine::new("retry").with_name_argument(jid);
            reasons.push(DelayReason::new(ReasonCode::Failed, evidence, fix));
        }
        Some(State::Running) => {
            let code = if job.in_grace {
                ReasonCode::Grace
            } else {
                ReasonCode::Running
            };
            let evidence = ReasonEvidence {
                since: job.since,
                until: job.expires,
                worker,
                last_seen: facts.and_then(|facts| facts.worker_seen),
                ..ReasonEvidence::default()
            };
            let fix = CommandLine::new("timeout").with_name_argument(jid);
            reasons.push(DelayReason::new(code, evidence, fix));
        }
        Some(State::Stalled) => {
            let evidence = ReasonEvidence {
                since: job.expires.or(job.since),
                worker: worker.clone(),
                ..ReasonEvidence::default()
            };
            let fix = CommandLine::new("workers").with_name_arguments(&worker);
            reasons.push(DelayReason::new(ReasonCode::Stalled, evidence, fix).into_non_blocking());
        }
        Some(State::Throttled) if full.is_empty() => {
            // The throttle has a free slot again, so the job is only delayed: one of the next pops returns it to the
            // queue.
            let fix = CommandLine::new("get").with_name_argument(jid);
            let reason = DelayReason::new(ReasonCode::Throttled, ReasonEvidence::default(), fix);
            reasons.push(reason.into_non_blocking());
        }
        Some(State::Depends) => {
            if let Some(walk) = walk {
                add_dependency_reasons(walk, &mut reasons);
            }
        }
        Some(State::Scheduled) if job.scheduled_for.is_some_and(|due| due > now) => {
            let evidence = ReasonEvidence {
                until: job.scheduled_for,
                remaining: remaining_retries_if_used(job),
                backoff,
                ..ReasonEvidence::default()
            };
            let fix = CommandLine::new("promote").with_name_argument(jid);
            reasons.push(DelayReason::new(ReasonCode::Scheduled, evidence, fix));
        }
        _ => {}
    }
    if is_queued {
        reasons.extend(full.iter().map(throttle_full_reason));
    }
    if let (true, Some(facts)) = (is_queued, facts) {
        let is_unlisted = match job.state {
            Some(State::Waiting) => !facts.listed,
            Some(State::Scheduled) => job.scheduled_for.is_none(),
            state => state.is_none(),
        };
        if is_unlisted {
            reasons.push(queue_broken_reason(&facts.queue.name, None));
        }
        let can_run = matches!(
            job.state,
            Some(State::Waiting | State::Stalled | State::Scheduled | State::Throttled)
        ) && !reasons.iter().any(DelayReason::blocks_pop);
        add_queue_reasons(facts, can_run, now, &mut reasons);
        // Skip long data, of which only the first part was read: a part is no valid JSON.
        if job.data_length.is_none() && Json::parse(job.data.as_bytes()).is_none() {
            let fix = CommandLine::new("get --data").with_name_argument(jid);
            let invalid = DelayReason::new(ReasonCode::DataInvalid, ReasonEvidence::default(), fix);
            reasons.push(invalid.into_non_blocking());
        }
        if facts.ahead > 0 {
            reasons.push(jobs_ahead_reason(job, facts));
        }
    }
    if is_queued && facts.is_none() {
        // The server has nothing of its queue.
        reasons.push(queue_broken_reason(
            &job.queue.clone().unwrap_or_default(),
            None,
        ));
    }
    // Reasons that block a job come before reasons that only delay it.
    reasons.sort_by_key(|reason| !reason.blocking);
    reasons
}

/// The number of retries that remain for a job; `None` if the job has used no retry yet.
fn remaining_retries_if_used(job: &Job) -> Option<u64> {
    let remaining = job.remaining_retries().filter(|_| job.has_used_retry())?;
    u64::try_from(remaining).ok()
}

/// Why pops of a queue get no job.
pub(super) fn queue_reasons(facts: &PopFacts, now: Moment) -> Vec<DelayReason> {
    let queue = &facts.queue;
    let mut reasons = Vec::new();
    add_queue_reasons(facts, true, now, &mut reasons);
    let gets_job = facts.next.is_some();
    let downgrade_if_job_is_available = |reason: DelayReason| {
        if gets_job {
            reason.into_non_blocking()
        } else {
            reason
        }
    };
    reasons.extend(
        facts
            .throttles
            .iter()
            .map(throttle_full_reason)
            .map(downgrade_if_job_is_available),
    );
    if facts.late_recurring > 0 && !queue.paused {
        let evidence = ReasonEvidence {
            jobs: Some(facts.late_recurring),
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("recur list").with_name_argument(&queue.name);
        let late = DelayReason::new(ReasonCode::RecurringNotPolled, evidence, fix);
        reasons.push(late.into_non_blocking());
    }
    let count = |code, jobs: u64, state: State, until| {
        let evidence = ReasonEvidence {
            jobs: Some(jobs),
            until,
            ..ReasonEvidence::default()
        };
        let jobs = CommandLine::new("jobs").with_exact_pattern("--queue", &queue.name);
        DelayReason::new(code, evidence, jobs.with_flag("--state", state.into_str()))
    };
    if queue.stalled > 0 {
        let stalled = count(ReasonCode::Stalled, queue.stalled, State::Stalled, None);
        reasons.push(stalled.into_non_blocking());
    }
    if facts.renewed > 0 {
        let evidence = ReasonEvidence {
            jobs: Some(facts.renewed),
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("workers");
        reasons.push(DelayReason::new(ReasonCode::Grace, evidence, fix));
    }
    let may_be_reason = !gets_job || queue.waiting == 0;
    if may_be_reason && queue.scheduled > 0 {
        let code = ReasonCode::Scheduled;
        let scheduled = count(code, queue.scheduled, State::Scheduled, facts.due);
        reasons.push(downgrade_if_job_is_available(scheduled));
    }
    if may_be_reason && queue.depends > 0 {
        let depends = count(ReasonCode::Depends, queue.depends, State::Depends, None);
        reasons.push(downgrade_if_job_is_available(depends));
    }
    if queue.throttled > 0 && facts.throttles.is_empty() {
        // The throttles of these jobs have free slots, so they are only delayed: each of the next pops checks some of
        // them.
        let code = ReasonCode::Throttled;
        reasons.push(count(code, queue.throttled, State::Throttled, None).into_non_blocking());
    }
    reasons.sort_by_key(|reason| !reason.blocking);
    reasons
}

/// Why a recurring job puts no jobs.
pub(super) fn recurring_reasons(
    recurring: &Recurring,
    facts: Option<&PopFacts>,
    now: Moment,
) -> Vec<DelayReason> {
    let mut reasons = Vec::new();
    if recurring.is_paused() {
        let evidence = ReasonEvidence {
            since: recurring.paused_since,
            by: recurring.paused_by.clone(),
            reason: recurring.paused_reason.clone(),
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("recur resume").with_name_argument(&recurring.jid);
        reasons.push(DelayReason::new(ReasonCode::RecurringPaused, evidence, fix));
    }
    let is_late = recurring.next.is_some_and(|next| next <= now);
    if let Some(facts) = facts {
        add_queue_reasons(facts, false, now, &mut reasons);
    }
    if recurring.is_paused() {
        // Give no further reason for a paused recurring job: it puts no job, even when its next run is due.
        return reasons;
    }
    let (code, evidence, fix) = if is_late {
        let evidence = ReasonEvidence {
            since: recurring.next,
            owed: Some(recurring.missed_runs_within_backlog(now)),
            ..ReasonEvidence::default()
        };
        // The fix is a worker that pops. `recur run` would put one more job, but not the jobs that are overdue.
        let fix = CommandLine::new("workers");
        (ReasonCode::RecurringNotPolled, evidence, fix)
    } else {
        let evidence = ReasonEvidence {
            until: recurring.next,
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("recur run").with_name_argument(&recurring.jid);
        (ReasonCode::Scheduled, evidence, fix)
    };
    reasons.push(DelayReason::new(code, evidence, fix));
    reasons
}

/// Adds the reasons that concern each job of a queue, such as a pause. That no worker pops is added only if nothing
/// else keeps the job from running (`can_run`).
fn add_queue_reasons(facts: &PopFacts, can_run: bool, now: Moment, reasons: &mut Vec<DelayReason>) {
    let queue = &facts.queue;
    if queue.paused {
        let evidence = ReasonEvidence {
            since: queue.paused_since,
            until: queue.paused_until,
            by: queue.paused_by.clone(),
            reason: queue.paused_reason.clone(),
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("unpause").with_name_argument(&queue.name);
        reasons.push(DelayReason::new(ReasonCode::Paused, evidence, fix));
    }
    let held = facts.held + facts.renewed;
    let is_full = facts.next.is_none() && facts.limit.is_some_and(|limit| held >= limit);
    if is_full {
        let evidence = ReasonEvidence {
            jobs: Some(held),
            limit: facts.limit,
            roots: facts.holders.clone(),
            ..ReasonEvidence::default()
        };
        let key = [queue.name.as_bytes(), b"-max-concurrency"].concat();
        let fix = CommandLine::new("config set")
            .with_name_argument(key)
            .with_name_argument("N");
        reasons.push(DelayReason::new(ReasonCode::Concurrency, evidence, fix));
    }
    if let Some(ghost) = &facts.ghost {
        reasons.push(queue_broken_reason(&queue.name, Some(ghost)).into_non_blocking());
    }
    if can_run {
        reasons.extend(no_consumer_reason(facts, now));
    }
}

fn queue_broken_reason(queue: &Name, entry: Option<&Name>) -> DelayReason {
    let evidence = ReasonEvidence {
        entry: entry.cloned(),
        ..ReasonEvidence::default()
    };
    let fix = CommandLine::new("check --repair").with_exact_pattern("--queue", queue);
    DelayReason::new(ReasonCode::QueueBroken, evidence, fix)
}

/// The reason that no worker pops from the queue; `None` unless the facts allow that conclusion. If a worker had
/// popped, it would have got the next job, or extended an expired lock. While jobs of the queue run, their workers may be
/// busy: then the reason is given only if all workers are silent, and as one that does not block.
fn no_consumer_reason(facts: &PopFacts, now: Moment) -> Option<DelayReason> {
    let waited = now.since(facts.ready?);
    let not_seen_since_ready = facts.seen.is_none_or(|seen| now.since(seen) >= waited);
    let long = if not_seen_since_ready {
        MAX_NEXT_WAIT
    } else {
        MAX_NEXT_WAIT_WITH_WORKERS
    };
    let is_any_worker_alive = facts
        .seen
        .is_some_and(|seen| now.since(seen) <= SILENT_AFTER);
    if waited < long || (facts.held > 0 && is_any_worker_alive) {
        return None;
    }
    let last = facts.seen.filter(|_| not_seen_since_ready);
    let evidence = ReasonEvidence {
        since: last.or(facts.ready),
        worker: facts.worker.clone().filter(|_| last.is_some()),
        jobs: Some(facts.held).filter(|held| *held > 0),
        ..ReasonEvidence::default()
    };
    let fix = CommandLine::new("workers");
    let reason = DelayReason::new(ReasonCode::NoConsumer, evidence, fix);
    Some(match facts.held {
        0 => reason,
        _ => reason.into_non_blocking(),
    })
}

fn jobs_ahead_reason(job: &Job, facts: &PopFacts) -> DelayReason {
    let pace = facts.pace.filter(|pace| *pace > 0.0);
    let evidence = ReasonEvidence {
        jobs: Some(facts.ahead),
        per_minute: pace.map(RoundedSeconds),
        eta_s: pace.map(|pace| RoundedSeconds(facts.ahead as f64 / pace * 60.0)),
        ..ReasonEvidence::default()
    };
    let fix = CommandLine::new("priority")
        .with_flag("--to", "N")
        .with_name_argument(&job.jid);
    DelayReason::new(ReasonCode::Ahead, evidence, fix).into_non_blocking()
}

/// The reason that a throttle has no free slot.
fn throttle_full_reason(full: &FullThrottle) -> DelayReason {
    let evidence = ReasonEvidence {
        throttle: Some(full.id.clone()),
        jobs: Some(full.taken),
        waiting: Some(full.waiting),
        limit: Some(full.maximum.max(0) as u64),
        roots: full.holders.clone(),
        ..ReasonEvidence::default()
    };
    let fix = if full.maximum < 0 {
        CommandLine::new("throttle set")
            .with_name_argument(&full.id)
            .with_name_argument("N")
    } else {
        CommandLine::new("throttle show").with_name_argument(&full.id)
    };
    DelayReason::new(ReasonCode::Throttled, evidence, fix)
}

/// The reason that other jobs of the job's lane come first; `None` if there are none.
fn lane_occupied_reason(job: &Job, before: &[Neighbor]) -> Option<DelayReason> {
    let lane = job.key.as_ref()?;
    let evidence = ReasonEvidence {
        lane: Some(lane.clone()),
        jobs: Some(before.len() as u64),
        roots: vec![before.last()?.clone()],
        ..ReasonEvidence::default()
    };
    let queue = job.queue.clone().unwrap_or_default();
    let fix = lane::lane_command(lane, &queue);
    Some(DelayReason::new(ReasonCode::Ordered, evidence, fix))
}

/// Adds why a blocked job is blocked.
fn add_dependency_reasons(walk: &DependencyWalkResult, reasons: &mut Vec<DelayReason>) {
    if let [owner, next, ..] = walk.cycle.as_slice() {
        let evidence = ReasonEvidence {
            cycle: walk.cycle.clone(),
            ..ReasonEvidence::default()
        };
        let fix = CommandLine::new("depends")
            .with_flag("--off", next)
            .with_name_argument(owner);
        reasons.push(DelayReason::new(ReasonCode::DependsCycle, evidence, fix));
    }
    let evidence = |roots: Vec<Neighbor>| ReasonEvidence {
        jobs: Some(roots.len() as u64),
        roots: roots.into_iter().take(MAX_NAMED).collect(),
        ..ReasonEvidence::default()
    };
    if let Some((owner, missing)) = walk.missing.first() {
        let jids = walk.missing.iter().map(|(_, jid)| jid.clone());
        let roots = jids.map(|jid| Neighbor::new(jid, None)).collect();
        let fix = CommandLine::new("depends")
            .with_flag("--off", missing)
            .with_name_argument(owner);
        reasons.push(DelayReason::new(
            ReasonCode::DependsMissing,
            evidence(roots),
            fix,
        ));
    }
    if !walk.unlisted.is_empty() {
        reasons.push(DelayReason::new(
            ReasonCode::DependsOneSided,
            evidence(walk.unlisted.values().cloned().collect()),
            CommandLine::new("check --repair").with_flag("--only", "dependency-one-sided"),
        ));
    }
    let roots_where = |wanted: &dyn Fn(Option<State>) -> bool| {
        let roots = walk.roots.values().filter(|root| wanted(root.state));
        roots.cloned().collect::<Vec<Neighbor>>()
    };
    let failed = roots_where(&|state| state == Some(State::Failed));
    if let Some(first) = failed.first() {
        let fix = CommandLine::new("retry").with_name_argument(&first.jid);
        let failure = first.job.as_ref().and_then(|job| job.failure.clone());
        let (group, message) = failure
            .map(|failure| (failure.group, failure.message))
            .unzip();
        let evidence = ReasonEvidence {
            group,
            message,
            ..evidence(failed.clone())
        };
        reasons.push(DelayReason::new(ReasonCode::DependsFailed, evidence, fix));
    }
    let open = roots_where(&|state| !matches!(state, Some(State::Failed | State::Complete)));
    if let Some(first) = open.first() {
        let fix = CommandLine::new("explain").with_name_argument(&first.jid);
        reasons.push(DelayReason::new(
            ReasonCode::Depends,
            evidence(open.clone()),
            fix,
        ));
    }
    if reasons.is_empty() && !walk.is_incomplete {
        // All dependencies of the job are complete, but its release was lost. The fix is a check without `--queue`,
        // because a check of one queue misses a dependency that is listed only by a job of another queue.
        let fix = CommandLine::new("check --repair");
        reasons.push(DelayReason::new(
            ReasonCode::QueueBroken,
            ReasonEvidence::default(),
            fix,
        ));
    }
}
