//! `qless status`

use std::time::{Duration, Instant};

use super::{Group, Spec};
use crate::args::shared::WatchFlag;
use crate::args::value;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::job::QueuedCounts;
use crate::model::lag::LagCause;
use crate::model::overview::{
    BlockingThrottle, LateRecurring, Overview, OverviewTotals, PausedQueueSummary, ProblemCode,
    StatusFacts, StatusProblem, StuckLane, WatchSample, WatchedRates,
};
use crate::model::queue::{Queue, RoundedSeconds};
use crate::model::worker::Worker;
use crate::session::Session;
use crate::text::{duration, plural};

/// Show the whole system on one screen
///
/// The server, what needs attention with the command that helps, the number of jobs in each state, what
/// was popped and completed today (UTC) and in the last five minutes, the oldest waits with what holds
/// the jobs, paused queues, recent failures, workers, and recurring jobs that are late. `--watch` also
/// shows how many jobs are put and completed per second. All figures are of one moment, unless there are
/// more than 2,000 queues or groups, or 5,000 workers. More than 16 recent failures of a group are
/// counted to a sixteenth.
///
/// Examples: `qless status` · `qless status --since 10m` · `qless status -o json | jq .totals`
///
/// Exit codes: 0, 6 server.
///
/// See also: `qless queues`, `qless failed`, `qless workers`, `qless explain`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Count the failures of this time
    #[arg(long, value_name = "D", value_parser = value::duration, default_value = "1h")]
    since: Duration,
    #[command(flatten)]
    pub watch: WatchFlag,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Inspect, run).watch(|args| args.watch.every);

/// The time over which rates are counted.
const WINDOW: Duration = Duration::from_secs(60);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Overview>()?;
    let now = session.connect()?;
    let since = args.since.as_secs_f64();
    let from = Moment::from_seconds(now.seconds() - since).unwrap_or(now);
    let facts = session.core()?.status_facts(now, from)?;
    let mut overview = build_overview(facts, now);
    overview.since_s = RoundedSeconds(since);
    overview.last_minute = rates_of_last_minute(&overview, session);
    session.ui.show(&overview)?;
    Ok(Exit::Ok)
}

fn build_overview(facts: StatusFacts, now: Moment) -> Overview {
    let (queues, workers) = (&facts.queues, &facts.workers);
    let busy = workers
        .iter()
        .filter(|worker| worker.running + worker.stalled > 0);
    let mut queued = QueuedCounts::default();
    queues
        .iter()
        .for_each(|queue| queue.add_to_counts(&mut queued));
    let totals = OverviewTotals {
        queues: queues.len() as u64,
        queued,
        failed: facts.groups.iter().map(|group| group.jobs).sum(),
        complete: facts.complete,
        recurring: queues.iter().map(|queue| queue.recurring).sum(),
        groups: facts.groups.len() as u64,
        workers: workers.len() as u64,
        busy_workers: busy.count() as u64,
        last_seen: workers.iter().filter_map(|worker| worker.last_seen).max(),
    };
    let paused = queues.iter().filter(|queue| queue.paused);
    let paused = paused.map(|queue| PausedQueueSummary {
        queue: queue.name.clone(),
        since: queue.paused_since,
        until: queue.paused_until,
        by: queue.paused_by.clone(),
        reason: queue.paused_reason.clone(),
    });
    let mut today = facts.today;
    let seconds = now.seconds().rem_euclid(86_400.0);
    if seconds >= 1.0 {
        today.popped_per_s = Some(RoundedSeconds(today.popped as f64 / seconds));
        today.completed_per_s = Some(RoundedSeconds(today.completed as f64 / seconds));
    }
    let mut waits = facts.waits;
    for wait in &mut waits {
        let is_paused = |queue: &Queue| queue.paused && queue.name == wait.queue;
        if queues.iter().any(is_paused) {
            (wait.why, wait.held_by) = (Some(LagCause::Paused), None);
        }
    }
    waits.sort_by(|one, other| other.wait_s.0.total_cmp(&one.wait_s.0));
    let mut failures = facts.groups;
    failures.retain(|group| group.recent > 0);
    failures.sort_by_key(|group| std::cmp::Reverse(group.recent));
    let mut overview = Overview {
        server: facts.server,
        totals,
        today,
        recent: facts.recent,
        waits,
        paused: paused.collect(),
        failures,
        late_recurring: facts.late_recurring,
        ..Overview::default()
    };
    overview.problems = find_problems(
        &overview,
        queues,
        workers,
        &facts.throttles,
        &facts.lanes,
        now,
    );
    let mut stalled = facts.workers;
    stalled.retain(|worker| worker.stalled > 0);
    overview.stalled_workers = stalled;
    overview
}

/// How long a recurring job may be due before it counts as late.
const LATE: f64 = 60.0;

/// How long no worker may have been seen before that counts as a problem, if one holds no lock.
const SILENT: f64 = 120.0;

/// What needs attention: what endangers data first, then what keeps most jobs from running.
fn find_problems(
    overview: &Overview,
    queues: &[Queue],
    workers: &[Worker],
    throttles: &[BlockingThrottle],
    lanes: &[StuckLane],
    now: Moment,
) -> Vec<StatusProblem> {
    let totals = &overview.totals;
    let server = overview.server.clone().unwrap_or_default();
    let mut problems = Vec::new();
    let mut add = |code, what: String, fix: Option<CommandLine>| {
        problems.push(StatusProblem::new(code, &what, fix));
    };
    for code in [
        ProblemCode::Eviction,
        ProblemCode::Memory,
        ProblemCode::Persistence,
        ProblemCode::Replica,
    ] {
        if let Some(what) = server.problem(code) {
            add(code, what.into(), None);
        }
    }
    let list = CommandLine::new("workers");
    // Jobs of a paused queue wait for its end, not for a worker.
    let count = |count: fn(&Queue) -> u64| {
        let open = queues.iter().filter(|queue| !queue.paused);
        open.map(count).sum::<u64>()
    };
    let waiting = count(|queue| queue.waiting);
    let wait = waiting + count(|queue| queue.throttled + queue.stalled);
    let silence = totals.last_seen.map(|seen| now.since(seen));
    // A worker that ends is forgotten, but what it completed is counted.
    let recent = overview.recent.as_ref();
    let is_working = recent.is_some_and(|recent| recent.completed > 0);
    // A worker that holds a lock may be silent because it is busy.
    let idle = workers.iter().filter(|worker| worker.running == 0);
    if waiting > 0 && totals.workers == 0 && !is_working {
        let what = "jobs wait, and no worker was seen";
        add(ProblemCode::NoWorkers, what.into(), Some(list));
    } else if silence.is_some_and(|silence| silence > SILENT)
        && !is_working
        && let Some(seen) = idle.filter_map(|worker| worker.last_seen).max()
        && wait > 0
    {
        let wait = plural(wait, "job waits", "jobs wait");
        let which = match totals.queued.running {
            0 => "no worker",
            _ => "no worker without a job",
        };
        let silence = duration(now.since(seen));
        let what = format!("{which} has been seen for {silence}, and {wait}");
        add(ProblemCode::WorkersSilent, what, Some(list));
    }
    for BlockingThrottle { id, waiting } in throttles {
        // Pops hold the jobs that they meet: without a pop, no job is held yet.
        let jobs = match waiting {
            0 => "at least one job needs it".to_owned(),
            held => format!("it holds {}", plural(*held, "job", "jobs")),
        };
        let what = format!("throttle {id} lets no job run, and {jobs}");
        let fix = CommandLine::new("throttle set").name(id).name("N");
        add(ProblemCode::Throttle, what, Some(fix));
    }
    for StuckLane {
        lane,
        first,
        worker,
    } in lanes
    {
        let what = format!("lane {lane} waits for {first}, whose worker {worker} lost its lock");
        let fix = CommandLine::new("timeout").name(first);
        add(ProblemCode::Lane, what, Some(fix));
    }
    if totals.queued.stalled > 0 {
        let fix = CommandLine::new("jobs --state stalled");
        let what = "jobs have lost their workers";
        add(ProblemCode::Stalled, what.into(), Some(fix));
    }
    // A paused queue is listed as such.
    let is_late = |late: &LateRecurring| {
        late.due.is_some_and(|due| now.since(due) > LATE)
            && !overview
                .paused
                .iter()
                .any(|paused| paused.queue == late.queue)
    };
    if overview.late_recurring.iter().any(is_late) {
        let what = "recurring jobs are late: no pop has put their jobs";
        let fix = CommandLine::new("recur list");
        add(ProblemCode::LateRecurring, what.into(), Some(fix));
    }
    problems
}

/// The rates since the oldest count of the last minute, and notes the present one.
fn rates_of_last_minute(overview: &Overview, session: &mut Session) -> Option<WatchedRates> {
    let totals = &overview.totals;
    let at = Instant::now();
    let sample = WatchSample {
        at,
        open: totals.queued.total() + totals.failed,
        completed: overview.today.completed,
    };
    let samples = &mut session.samples;
    samples.retain(|sample| at.duration_since(sample.at) <= WINDOW);
    let first = samples.first().copied();
    samples.push(sample);
    let first = first?;
    let seconds = at.duration_since(first.at).as_secs_f64();
    // At midnight the counter of completions begins again.
    let completed = sample.completed.checked_sub(first.completed)? as f64;
    let put = (sample.open as f64 - first.open as f64 + completed).max(0.0);
    (seconds > 0.0).then(|| WatchedRates {
        seconds: RoundedSeconds(seconds),
        put_per_s: RoundedSeconds(put / seconds),
        completed_per_s: RoundedSeconds(completed / seconds),
    })
}
