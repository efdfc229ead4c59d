//! The facts about a worker for monitoring systems: figures, and whether it is alive and ready.
//!
//! The loop of the worker and the thread of its calls write these facts. The threads of the listener of `--metrics`
//! read them, without a call to Redis.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use strum::VariantArray;

use super::machine::event::WorkerReadiness;
use super::options::WorkOptions;
use crate::core::script::Script;
use crate::error::Error;
use crate::listen::{Listener, Request, Response, Status};
use crate::model::metrics::{
    DurationHistogram, MetricFamily, MetricKind, PROMETHEUS_TYPE, prometheus_text,
};
use crate::model::work::WorkEventKind;
use crate::name::Name;
use crate::session::Session;
use crate::text::format_duration_tenths_below_minute;
use crate::threads;

/// Maximum number of queues with metric series of their own. The jobs of further queues count as jobs of `other`.
const MAX_QUEUES: usize = 500;

/// The queue name in the metrics for jobs whose queue has no series of its own.
const OTHER: &str = "other";

/// The state of the loop of the worker, and its next step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopState {
    /// `None` until the loop has begun.
    pub readiness: Option<WorkerReadiness>,
    /// The number of slots whose process has a job.
    pub busy: usize,
    /// Since when the loop has awaited a reply. If it awaits none: when it continues at the latest. `None` if it may
    /// wait without limit.
    pub due_at: Option<Instant>,
}

/// When calls ended last.
#[derive(Clone, Copy, Debug)]
struct LastCallEndTimes {
    /// Any call, also one that failed.
    any: Instant,
    /// A finish-and-pop call with a reply.
    finish_and_pop: Instant,
}

/// The number of jobs of a queue that ended in each way, by [`WorkEventKind`].
type ResultCounts = [AtomicU64; WorkEventKind::VARIANTS.len()];

/// The state that a worker shares with the threads of its listener.
#[derive(Debug)]
pub(super) struct WorkMonitor {
    slots: usize,
    /// The SHA of the script.
    core: String,
    /// How late a finish-and-pop call or a heartbeat may end before the worker counts as stuck.
    patience: Duration,
    state: Mutex<LoopState>,
    calls: Mutex<LastCallEndTimes>,
    /// The counts by queue. The write lock is taken only to add a queue.
    jobs: RwLock<BTreeMap<Name, ResultCounts>>,
    runs: DurationHistogram,
}

impl WorkMonitor {
    fn new(options: &WorkOptions, session: &Session) -> WorkMonitor {
        let core = Script::new(session.prefix()).sha().to_owned();
        let patience = max_lateness_of_calls(options.poll, session.timeout());
        WorkMonitor::with_patience(options.concurrency, core, patience, Instant::now())
    }

    fn with_patience(slots: usize, core: String, patience: Duration, now: Instant) -> WorkMonitor {
        WorkMonitor {
            slots,
            core,
            patience,
            state: Mutex::default(),
            calls: Mutex::new(LastCallEndTimes {
                any: now,
                finish_and_pop: now,
            }),
            jobs: RwLock::default(),
            runs: DurationHistogram::default(),
        }
    }

    pub(super) fn set_state(&self, state: LoopState) {
        *lock(&self.state) = state;
    }

    /// A copy of the loop's state, so that a reader holds the lock only briefly and does not delay the loop.
    fn loop_state(&self) -> LoopState {
        *lock(&self.state)
    }

    fn times_of_last_calls(&self) -> LastCallEndTimes {
        *lock(&self.calls)
    }

    /// Notes that a call to the server ended, and whether it was a finish-and-pop call with a reply.
    pub(super) fn note_ended_call(&self, is_answered_pop: bool) {
        let now = Instant::now();
        let mut calls = lock(&self.calls);
        calls.any = now;
        if is_answered_pop {
            calls.finish_and_pop = now;
        }
    }

    /// Adds a queue with counts of 0: the rate of a metric needs the 0 before the first job ends.
    pub(super) fn add_queue(&self, queue: &Name) {
        self.with_counts_of_queue(queue, |_| {});
    }

    /// Counts a job that ended in the way `kind`, after it had run for `elapsed` seconds.
    pub(super) fn count_job_end(&self, queue: &Name, kind: WorkEventKind, elapsed: f64) {
        self.with_counts_of_queue(queue, |counts| {
            counts[kind as usize].fetch_add(1, Ordering::Relaxed);
        });
        if has_run_to_its_end(kind) {
            self.runs.count_duration(elapsed);
        }
    }

    fn with_counts_of_queue(&self, queue: &Name, add: impl Fn(&ResultCounts)) {
        let known = self.jobs.read().unwrap_or_else(PoisonError::into_inner);
        let name = if known.contains_key(queue) || known.len() < MAX_QUEUES {
            queue.clone()
        } else {
            Name::from(OTHER.to_owned())
        };
        if let Some(counts) = known.get(&name) {
            return add(counts);
        }
        drop(known);
        let mut known = self.jobs.write().unwrap_or_else(PoisonError::into_inner);
        add(known.entry(name).or_default());
    }

    /// Why the worker is stuck (for `/livez`), `None` if it is not. A server that does not reply makes no worker stuck:
    /// calls end at their time limit.
    fn why_not_alive(&self, now: Instant) -> Option<String> {
        let due_at = self.loop_state().due_at?;
        let ended_at = self.times_of_last_calls().any;
        let overdue = now.saturating_duration_since(due_at.max(ended_at));
        let silent = now.saturating_duration_since(ended_at).as_secs_f64();
        (overdue > self.patience).then(|| {
            let silent = format_duration_tenths_below_minute(silent);
            format!("stuck: the last turn or heartbeat ended {silent} ago")
        })
    }

    /// Why the worker is not ready (for `/readyz`): it starts, stops, is stuck, or Redis is away. `None` if it is
    /// ready.
    fn why_not_ready(&self, now: Instant) -> Option<String> {
        let why = match self.loop_state().readiness {
            None => "starting: no job has been popped",
            Some(WorkerReadiness::ServerAway) => "Redis is away",
            Some(WorkerReadiness::ServerRefuses) => "Redis refuses changes",
            Some(WorkerReadiness::ProgramMissing) => "the command cannot be started",
            Some(WorkerReadiness::Stopping) => "stopping: no further job is popped",
            Some(WorkerReadiness::Ready) => return self.why_not_alive(now),
        };
        Some(why.to_owned())
    }

    /// The figures of the worker.
    fn metric_families(&self, now: Instant) -> Vec<MetricFamily> {
        let gauge = |name, help, value| {
            MetricFamily::with_single_sample(name, MetricKind::Gauge, help, value)
        };
        let state = self.loop_state();
        let replied_at = self.times_of_last_calls().finish_and_pop;
        let mut jobs = MetricFamily::new(
            "qless_work_jobs_total",
            MetricKind::Counter,
            "Jobs of this worker that ended since its start, by how they did",
        );
        for (queue, counts) in &*self.jobs.read().unwrap_or_else(PoisonError::into_inner) {
            let queue = queue.to_string();
            for (kind, count) in WorkEventKind::VARIANTS.iter().zip(counts) {
                if *kind != WorkEventKind::Started {
                    let labels = [("queue", queue.as_str()), ("result", kind.into_str())];
                    jobs.add_value(&labels, count.load(Ordering::Relaxed) as f64);
                }
            }
        }
        let mut runs = MetricFamily::new(
            "qless_work_run_seconds",
            MetricKind::Histogram,
            "How long jobs ran that this worker completed, advanced, retried or failed",
        );
        runs.add_histogram(&[], &self.runs);
        vec![
            MetricFamily::build_info(&self.core),
            gauge(
                "qless_work_slots",
                "Processes that may run at the same time",
                self.slots as f64,
            ),
            gauge(
                "qless_work_busy",
                "Processes that have a job",
                state.busy as f64,
            ),
            gauge(
                "qless_work_last_turn_seconds",
                "Seconds since Redis last replied to a turn, or since the start",
                now.saturating_duration_since(replied_at).as_secs_f64(),
            ),
            jobs,
            runs,
        ]
    }
}

/// How late a finish-and-pop call or heartbeat may end: two poll intervals and the time limits of two calls.
fn max_lateness_of_calls(poll: Duration, timeout: Duration) -> Duration {
    poll.saturating_add(timeout).saturating_mul(2)
}

/// Whether this worker wrote the end of the job, so that its run time is known. Otherwise another worker may have
/// continued the job, or the job may not have run.
fn has_run_to_its_end(kind: WorkEventKind) -> bool {
    use WorkEventKind::{Advanced, Completed, Failed, Retried};

    matches!(kind, Completed | Advanced | Retried | Failed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that answers requests. Dropping this ends the thread.
pub(super) struct MetricsServer {
    pub monitor: Arc<WorkMonitor>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens the address, if one is given.
pub(super) fn bind(
    options: &WorkOptions,
    session: &mut Session,
) -> Result<Option<Listener>, Error> {
    let Some(address) = &options.metrics else {
        return Ok(None);
    };
    let access = options
        .access
        .read_access(|warning| session.ui.warn(warning))?;
    Listener::bind(address, access).map(Some)
}

impl MetricsServer {
    pub(super) fn start(
        listener: Listener,
        options: &WorkOptions,
        session: &mut Session,
    ) -> Result<MetricsServer, Error> {
        let monitor = Arc::new(WorkMonitor::new(options, session));
        let shown = monitor.clone();
        let url = listener.url();
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let serve = move || {
            let respond = |request: &Request| respond(request, &shown);
            listener.serve(respond, || stop_flag.load(Ordering::Relaxed));
        };
        let thread = threads::spawn(serve)?;
        let note = format!("listening on {url} for /metrics, /livez and /readyz");
        session.ui.note(&note);
        Ok(MetricsServer {
            monitor,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wait for the thread: at its end it removes the socket from the file system.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn respond(request: &Request, monitor: &WorkMonitor) -> Response<'static> {
    let now = Instant::now();
    let why_not = match request.path.as_str() {
        "/metrics" => {
            let text = prometheus_text(&monitor.metric_families(now), &[]);
            return Response::new(Status::Ok, PROMETHEUS_TYPE, text);
        }
        "/livez" => monitor.why_not_alive(now),
        "/readyz" => monitor.why_not_ready(now),
        _ => {
            let paths = "this listener has /metrics, /livez and /readyz";
            return Response::text(Status::NotFound, paths);
        }
    };
    match why_not {
        None => Response::text(Status::Ok, "ok"),
        Some(why) => Response::text(Status::ServiceUnavailable, why),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// The results of the probes after these seconds.
    fn probes(monitor: &WorkMonitor, begun: Instant, seconds: [u64; 3]) -> String {
        let shown = |why: Option<String>| why.unwrap_or_else(|| "ok".into());
        let lines = seconds.map(|after| {
            let now = begun + Duration::from_secs(after);
            let alive = shown(monitor.why_not_alive(now));
            format!("{after}: {alive}, {}\n", shown(monitor.why_not_ready(now)))
        });
        lines.concat()
    }

    /// A frozen loop leaves the state as it is. With the real clock, only a debugger freezes it.
    #[test]
    fn a_worker_is_stuck_when_what_was_due_has_not_ended_within_its_patience() {
        let begun = Instant::now();
        let patience = max_lateness_of_calls(Duration::from_secs(5), Duration::from_secs(10));
        let monitor = WorkMonitor::with_patience(1, String::new(), patience, begun);
        let set = |due_at| {
            monitor.set_state(LoopState {
                readiness: Some(WorkerReadiness::Ready),
                busy: 0,
                due_at,
            });
        };
        expect![[r#"
            0: ok, starting: no job has been popped
            1: ok, starting: no job has been popped
            90000: ok, starting: no job has been popped
        "#]]
        .assert_eq(&probes(&monitor, begun, [0, 1, 90_000]));
        // The next finish-and-pop call was due 5 seconds after the start.
        set(Some(begun + Duration::from_secs(5)));
        expect![[r#"
            0: ok, ok
            35: ok, ok
            36: stuck: the last turn or heartbeat ended 36.0s ago, stuck: the last turn or heartbeat ended 36.0s ago
        "#]]
        .assert_eq(&probes(&monitor, begun, [0, 35, 36]));
        // A call ended while the loop is frozen.
        lock(&monitor.calls).any = begun + Duration::from_secs(20);
        expect![[r#"
            36: ok, ok
            50: ok, ok
            51: stuck: the last turn or heartbeat ended 31.0s ago, stuck: the last turn or heartbeat ended 31.0s ago
        "#]].assert_eq(&probes(&monitor, begun, [36, 50, 51]));
        // The loop may wait for ever.
        set(None);
        expect![[r#"
            36: ok, ok
            51: ok, ok
            90000: ok, ok
        "#]]
        .assert_eq(&probes(&monitor, begun, [36, 51, 90_000]));
    }

    #[test]
    fn of_very_many_queues_the_first_500_have_series_of_their_own() {
        let now = Instant::now();
        let monitor = WorkMonitor::with_patience(1, String::new(), Duration::ZERO, now);
        for number in 0..2000 {
            let queue = Name::from(format!("q{number}"));
            monitor.add_queue(&queue);
            monitor.count_job_end(&queue, WorkEventKind::Completed, 0.5);
        }
        let text = prometheus_text(&monitor.metric_families(now), &[]);
        let completed = text.matches("result=\"completed\"").count();
        assert_eq!(completed, 501);
        for line in [
            "qless_work_jobs_total{queue=\"q499\",result=\"completed\"} 1\n",
            "qless_work_jobs_total{queue=\"other\",result=\"completed\"} 1500\n",
            "qless_work_run_seconds_count 2000\n",
            "qless_work_run_seconds_sum 1000\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
