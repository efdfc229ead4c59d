//! The problems that need attention.

use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::model::overview::{
    GroupWithRecentFailures, LaneBlockedByExpiredLock, OldestJobWait, ProblemCode, QueueFacts,
    StatusProblem, SystemFacts, SystemWideList, at_least_prefix,
};
use crate::model::queue::Queue;
use crate::model::server::ServerFacts;
use crate::model::worker::{SILENT_AFTER, Worker};
use crate::name::Name;
use crate::text::{comma_list, format_count_without_separators, format_duration};

/// How long a recurring job may be overdue before that is a problem, in seconds.
const LATE_RECURRING: f64 = 60.0;

/// How long a worker that holds a lock may be silent before that is a problem, in seconds. With a lock of more than
/// twice this time, the worker may be silent for half of the lock's time, unless [`LONG_LOCK`] is left of it.
const LONG_SILENCE: f64 = 3600.0;

/// A lock that lasts this much longer, in seconds, hides the loss of a silent worker from everyone until then.
const LONG_LOCK: f64 = 86_400.0;

/// Maximum number of groups, queues or workers that are named for one kind of problem. Further ones are only counted.
const MAX_NAMED: usize = 3;

/// The problems that need attention. First come dangers to data, then whatever keeps the most jobs from running, and
/// last the queues that an operator paused.
pub(crate) fn find_problems(facts: &SystemFacts, since_s: f64, now: Moment) -> Vec<StatusProblem> {
    let mut problems: Vec<StatusProblem> = wrong_key_types_problem(facts).into_iter().collect();
    if let Some(server) = &facts.server {
        add_server_problems(server, &mut problems);
    }
    problems.extend(missing_workers_problem(facts, now));
    add_blocking_throttles_and_lanes(facts, &mut problems);
    add_failing_groups(&facts.groups, since_s, &mut problems);
    problems.extend(stalled_jobs_problem(facts, now));
    add_long_waiting_queues(facts, now, &mut problems);
    problems.extend(silent_holders_problem(facts, now));
    problems.extend(late_recurring_problem(facts, now));
    add_all_paused_queues(facts, now, &mut problems);
    problems
}

/// The problem that keys of a wrong type keep queues, or lists such as the workers, from being read.
pub(crate) fn wrong_key_types_problem(facts: &SystemFacts) -> Option<StatusProblem> {
    let named = facts.damaged_queues.iter().take(MAX_NAMED);
    let mut parts: Vec<String> = named.map(|queue| format!("queue {queue}")).collect();
    let more = facts.damaged_queues.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        parts.push(format_count_without_separators(
            more as u64,
            "other queue",
            "other queues",
        ));
    }
    let lists = facts.damaged_lists.iter();
    parts.extend(lists.map(|list| <&str>::from(*list).to_owned()));
    if parts.is_empty() {
        return None;
    }
    let what = format!(
        "cannot be read, because a key has the wrong type: {}",
        comma_list(parts)
    );
    let problem = StatusProblem::new(ProblemCode::Damaged, what);
    let problem = match facts.damaged_queues.as_slice() {
        [queue] => problem.with_queue(queue),
        _ => problem,
    };
    Some(problem.with_fix(CommandLine::new("check --only key-type")))
}

fn add_server_problems(server: &ServerFacts, problems: &mut Vec<StatusProblem>) {
    for code in [
        ProblemCode::Eviction,
        ProblemCode::Memory,
        ProblemCode::Persistence,
        ProblemCode::Replica,
    ] {
        if let Some(what) = server.sentence_if_has_problem(code) {
            problems.push(StatusProblem::new(code, what));
        }
    }
}

/// Jobs wait, and nobody comes for them.
fn missing_workers_problem(facts: &SystemFacts, now: Moment) -> Option<StatusProblem> {
    if !facts.is_list_readable(SystemWideList::Workers) {
        return None;
    }
    // Jobs in a paused queue wait for the end of the pause, not for a worker.
    let unpaused_queues = || {
        let queues = facts.queues.iter().map(|queue| &queue.counts);
        queues.filter(|queue| !queue.paused)
    };
    let waiting: u64 = unpaused_queues().map(|queue| queue.waiting).sum();
    let throttled_or_stalled: u64 = unpaused_queues()
        .map(|queue| queue.throttled + queue.stalled)
        .sum();
    let least = at_least_prefix(facts.omitted().queues);
    // A recently completed job shows that there is a worker, even one that has ended since and was removed from the
    // list.
    let recent = facts.recent.as_ref();
    if recent.is_some_and(|recent| recent.completed > 0) {
        return None;
    }
    let list = CommandLine::new("workers");
    if waiting > 0 && facts.worker_count == 0 {
        let jobs = format!(
            "{least}{}",
            format_count_without_separators(waiting, "job waits", "jobs wait")
        );
        let what = format!("{jobs}, and no worker was seen");
        let problem = StatusProblem::new(ProblemCode::NoWorkers, what);
        return Some(problem.with_jobs(waiting).with_fix(list));
    }
    // Consider only idle workers. A worker that holds a lock may be silent because it is busy.
    let idle = facts.workers.iter().filter(|worker| worker.running == 0);
    let shortest_idle_silence = now.since(idle.filter_map(|worker| worker.last_seen).max()?);
    if waiting + throttled_or_stalled == 0 || shortest_idle_silence <= SILENT_AFTER {
        return None;
    }
    let last_seen = facts.workers.iter().filter_map(|worker| worker.last_seen);
    if last_seen
        .max()
        .is_some_and(|seen| now.since(seen) <= SILENT_AFTER)
    {
        return None;
    }
    let which = if facts.queues.iter().all(|queue| queue.counts.running == 0) {
        "no worker"
    } else {
        "no idle worker"
    };
    let (time, jobs) = (
        format_duration(shortest_idle_silence),
        format!(
            "{least}{}",
            format_count_without_separators(
                waiting + throttled_or_stalled,
                "job waits",
                "jobs wait"
            )
        ),
    );
    let what = format!("{which} has been seen for {time}, and {jobs}");
    let problem = StatusProblem::new(ProblemCode::WorkersSilent, what);
    Some(
        problem
            .with_jobs(waiting + throttled_or_stalled)
            .with_age(shortest_idle_silence)
            .with_fix(list),
    )
}

/// Adds a problem for each throttle that lets no job run, and for each lane whose first job has lost its lock.
fn add_blocking_throttles_and_lanes(facts: &SystemFacts, problems: &mut Vec<StatusProblem>) {
    let mut known: Vec<&Name> = Vec::new();
    for queue in &facts.queues {
        let Some(id) = queue.throttle.as_ref().filter(|id| !known.contains(id)) else {
            continue;
        };
        known.push(id);
        let held = queue.waiting.unwrap_or(0);
        // A throttle holds a job only after a pop has met it. Before that, this number is 0 even if jobs need the
        // throttle.
        let jobs = match held {
            0 => "at least one job needs it".to_owned(),
            held => format!(
                "it holds {}",
                format_count_without_separators(held, "job", "jobs")
            ),
        };
        let what = format!("throttle {id} lets no job run, and {jobs}");
        let fix = CommandLine::new("throttle set")
            .with_name_argument(id)
            .with_name_argument("N");
        let problem = StatusProblem::new(ProblemCode::Throttle, what);
        let problem = problem.with_queue(&queue.counts.name).with_jobs(held);
        problems.push(problem.with_fix_template(fix));
    }
    let mut known: Vec<&Name> = Vec::new();
    let lanes = facts.queues.iter();
    let lanes = lanes.flat_map(|queue| queue.lanes.iter().map(move |lane| (queue, lane)));
    for (queue, lane) in lanes {
        let LaneBlockedByExpiredLock {
            name,
            first,
            worker,
        } = lane;
        if known.contains(&name) {
            continue;
        }
        known.push(name);
        let what = format!("lane {name} waits for {first}, whose worker {worker} lost its lock");
        let problem = StatusProblem::new(ProblemCode::Lane, what).with_queue(&queue.counts.name);
        let fix = CommandLine::new("timeout").with_name_argument(first);
        problems.push(problem.with_worker(worker).with_fix(fix));
    }
}

fn add_failing_groups(
    groups: &[GroupWithRecentFailures],
    since_s: f64,
    problems: &mut Vec<StatusProblem>,
) {
    let mut groups: Vec<&GroupWithRecentFailures> =
        groups.iter().filter(|group| group.recent > 0).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.recent));
    let time = format_duration(since_s);
    let (named, rest) = groups.split_at(groups.len().min(MAX_NAMED));
    for group in named {
        let failed = format_count_without_separators(group.recent, "job has", "jobs have");
        let all = match group.jobs - group.recent.min(group.jobs) {
            0 => String::new(),
            _ => format!(", {} in all", group.jobs),
        };
        let what = format!("{}: {failed} failed in the last {time}{all}", group.group);
        let fix = CommandLine::new("failed").with_exact_pattern("--group", &group.group);
        let problem = StatusProblem::new(ProblemCode::Failing, what).with_group(&group.group);
        problems.push(problem.with_jobs(group.recent).with_fix(fix));
    }
    if !rest.is_empty() {
        let jobs = rest.iter().map(|group| group.recent).sum();
        let others =
            format_count_without_separators(rest.len() as u64, "other group", "other groups");
        let failed = format_count_without_separators(jobs, "job has", "jobs have");
        let what = format!("{others}: {failed} failed in the last {time}");
        let problem = StatusProblem::new(ProblemCode::Failing, what).with_jobs(jobs);
        problems.push(problem.with_fix(CommandLine::new("failed")));
    }
}

fn stalled_jobs_problem(facts: &SystemFacts, now: Moment) -> Option<StatusProblem> {
    let jobs: u64 = facts.queues.iter().map(|queue| queue.counts.stalled).sum();
    if jobs == 0 {
        return None;
    }
    let lost: Vec<&Worker> = facts
        .workers
        .iter()
        .filter(|worker| worker.stalled > 0)
        .collect();
    let named = lost
        .iter()
        .take(MAX_NAMED)
        .map(|worker| match worker.last_seen {
            Some(seen) => format!(
                "{}, seen {} ago",
                worker.name,
                format_duration(now.since(seen))
            ),
            None => worker.name.to_string(),
        });
    let mut named: Vec<String> = named.collect();
    if lost.len() > MAX_NAMED {
        named.push(format!("{} more", lost.len() - MAX_NAMED));
    }
    let whose = if named.is_empty() {
        String::new()
    } else {
        format!(" ({})", named.join("; "))
    };
    // Say "lost": the lock may have expired, or an operator may have revoked it.
    let locks = if jobs == 1 { "its lock" } else { "their locks" };
    let have = format_count_without_separators(jobs, "job has", "jobs have");
    let what = format!("{have} lost {locks}{whose}");
    let mut problem = StatusProblem::new(ProblemCode::Stalled, what).with_jobs(jobs);
    if let [worker] = lost.as_slice() {
        problem = problem.with_worker(&worker.name);
    }
    Some(problem.with_fix(CommandLine::new("jobs --state stalled")))
}

/// Adds a problem for each queue whose oldest job has waited too long, except if a throttle or lane that is a problem
/// itself holds the job.
fn add_long_waiting_queues(facts: &SystemFacts, now: Moment, problems: &mut Vec<StatusProblem>) {
    let is_blocked = |wait: &OldestJobWait| {
        let by = wait.held_by.as_ref();
        let mut queues = facts.queues.iter();
        by.is_some()
            && queues.any(|queue| {
                let mut lanes = queue.lanes.iter();
                queue.throttle.as_ref() == by || lanes.any(|lane| Some(&lane.name) == by)
            })
    };
    let late = facts
        .queues
        .iter()
        .filter(|queue| queue.has_oldest_job_waited_too_long(now));
    let waits = late.filter_map(|queue| queue.oldest_job_wait(now));
    let mut waits: Vec<OldestJobWait> = waits.filter(|wait| !is_blocked(wait)).collect();
    waits.sort_by(|one, other| other.wait_s.0.total_cmp(&one.wait_s.0));
    let (named, rest) = waits.split_at(waits.len().min(MAX_NAMED));
    for wait in named {
        let why = wait.wait_reason_text(now);
        let why = why.map_or_else(String::new, |why| format!(", {why}"));
        let time = format_duration(wait.wait_s.0);
        let what = format!("{}: the oldest job has waited {time}{why}", wait.queue);
        let fix = CommandLine::new("explain").with_flag("--queue", &wait.queue);
        let problem = StatusProblem::new(ProblemCode::Late, what).with_queue(&wait.queue);
        problems.push(problem.with_age(wait.wait_s.0).with_fix(fix));
    }
    if let [first, ..] = rest {
        let others =
            format_count_without_separators(rest.len() as u64, "other queue", "other queues");
        let time = format_duration(first.wait_s.0);
        let what = format!("{others}: the oldest jobs have waited up to {time}");
        let problem = StatusProblem::new(ProblemCode::Late, what).with_age(first.wait_s.0);
        problems.push(problem.with_fix(CommandLine::new("lag")));
    }
}

/// The problem that workers hold locks but have been silent for long. They may still be busy: a client with a long lock
/// need not extend it.
fn silent_holders_problem(facts: &SystemFacts, now: Moment) -> Option<StatusProblem> {
    let silence = |worker: &&Worker| {
        let left = worker.locked_until.map_or(0.0, |until| until.since(now));
        let is_long = worker.running > 0 && left > LONG_LOCK;
        let silence = worker
            .last_seen
            .filter(|_| is_long)
            .map(|seen| now.since(seen));
        silence
            .or(worker.silence_if_overdue(now))
            .unwrap_or_default()
    };
    let mut silent: Vec<&Worker> = facts.workers.iter().collect();
    silent.retain(|worker| silence(worker) > LONG_SILENCE);
    let age = silent.iter().map(silence).max_by(f64::total_cmp)?;
    let jobs = silent.iter().map(|one| one.running).sum();
    let until = silent.iter().filter_map(|worker| worker.locked_until).max();
    let left = format_duration(until.unwrap_or(now).since(now).max(0.0));
    let (held, silence) = (
        format_count_without_separators(jobs, "job", "jobs"),
        format_duration(age),
    );
    let rest = format!("silent for {silence}, holding {held} for up to {left} more");
    let list = CommandLine::new("workers");
    let problem = |what: String| StatusProblem::new(ProblemCode::SilentHolder, what);
    let problem = match silent.as_slice() {
        [worker] => {
            let fix = list.with_name_argument(&worker.name);
            let problem = problem(format!("worker {} is {rest}", worker.name));
            problem.with_worker(&worker.name).with_fix(fix)
        }
        all => problem(format!("{} workers are {rest}", all.len())).with_fix(list),
    };
    Some(problem.with_jobs(jobs).with_age(age))
}

/// The problem that recurring jobs are overdue because no pop has come for them. Paused queues do not count.
fn late_recurring_problem(facts: &SystemFacts, now: Moment) -> Option<StatusProblem> {
    let age = |queue: &QueueFacts| queue.due.map_or(0.0, |due| now.since(due));
    let queues = facts
        .queues
        .iter()
        .filter(|queue| queue.late > 0 && age(queue) > LATE_RECURRING && !queue.counts.paused);
    let queues: Vec<&QueueFacts> = queues.collect();
    let oldest = queues
        .iter()
        .map(|queue| age(queue))
        .max_by(f64::total_cmp)?;
    let jobs = queues.iter().map(|queue| queue.late).sum();
    let time = format_duration(oldest);
    let what = match jobs {
        1 => format!("1 recurring job is late by {time}: no pop has come for it"),
        jobs => {
            format!("{jobs} recurring jobs are late, the first by {time}: no pop has come for them")
        }
    };
    let problem = match queues.as_slice() {
        [queue] => {
            let name = &queue.counts.name;
            let what = format!("{name}: {what}");
            StatusProblem::new(ProblemCode::LateRecurring, what).with_queue(name)
        }
        _ => StatusProblem::new(ProblemCode::LateRecurring, what),
    };
    let problem = problem.with_jobs(jobs);
    Some(
        problem
            .with_age(oldest)
            .with_fix(CommandLine::new("recur list")),
    )
}

fn add_all_paused_queues(facts: &SystemFacts, now: Moment, problems: &mut Vec<StatusProblem>) {
    let queues = facts.queues.iter().map(|queue| &queue.counts);
    let paused: Vec<&Queue> = queues.filter(|queue| queue.paused).collect();
    let (named, rest) = paused.split_at(paused.len().min(MAX_NAMED));
    for queue in named {
        let waiting = queue.waiting + queue.throttled;
        let age = queue.paused_since.map(|since| now.since(since).max(0.0));
        let mut what = format!("{} is paused", queue.name);
        if let Some(age) = age {
            what.push_str(&format!(" for {}", format_duration(age)));
        }
        if let Some(by) = &queue.paused_by {
            what.push_str(&format!(" by {by}"));
        }
        if let Some(until) = queue.paused_until {
            what.push_str(&format!(
                ", ends in {}",
                format_duration(until.since(now).max(0.0))
            ));
        }
        if let Some(reason) = &queue.paused_reason {
            what.push_str(&format!(" ({reason})"));
        }
        if waiting > 0 {
            what.push_str(&format!(
                ", {}",
                format_count_without_separators(waiting, "job waits", "jobs wait")
            ));
        }
        let problem = StatusProblem::new(ProblemCode::Paused, what).with_queue(&queue.name);
        let problem = problem
            .with_jobs(waiting)
            .with_fix(CommandLine::new("unpause").with_name_argument(&queue.name));
        problems.push(match age {
            Some(age) => problem.with_age(age),
            None => problem,
        });
    }
    if !rest.is_empty() {
        let names = rest.iter().map(|queue| queue.name.to_string());
        let names: Vec<String> = names.take(MAX_NAMED).collect();
        let others = format_count_without_separators(
            rest.len() as u64,
            "other queue is",
            "other queues are",
        );
        let what = format!("{others} paused: {}", comma_list(names.iter()));
        problems.push(
            StatusProblem::new(ProblemCode::Paused, what).with_fix(CommandLine::new("queues")),
        );
    }
}
