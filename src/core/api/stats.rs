//! Reading the statistics of days.

use crate::clock::moment::Moment;
use crate::core::call::reply::Bytes;
use crate::core::call::{Call, Core, calls, reply};
use crate::error::Error;
use crate::json::{Json, Number};
use crate::model::stats::{DurationSpread, Histogram, QueueDayStats};
use crate::name::Name;

/// The number of calls in one round trip.
const CALLS_PER_ROUND: usize = 500;

impl Core {
    /// The statistics of each queue on each day. A day is given by its name and its first moment.
    pub fn stats(
        &mut self,
        now: Moment,
        queues: &[Name],
        days: &[(String, Moment)],
    ) -> Result<Vec<QueueDayStats>, Error> {
        let requests: Vec<(&Name, &(String, Moment))> = queues
            .iter()
            .flat_map(|queue| days.iter().map(move |day| (queue, day)))
            .collect();
        let call = |(queue, (_, of)): &(&Name, &(String, Moment))| {
            Call::new(calls::STATS).arg(queue).arg(of.to_string())
        };
        let calls = requests.iter().map(call);
        let replies: Vec<Bytes> = self.call_in_rounds(now, calls, CALLS_PER_ROUND)?;
        let read = |((queue, (day, of)), reply): ((&Name, &(String, Moment)), Bytes)| {
            let mut stats = QueueDayStats {
                queue: queue.clone(),
                day: day.clone(),
                ..QueueDayStats::default()
            };
            let fields = reply::read_json_object(calls::STATS.name, &reply)?;
            fill_stats_from_json(&mut stats, fields);
            stats.set_completed_per_hour((now.since(*of) / 3600.0).clamp(0.0, 24.0));
            Ok(stats)
        };
        requests.into_iter().zip(replies).map(read).collect()
    }
}

fn fill_stats_from_json(stats: &mut QueueDayStats, fields: Vec<(Name, Json)>) {
    for (field, value) in fields {
        match field.as_bytes() {
            b"retries" => stats.retries = count_from_json(&value),
            b"failed" => stats.failed = count_from_json(&value),
            b"failures" => stats.failures = count_from_json(&value),
            b"wait" => stats.wait = spread_from_json(&value),
            b"run" => stats.run = spread_from_json(&value),
            _ => {}
        }
    }
    stats.completed = stats.run.count;
}

fn count_from_json(value: &Json) -> u64 {
    value.number().map_or(0, |count| count as u64)
}

fn spread_from_json(value: &Json) -> DurationSpread {
    let (mut jobs, mut mean, mut std, mut buckets) = (0, None, None, Vec::new());
    for (field, value) in value.object().unwrap_or_default() {
        match field.as_bytes() {
            b"count" => jobs = count_from_json(&value),
            b"mean" => mean = value.number(),
            b"std" => std = value.number(),
            b"histogram" => {
                buckets = value
                    .array()
                    .unwrap_or_default()
                    .iter()
                    .map(count_from_json)
                    .collect()
            }
            _ => {}
        }
    }
    let histogram = Histogram::from_buckets_adding_outliers(&buckets, jobs, mean.unwrap_or(0.0));
    DurationSpread::from_histogram(jobs, mean.map(Number), std.map(Number), histogram)
}
