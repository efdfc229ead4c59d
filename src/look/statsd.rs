//! The state of the system as statsd gauges, with the names that qless-stats uses.

use crate::clock::moment::Moment;
use crate::model::overview::SystemFacts;
use crate::model::stats::{BucketRange, DurationSpread};
use crate::name::Name;

use super::metrics::SeriesChoice;

/// Maximum length of a datagram in bytes, so that it fits into one Ethernet frame.
const MAX_DATAGRAM: usize = 1432;

/// The figures as statsd datagrams. No line is split between two of them.
pub(crate) fn statsd_datagrams(
    facts: &SystemFacts,
    choice: &SeriesChoice,
    namespace: Option<&str>,
    now: Moment,
) -> Vec<String> {
    let mut packed = DatagramBuilder {
        prefix: namespace.map_or_else(String::new, |namespace| format!("{namespace}.")),
        datagrams: Vec::new(),
    };
    let queues = facts.queues.iter();
    for queue in queues.filter(|queue| choice.includes_queue(&queue.counts.name)) {
        let counts = &queue.counts;
        let name = format!("queues.{}", metric_path_part(&counts.name));
        let today = [
            ("completed", queue.completed),
            ("failures", queue.failures),
            ("retries", queue.retries),
        ];
        for (what, count) in counts.counts_by_state().into_iter().chain(today) {
            packed.add_gauge(&format!("{name}.{what}"), count as f64);
        }
        let oldest = queue.since.map_or(0.0, |since| now.since(since).max(0.0));
        packed.add_gauge(&format!("{name}.oldest"), oldest);
        for (what, spread) in [("wait", &queue.wait), ("run", &queue.run)] {
            if let Some(spread) = spread {
                packed.add_spread_as_gauges(&format!("{name}.{what}"), spread);
            }
        }
    }
    let mut groups: Vec<_> = facts.groups.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.jobs));
    for group in groups.iter().take(choice.max_groups) {
        let name = format!("failures.{}", metric_path_part(&group.group));
        packed.add_gauge(&name, group.jobs as f64);
    }
    packed.add_gauge("workers", facts.workers_within_hour as f64);
    packed.datagrams
}

struct DatagramBuilder {
    prefix: String,
    datagrams: Vec<String>,
}

impl DatagramBuilder {
    fn add_gauge(&mut self, name: &str, value: f64) {
        let line = format!("{}{name}:{value}|g", self.prefix);
        match self.datagrams.last_mut() {
            Some(last) if last.len() + 1 + line.len() <= MAX_DATAGRAM => {
                last.push('\n');
                last.push_str(&line);
            }
            _ => self.datagrams.push(line),
        }
    }

    /// Adds the mean, the standard deviation, and the upper bounds of percentiles of durations, in seconds.
    fn add_spread_as_gauges(&mut self, name: &str, spread: &DurationSpread) {
        let stored = [("avg", &spread.mean_s), ("std", &spread.std_s)];
        for (what, value) in stored {
            let value = value.as_ref().map_or(0.0, |value| value.0);
            self.add_gauge(&format!("{name}.{what}"), value);
        }
        for (what, BucketRange { lo_s, hi_s }) in [
            ("p50", spread.p50),
            ("p90", spread.p90),
            ("p95", spread.p95),
            ("p99", spread.p99),
        ] {
            self.add_gauge(&format!("{name}.{what}"), hi_s.unwrap_or(lo_s) as f64);
        }
    }
}

/// A name as one part of a metric's path. Characters other than letters, digits, `-` and `_` become `_`, because some
/// of them separate parts, values or lines.
fn metric_path_part(name: &Name) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let text = name.to_string();
    text.chars()
        .map(|c| if keeps(c) { c } else { '_' })
        .collect()
}
