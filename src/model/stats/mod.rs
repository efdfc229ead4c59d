//! Statistics of a queue for a day: counts, and how long jobs waited and ran.

pub(crate) mod text;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use strum::IntoStaticStr;

use super::list::List;
use crate::json::Number;
use crate::name::Name;

/// The statistics of a queue for one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct QueueDayStats {
    /// The queue
    pub queue: Name,
    /// The day, in UTC
    pub day: String,
    /// Jobs completed
    pub completed: u64,
    /// Failures
    pub failures: u64,
    /// Jobs that failed on this day and are still failed
    pub failed: u64,
    /// Locks lost
    pub retries: u64,
    /// How long jobs waited
    pub wait: DurationSpread,
    /// How long jobs ran
    pub run: DurationSpread,
    /// Jobs completed per hour of the day so far
    pub completed_per_hour: Number,
    /// The change of `completed_per_hour` since the day before: 0.1 is a tenth more; null without `--days`, or if
    /// nothing was completed then
    pub change: Option<Number>,
}

impl QueueDayStats {
    pub fn spread_of(&self, measure: MeasuredDuration) -> &DurationSpread {
        match measure {
            MeasuredDuration::Wait => &self.wait,
            MeasuredDuration::Run => &self.run,
        }
    }

    /// Sets `completed_per_hour`. `hours`: the part of the day that has passed.
    pub fn set_completed_per_hour(&mut self, hours: f64) {
        let rate = if hours > 0.0 {
            self.completed as f64 / hours
        } else {
            0.0
        };
        self.completed_per_hour = round_to_thousandths(rate);
    }

    /// Sets `change` since an earlier day: `None` if no job was completed on that day.
    pub fn set_change_since(&mut self, earlier: &QueueDayStats) {
        let (now, then) = (self.completed_per_hour.0, earlier.completed_per_hour.0);
        self.change = (then > 0.0).then(|| round_to_thousandths(now / then - 1.0));
    }
}

fn round_to_thousandths(number: f64) -> Number {
    Number((number * 1000.0).round() / 1000.0)
}

/// The durations that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum MeasuredDuration {
    /// How long jobs waited
    Wait,
    /// How long jobs ran
    Run,
}

/// The statistics of queues on one day, and of which duration to show a histogram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StatsOfQueuesOnDay {
    #[serde(flatten)]
    pub list: List<QueueDayStats>,
    #[serde(skip)]
    pub histogram_of: Option<MeasuredDuration>,
}

/// The statistics of queues on several days, a line for each queue and day.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct StatsOfQueuesByDay(pub List<QueueDayStats>);

/// The distribution of a duration over many jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DurationSpread {
    /// How many jobs
    pub count: u64,
    /// The mean of the durations
    pub mean_s: Option<Number>,
    /// The standard deviation of the durations
    pub std_s: Option<Number>,
    /// The range of the median; 0 to 0 without jobs
    pub p50: BucketRange,
    /// The range of the 90th percentile
    pub p90: BucketRange,
    /// The range of the 95th percentile
    pub p95: BucketRange,
    /// The range of the 99th percentile
    pub p99: BucketRange,
    /// The range of the longest
    pub max: BucketRange,
    /// The histogram, without empty buckets
    pub buckets: Vec<HistogramBucket>,
}

impl DurationSpread {
    pub fn from_histogram(
        count: u64,
        mean_s: Option<Number>,
        std_s: Option<Number>,
        histogram: Histogram,
    ) -> DurationSpread {
        DurationSpread {
            count,
            mean_s,
            std_s,
            p50: histogram.percentile(50),
            p90: histogram.percentile(90),
            p95: histogram.percentile(95),
            p99: histogram.percentile(99),
            max: histogram.percentile(100),
            buckets: histogram.non_empty_buckets(),
        }
    }
}

/// Reads the stored hash with the durations of a day: a flat list of fields and values. `None` if the reply lacks it.
pub(crate) fn read_stored_spread<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DurationSpread>, D::Error> {
    let Some(fields) = Option::<Vec<Name>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let (mut count, mut mean, mut square, mut buckets) = (0, 0.0, 0.0, [0; BUCKETS]);
    for pair in fields.chunks_exact(2) {
        let [name, value] = [&pair[0], &pair[1]].map(|text| text.to_string());
        let number = value
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let number = number.unwrap_or(0.0);
        match name.as_str() {
            "total" => count = number as u64,
            "mean" => mean = number,
            "vk" => square = number.max(0.0),
            _ => {
                if let Some(bucket) = bucket_of_field(&name) {
                    buckets[bucket] = number as u64;
                }
            }
        }
    }
    let deviation = match count {
        0 | 1 => 0.0,
        count => (square / (count - 1) as f64).sqrt(),
    };
    let histogram = Histogram::from_buckets_adding_outliers(&buckets, count, mean);
    let (mean, deviation) = (Number(mean), Number(deviation));
    Ok(Some(DurationSpread::from_histogram(
        count,
        Some(mean),
        Some(deviation),
        histogram,
    )))
}

/// The position of the bucket that a stored field counts: `s0` to `s59`, `m1` to `m59`, `h1` to `h23`, `d1` to `d6`.
fn bucket_of_field(name: &str) -> Option<usize> {
    let (unit, digits) = name.split_at_checked(1)?;
    let n: usize = digits.parse().ok()?;
    match (unit, n) {
        ("s", 0..60) => Some(n),
        ("m", 1..60) => Some(59 + n),
        ("h", 1..24) => Some(118 + n),
        ("d", 1..7) => Some(141 + n),
        _ => None,
    }
}

/// The range of a value. Beyond the last bucket there is no upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BucketRange {
    /// At least this long
    pub lo_s: u64,
    /// At most this long; null beyond the last bucket
    pub hi_s: Option<u64>,
}

impl BucketRange {
    /// The range of a distribution without jobs.
    pub const NONE: BucketRange = BucketRange {
        lo_s: 0,
        hi_s: Some(0),
    };
}

impl Default for BucketRange {
    fn default() -> BucketRange {
        BucketRange::NONE
    }
}

/// A bucket of a histogram: the jobs that took at most `le_s`, and longer than the bound of the bucket before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HistogramBucket {
    /// At most this long; null beyond the last bucket
    pub le_s: Option<u64>,
    /// How many jobs the bucket has, without the jobs of shorter buckets
    pub count: u64,
}

/// The core's histogram of the durations of a day. A bucket spans a second below a minute, a minute below an hour, an
/// hour below a day, and a day below a week. One further bucket has all longer durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    buckets: [u64; BUCKETS + 1],
}

const BUCKETS: usize = 148;
const WEEK: u64 = 7 * 86400;

impl Histogram {
    /// Completes the core's buckets. `count` also has the jobs in no bucket: durations of a week or more, and negative
    /// ones, which occur if clocks disagree. The mean limits how many can be long. These go to the last bucket, the
    /// rest to the first.
    pub fn from_buckets_adding_outliers(buckets: &[u64], count: u64, mean: f64) -> Histogram {
        let mut all = [0; BUCKETS + 1];
        for (bucket, count) in all[..BUCKETS].iter_mut().zip(buckets) {
            *bucket = *count;
        }
        let inside = sum_buckets(&all);
        let outside = u64::try_from(u128::from(count).saturating_sub(inside)).unwrap_or(u64::MAX);
        let longest = (mean * count as f64 / WEEK as f64 + 1e-9).floor() as u64;
        all[BUCKETS] = outside.min(longest);
        all[0] = all[0].saturating_add(outside - all[BUCKETS]);
        Histogram { buckets: all }
    }

    /// The range of the bucket that contains a percentile (nearest-rank method).
    pub fn percentile(&self, percent: u32) -> BucketRange {
        let rank = (sum_buckets(&self.buckets) * u128::from(percent)).div_ceil(100);
        let mut counted = 0;
        for (at, &count) in self.buckets.iter().enumerate() {
            counted += u128::from(count);
            if count > 0 && counted >= rank {
                return bucket_range(at);
            }
        }
        BucketRange::NONE
    }

    /// The buckets that are not empty, shortest first.
    fn non_empty_buckets(&self) -> Vec<HistogramBucket> {
        let buckets = self.buckets.iter().enumerate();
        buckets
            .filter(|&(_, &count)| count > 0)
            .map(|(at, &count)| HistogramBucket {
                le_s: bucket_range(at).hi_s,
                count,
            })
            .collect()
    }
}

fn sum_buckets(buckets: &[u64]) -> u128 {
    buckets.iter().copied().map(u128::from).sum()
}

/// The range of a bucket.
fn bucket_range(bucket: usize) -> BucketRange {
    let (unit, n) = match bucket as u64 {
        n @ 0..60 => (1, n),
        n @ 60..119 => (60, n - 59),
        n @ 119..142 => (3600, n - 118),
        n @ 142..148 => (86400, n - 141),
        _ => {
            return BucketRange {
                lo_s: WEEK,
                hi_s: None,
            };
        }
    };
    BucketRange {
        lo_s: n * unit,
        hi_s: Some((n + 1) * unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(filled: &[(usize, u64)]) -> [u64; BUCKETS] {
        let mut buckets = [0; BUCKETS];
        for &(at, count) in filled {
            buckets[at] = count;
        }
        buckets
    }

    fn histogram(filled: &[(usize, u64)]) -> Histogram {
        Histogram::from_buckets_adding_outliers(&buckets(filled), 0, 0.0)
    }

    fn between(lo_s: u64, hi_s: u64) -> BucketRange {
        BucketRange {
            lo_s,
            hi_s: Some(hi_s),
        }
    }

    const BEYOND: BucketRange = BucketRange {
        lo_s: WEEK,
        hi_s: None,
    };

    #[test]
    fn buckets_follow_one_another_without_a_gap() {
        let mut end = 0;
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_range(bucket).lo_s, end, "{bucket}");
            end = bucket_range(bucket).hi_s.unwrap();
        }
        assert_eq!(bucket_range(BUCKETS), BEYOND);
        assert_eq!(end, WEEK);
    }

    #[test]
    fn without_jobs_all_percentiles_are_zero() {
        for percent in [50, 99, 100] {
            assert_eq!(histogram(&[]).percentile(percent), BucketRange::NONE);
        }
        assert_eq!(histogram(&[]).non_empty_buckets(), []);
    }

    #[test]
    fn one_job_is_at_every_percentile() {
        for percent in [1, 50, 95, 99, 100] {
            assert_eq!(histogram(&[(23, 1)]).percentile(percent), between(23, 24));
        }
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let tens = histogram(&[(0, 50), (1, 40), (60, 5), (119, 4), (142, 1)]);
        for (percent, bound) in [
            (50, between(0, 1)),
            (51, between(1, 2)),
            (90, between(1, 2)),
            (91, between(60, 120)),
            (95, between(60, 120)),
            (99, between(3600, 7200)),
            (100, between(86400, 172_800)),
        ] {
            assert_eq!(tens.percentile(percent), bound, "{percent}");
        }
        let two = histogram(&[(2, 1), (9, 1)]);
        assert_eq!(two.percentile(50), between(2, 3));
        assert_eq!(two.percentile(90), between(9, 10));
    }

    #[test]
    fn durations_of_a_week_are_beyond_the_last_bucket() {
        let week = WEEK as f64;
        let histogram = Histogram::from_buckets_adding_outliers(
            &buckets(&[(3, 9)]),
            10,
            (9.0 * 3.5 + week) / 10.0,
        );
        assert_eq!(histogram.percentile(90), between(3, 4));
        assert_eq!(histogram.percentile(95), BEYOND);
        let last = HistogramBucket {
            le_s: None,
            count: 1,
        };
        assert_eq!(histogram.non_empty_buckets().last(), Some(&last));
        let all = Histogram::from_buckets_adding_outliers(&buckets(&[]), 3, week);
        assert_eq!(all.percentile(1), BEYOND);
        assert_eq!(
            all.non_empty_buckets(),
            [HistogramBucket { count: 3, ..last }]
        );
    }

    #[test]
    fn negative_durations_count_as_the_shortest() {
        let histogram = Histogram::from_buckets_adding_outliers(&buckets(&[(3, 9)]), 10, 2.9);
        assert_eq!(histogram.percentile(100), between(3, 4));
        assert_eq!(histogram.percentile(1), between(0, 1));
    }

    #[test]
    fn impossible_counts_do_not_overflow() {
        let histogram =
            Histogram::from_buckets_adding_outliers(&[u64::MAX; 200], u64::MAX, f64::NAN);
        assert_eq!(histogram.percentile(100), between(6 * 86400, WEEK));
        let histogram =
            Histogram::from_buckets_adding_outliers(&buckets(&[(0, u64::MAX)]), 1, f64::INFINITY);
        assert_eq!(histogram.percentile(99), between(0, 1));
        Histogram::from_buckets_adding_outliers(&[], u64::MAX, f64::MAX).percentile(99);
        Histogram::from_buckets_adding_outliers(&[], 1, f64::MIN).percentile(99);
    }

    #[test]
    fn rates_count_the_hours_so_far_and_the_change_compares_them() {
        let day = |completed: u64, hours: f64| {
            let mut stats = QueueDayStats {
                completed,
                ..QueueDayStats::default()
            };
            stats.set_completed_per_hour(hours);
            stats
        };
        let (nothing, before, mut today) = (day(0, 24.0), day(240, 24.0), day(30, 2.5));
        today.set_change_since(&before);
        assert_eq!(today.completed_per_hour, Number(12.0));
        assert_eq!(today.change, Some(Number(0.2)));
        today.set_change_since(&nothing);
        assert_eq!(today.change, None);
        assert_eq!(day(5, 0.0).completed_per_hour, Number(0.0));
    }
}
