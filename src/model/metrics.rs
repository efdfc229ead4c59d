//! Figures for monitoring systems, in the text format of Prometheus (version 0.0.4).

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use super::stats::DurationSpread;

/// The upper bounds of the buckets in a histogram, in seconds. A last bucket, without a bound, has all longer
/// durations.
const BUCKET_BOUNDS: [u64; 12] = [
    1, 5, 10, 30, 60, 300, 600, 1800, 3600, 21_600, 86_400, 604_800,
];

/// The type of the text in a response.
pub(crate) const PROMETHEUS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The meaning of the values of a family.
#[derive(Clone, Copy, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum MetricKind {
    /// A value that goes up and down.
    Gauge,
    /// A count that only grows. A count of the present day restarts at midnight UTC.
    Counter,
    /// For each bound, the number of durations up to that bound.
    Histogram,
}

/// A label and its value.
pub(crate) type Label = (String, String);

/// The samples of one name.
#[derive(Clone, Debug)]
pub(crate) struct MetricFamily {
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    samples: Vec<Sample>,
    /// The label values of each series, to refuse a second series with the same values.
    series: HashSet<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Sample {
    suffix: &'static str,
    labels: Vec<Label>,
    value: f64,
}

impl MetricFamily {
    pub(crate) fn new(name: &'static str, kind: MetricKind, help: &'static str) -> MetricFamily {
        MetricFamily {
            name,
            kind,
            help,
            samples: Vec::new(),
            series: HashSet::new(),
        }
    }

    /// A family with one sample without labels.
    pub(crate) fn with_single_sample(
        name: &'static str,
        kind: MetricKind,
        help: &'static str,
        value: f64,
    ) -> MetricFamily {
        let mut family = MetricFamily::new(name, kind, help);
        family.add_value(&[], value);
        family
    }

    /// A sample with the version of this program and the SHA of its Lua script as labels.
    pub(crate) fn build_info(core: &str) -> MetricFamily {
        let mut info = MetricFamily::new(
            "qless_build_info",
            MetricKind::Gauge,
            "The version of qless and the hash of its core",
        );
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("core", core)];
        info.add_value(&labels, 1.0);
        info
    }

    /// Adds a sample. Leaves out a second sample with equal labels, which two names that are not UTF-8 may get.
    pub(crate) fn add_value(&mut self, labels: &[(&str, &str)], value: f64) {
        if self.insert_series(labels) {
            self.add_sample("", labels, value);
        }
    }

    pub(crate) fn add_spread_as_histogram(
        &mut self,
        labels: &[(&str, &str)],
        spread: &DurationSpread,
    ) {
        if !self.insert_series(labels) {
            return;
        }
        let inside = |bound: u64| {
            let buckets = spread.buckets.iter();
            let inside = buckets.filter(|bucket| bucket.le_s.is_some_and(|le| le <= bound));
            inside
                .map(|bucket| bucket.count)
                .fold(0, u64::saturating_add)
        };
        let counts = spread.buckets.iter().map(|bucket| bucket.count);
        let total = counts.fold(0, u64::saturating_add);
        let mean = spread.mean_s.as_ref().map_or(0.0, |mean| mean.0);
        let sum = mean.max(0.0) * spread.count as f64;
        self.add_histogram_samples(labels, inside, total, sum);
    }

    /// Adds the present counts of a histogram.
    pub(crate) fn add_histogram(&mut self, labels: &[(&str, &str)], histogram: &DurationHistogram) {
        if !self.insert_series(labels) {
            return;
        }
        let counts = histogram.buckets.each_ref();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        let inside = |bound: u64| {
            let inside = BUCKET_BOUNDS.iter().zip(&counts);
            let inside = inside.filter(|(le, _)| **le <= bound);
            inside.map(|(_, count)| count).sum::<u64>()
        };
        let sum = histogram.sum_micros.load(Ordering::Relaxed) as f64 / 1e6;
        self.add_histogram_samples(labels, inside, counts.iter().sum(), sum);
    }

    /// Adds the samples of a histogram. `count_up_to` is the number of durations that are at most as long as a bound.
    fn add_histogram_samples(
        &mut self,
        labels: &[(&str, &str)],
        count_up_to: impl Fn(u64) -> u64,
        total: u64,
        sum: f64,
    ) {
        for bound in BUCKET_BOUNDS {
            let le = bound.to_string();
            let labels = [labels, &[("le", le.as_str())]].concat();
            self.add_sample("_bucket", &labels, count_up_to(bound) as f64);
        }
        let labels_of_all = [labels, &[("le", "+Inf")]].concat();
        self.add_sample("_bucket", &labels_of_all, total as f64);
        self.add_sample("_sum", labels, sum);
        self.add_sample("_count", labels, total as f64);
    }

    fn insert_series(&mut self, labels: &[(&str, &str)]) -> bool {
        let values = labels.iter().map(|(_, value)| (*value).to_owned());
        self.series.insert(values.collect())
    }

    fn add_sample(&mut self, suffix: &'static str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter();
        let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.samples.push(Sample {
            suffix,
            labels: labels.collect(),
            value,
        });
    }
}

/// A histogram of durations. Threads can read it while another thread adds durations.
#[derive(Debug, Default)]
pub(crate) struct DurationHistogram {
    /// One count for each bound of a bucket, and a last one for longer durations.
    buckets: [AtomicU64; BUCKET_BOUNDS.len() + 1],
    sum_micros: AtomicU64,
}

impl DurationHistogram {
    pub(crate) fn count_duration(&self, seconds: f64) {
        let bucket = BUCKET_BOUNDS.partition_point(|bound| (*bound as f64) < seconds);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = (seconds * 1e6) as u64;
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }
}

/// The families in the text format of Prometheus. Each sample also gets the labels `further`. A family without samples
/// is left out.
pub(crate) fn prometheus_text(families: &[MetricFamily], further: &[Label]) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        let MetricFamily {
            name, kind, help, ..
        } = family;
        let kind: &str = kind.into();
        writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a String takes all");
        for Sample {
            suffix,
            labels,
            value,
        } in &family.samples
        {
            let labels = labels.iter().chain(further);
            let labels =
                labels.map(|(name, value)| format!("{name}=\"{}\"", escape_label_value(value)));
            let labels: Vec<String> = labels.collect();
            let labels = match labels.as_slice() {
                [] => String::new(),
                labels => format!("{{{}}}", labels.join(",")),
            };
            writeln!(text, "{name}{suffix}{labels} {value}").expect("a String takes all");
        }
    }
    text
}

/// Escapes the backslashes, quotes and newlines in a label value.
fn escape_label_value(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
