//! The state of the system as metrics for Prometheus.

use crate::clock::moment::Moment;
use crate::core::api::overview::SnapshotRequest;
use crate::error::{Error, Kind};
use crate::model::metrics::{MetricFamily, MetricKind};
use crate::model::overview::{GroupWithRecentFailures, QueueFacts, SystemFacts, SystemWideList};
use crate::model::pattern::{NamePattern, passes_filter};
use crate::name::Name;

/// Which time series the metrics include: how many failure groups, and which queues.
#[derive(Clone, Debug)]
pub(crate) struct SeriesChoice {
    /// Maximum number of failure groups with a series of their own.
    pub max_groups: usize,
    /// Only these queues, if any are given.
    pub queues: Vec<NamePattern>,
}

impl SeriesChoice {
    pub(super) fn includes_queue(&self, queue: &Name) -> bool {
        passes_filter(&self.queues, Some(queue))
    }

    /// Which facts a snapshot must read for the metrics.
    pub(crate) fn snapshot_request(&self) -> SnapshotRequest {
        let queues = self.queues.iter().filter_map(NamePattern::as_plain_name);
        SnapshotRequest {
            spreads: true,
            queues: queues.cloned().collect(),
            ..SnapshotRequest::default()
        }
    }

    /// The patterns of queues that are globs.
    pub(crate) fn queue_globs(&self) -> Vec<NamePattern> {
        let queues = self.queues.iter();
        let globs = queues.filter(|pattern| pattern.as_plain_name().is_none());
        globs.cloned().collect()
    }
}

/// The metrics of a system whose snapshot took `took_s` seconds to read. `choice` says which groups and queues they
/// include. `core` is the SHA of the Lua script.
pub(crate) fn system_metrics(
    facts: &SystemFacts,
    choice: &SeriesChoice,
    core: &str,
    took_s: f64,
    now: Moment,
) -> Vec<MetricFamily> {
    let gauge =
        |name, help, value| MetricFamily::with_single_sample(name, MetricKind::Gauge, help, value);
    let mut families = vec![
        gauge(
            "qless_up",
            "Whether the queues could be read",
            f64::from(u8::from(facts.is_list_readable(SystemWideList::Queues))),
        ),
        gauge("qless_redis_up", "Whether Redis answered", 1.0),
        MetricFamily::build_info(core),
        gauge(
            "qless_scrape_duration_seconds",
            "How long reading took",
            took_s,
        ),
    ];
    families.extend(queue_metrics(facts, choice, now));
    families.extend(failure_group_metrics(facts, choice));
    let mut workers = MetricFamily::new(
        "qless_workers",
        MetricKind::Gauge,
        "Workers seen within this time",
    );
    if facts.is_list_readable(SystemWideList::Workers) {
        workers.add_value(&[("seen", "1h")], facts.workers_within_hour as f64);
        families.push(workers);
    }
    let omitted = facts.omitted();
    families.extend([
        gauge(
            "qless_queues_omitted",
            "Queues beyond the 500 that are read",
            omitted.queues as f64,
        ),
        gauge(
            "qless_workers_omitted",
            "Workers beyond the 500 that are read",
            omitted.workers as f64,
        ),
    ]);
    if facts.is_list_readable(SystemWideList::Complete) {
        families.push(gauge(
            "qless_complete_jobs",
            "Complete jobs that are still kept",
            facts.complete as f64,
        ));
    }
    if let Some(server) = &facts.server {
        families.push(gauge(
            "qless_redis_memory_bytes",
            "Memory that Redis uses",
            server.memory_bytes as f64,
        ));
        families.push(MetricFamily::with_single_sample(
            "qless_redis_evicted_keys_total",
            MetricKind::Counter,
            "Keys that Redis deleted because its memory was full, since it started",
            server.evicted_keys as f64,
        ));
    }
    families
}

/// The metrics if nothing could be read.
pub(crate) fn metrics_after_error(error: &Error, core: &str, took_s: f64) -> Vec<MetricFamily> {
    let answered = !matches!(
        error.kind(),
        Kind::Unreachable | Kind::Timeout | Kind::Tls | Kind::Protocol | Kind::NoMaster
    );
    let gauge =
        |name, help, value| MetricFamily::with_single_sample(name, MetricKind::Gauge, help, value);
    vec![
        gauge("qless_up", "Whether the queues could be read", 0.0),
        gauge(
            "qless_redis_up",
            "Whether Redis answered",
            f64::from(u8::from(answered)),
        ),
        MetricFamily::build_info(core),
        gauge(
            "qless_scrape_duration_seconds",
            "How long reading took",
            took_s,
        ),
    ]
}

/// A metric of a queue: its name, its kind, its help text, and the function that computes it.
type QueueFigure = (
    &'static str,
    MetricKind,
    &'static str,
    fn(&QueueFacts, Moment) -> f64,
);

const QUEUE_FIGURES: [QueueFigure; 9] = [
    (
        "qless_queue_paused",
        MetricKind::Gauge,
        "Whether pops from the queue get no jobs",
        |queue, _| f64::from(u8::from(queue.counts.paused)),
    ),
    (
        "qless_queue_head_wait_seconds",
        MetricKind::Gauge,
        "How long the next job to pop has waited; 0 if there is none",
        |queue, _| queue.counts.head_wait_s.map_or(0.0, |wait| wait.0),
    ),
    (
        "qless_queue_oldest_wait_seconds",
        MetricKind::Gauge,
        "How long the oldest job has waited that is due; 0 if there is none",
        |queue, now| seconds_since(queue.since, now),
    ),
    (
        "qless_queue_oldest_running_seconds",
        MetricKind::Gauge,
        "How long the oldest of four running jobs has run; 0 if none runs",
        |queue, now| seconds_since(queue.running_since, now),
    ),
    (
        "qless_jobs_stalled",
        MetricKind::Gauge,
        "Jobs whose lock has expired",
        |queue, _| queue.counts.stalled as f64,
    ),
    (
        "qless_recurring_late",
        MetricKind::Gauge,
        "Recurring jobs that are due and that no pop has put",
        |queue, _| queue.late as f64,
    ),
    (
        "qless_queue_completed_total",
        MetricKind::Counter,
        "Jobs completed since midnight UTC",
        |queue, _| queue.completed as f64,
    ),
    (
        "qless_queue_failures_total",
        MetricKind::Counter,
        "Failures since midnight UTC",
        |queue, _| queue.failures as f64,
    ),
    (
        "qless_queue_retries_total",
        MetricKind::Counter,
        "Locks lost since midnight UTC",
        |queue, _| queue.retries as f64,
    ),
];

fn seconds_since(moment: Option<Moment>, now: Moment) -> f64 {
    moment.map_or(0.0, |moment| now.since(moment).max(0.0))
}

fn queue_metrics(facts: &SystemFacts, choice: &SeriesChoice, now: Moment) -> Vec<MetricFamily> {
    let queues = facts.queues.iter();
    let queues = queues.filter(|queue| choice.includes_queue(&queue.counts.name));
    let queues: Vec<(String, &QueueFacts)> = queues
        .map(|queue| (queue.counts.name.to_string(), queue))
        .collect();
    let mut jobs = MetricFamily::new(
        "qless_queue_jobs",
        MetricKind::Gauge,
        "Jobs of the queue in each state",
    );
    for (name, QueueFacts { counts, .. }) in &queues {
        for (state, count) in counts.counts_by_state() {
            jobs.add_value(&[("queue", name), ("state", state)], count as f64);
        }
    }
    let mut families = vec![jobs];
    for (metric, kind, help, figure) in QUEUE_FIGURES {
        let mut family = MetricFamily::new(metric, kind, help);
        for (name, queue) in &queues {
            family.add_value(&[("queue", name)], figure(queue, now));
        }
        families.push(family);
    }
    let mut waits = MetricFamily::new(
        "qless_queue_wait_seconds",
        MetricKind::Histogram,
        "How long the jobs waited that were popped since midnight UTC",
    );
    let mut runs = MetricFamily::new(
        "qless_queue_run_seconds",
        MetricKind::Histogram,
        "How long the jobs ran that were completed since midnight UTC",
    );
    for (name, queue) in &queues {
        for (family, spread) in [(&mut waits, &queue.wait), (&mut runs, &queue.run)] {
            if let Some(spread) = spread {
                family.add_spread_as_histogram(&[("queue", name)], spread);
            }
        }
    }
    families.extend([waits, runs]);
    families
}

/// The number of failed jobs in each of the largest groups. The rest are one series, `other`.
fn failure_group_metrics(facts: &SystemFacts, choice: &SeriesChoice) -> Vec<MetricFamily> {
    let mut groups: Vec<&GroupWithRecentFailures> = facts.groups.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.jobs));
    let is_other = |group: &GroupWithRecentFailures| group.group.as_bytes() == b"other";
    let (named, rest) = groups.split_at(groups.len().min(choice.max_groups));
    let mut failed = MetricFamily::new(
        "qless_failed_jobs",
        MetricKind::Gauge,
        "Failed jobs of each group; the smallest groups are one, called other",
    );
    for group in named.iter().filter(|group| !is_other(group)) {
        failed.add_value(&[("group", &group.group.to_string())], group.jobs as f64);
    }
    let others = named.iter().filter(|group| is_other(group)).chain(rest);
    let others: u64 = others.map(|group| group.jobs).sum();
    failed.add_value(&[("group", "other")], others as f64);
    let omitted = MetricFamily::with_single_sample(
        "qless_groups_omitted",
        MetricKind::Gauge,
        "Groups of failures beyond the 500 that are read",
        facts.omitted().groups as f64,
    );
    vec![failed, omitted]
}
