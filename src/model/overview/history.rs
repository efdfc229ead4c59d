//! The rates at which jobs are put, completed and fail. A process that watches the queues computes them from successive
//! snapshots.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PutAndCompletedRates, QueueFacts, SystemFacts};
use crate::clock::moment::{Moment, SECONDS_PER_DAY};
use crate::model::queue::RoundedSeconds;
use crate::name::{Name, lossless_text};

/// How many minutes are kept: a day.
const KEPT: u64 = 24 * 60;

/// The present rates are averages over this time, in seconds.
const RATE_WINDOW_SECONDS: f64 = 60.0;

/// If two snapshots are further apart than this number of intervals, the time between them counts as unwatched.
const FEW_INTERVALS: f64 = 4.0;

/// The longest interval between two requests of a monitoring system, in seconds.
const LONGEST_SCRAPE_INTERVAL: f64 = 300.0;

/// The minutes of a chart of flow.
const FLOW_MINUTES: u64 = 60;

/// The number of time slots in a chart of failures.
const FAILURE_SLOTS: u64 = 12;

/// The length of such a slot, in minutes.
const SLOT_MINUTES: u64 = 10;

/// The numbers of jobs put, completed and failed in each minute of the last day, from snapshots at any interval.
///
/// The jobs counted between two snapshots are spread evenly over the time between them. If that time is too long, it
/// counts as unwatched, and these jobs are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct JobRateHistory {
    /// The number of seconds of each minute in which the queues were watched.
    watched: MinuteSeries,
    /// Jobs put, by queue.
    put: SeriesByName,
    /// Jobs completed, by queue.
    done: SeriesByName,
    /// Jobs failed, by failure group.
    failed: SeriesByName,
    /// The snapshots of the last minute, and the last one before that minute.
    #[serde(skip)]
    snapshots: VecDeque<PastSnapshot>,
}

/// A series for each queue or failure group. The key is the lossless text of its name.
type SeriesByName = HashMap<String, MinuteSeries>;

/// A sum for each minute, oldest first. Minutes count from the epoch. A minute whose sum is 0 has no item.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct MinuteSeries(VecDeque<(u64, f64)>);

/// The counts of an earlier snapshot.
#[derive(Clone, Debug)]
struct PastSnapshot {
    at: Moment,
    /// Whether the snapshot contains all queues and failure groups.
    is_whole: bool,
    queues: HashMap<Name, QueueCounters>,
    /// The number of failed jobs in each failure group.
    groups: HashMap<Name, u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueueCounters {
    /// The day of the counters, counted from the epoch.
    day: u64,
    /// Jobs in state `waiting`.
    waiting: u64,
    /// All jobs in the queue, in any state.
    open: u64,
    /// Jobs completed on this day.
    completed: u64,
    /// Failures on this day.
    failures: u64,
}

/// The counters in the first and in the last snapshot of the last minute.
#[derive(Clone, Copy, Debug)]
struct FirstAndLastCounters {
    first: QueueCounters,
    last: QueueCounters,
    /// The time between both, which is above 0.
    seconds: f64,
}

/// The numbers of jobs that were put and completed between two snapshots.
#[derive(Clone, Copy, Debug)]
struct PutAndCompletedCounts {
    put: f64,
    completed: f64,
}

/// The rates at which jobs are put and completed, per second. A value is `None` for a time that was not watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LastHourRates {
    /// Jobs put per second in each of the last 60 minutes, the oldest first.
    pub put: Vec<Option<f64>>,
    /// Jobs completed per second in each of the last 60 minutes, the oldest first.
    pub done: Vec<Option<f64>>,
    /// Jobs put per second over the last minute.
    pub put_per_s: Option<f64>,
    /// Jobs completed per second over the last minute.
    pub done_per_s: Option<f64>,
    /// The growth of the number of waiting jobs over the last minute, per minute. Negative if it shrinks.
    pub growth_per_min: Option<f64>,
}

impl JobRateHistory {
    /// Adds a snapshot. `usual_interval`: about how often the caller takes one while it watches the queues.
    pub(crate) fn add_snapshot(
        &mut self,
        facts: &SystemFacts,
        now: Moment,
        usual_interval: Duration,
    ) {
        let snapshot = PastSnapshot::new(facts, now);
        let last = self.snapshots.back();
        // The server's clock went back.
        if last.is_some_and(|last| now <= last.at) {
            return;
        }
        let longest = LONGEST_SCRAPE_INTERVAL.max(FEW_INTERVALS * usual_interval.as_secs_f64());
        if let Some(last) = last.filter(|last| now.since(last.at) <= longest) {
            let span = (last.at.seconds(), now.seconds());
            self.watched.spread_count(now.since(last.at), span);
            for (name, counters) in &snapshot.queues {
                let Some(before) = earlier_count(&last.queues, name, last.is_whole) else {
                    continue;
                };
                let flow = counters.flow_since(before);
                add_to_series(&mut self.put, name, flow.put, span);
                add_to_series(&mut self.done, name, flow.completed, span);
            }
            for (name, jobs) in &snapshot.groups {
                if let Some(before) = earlier_count(&last.groups, name, last.is_whole) {
                    let failed = jobs.saturating_sub(before);
                    add_to_series(&mut self.failed, name, failed as f64, span);
                }
            }
        }
        self.forget_before(minute_of(now.seconds()).saturating_sub(KEPT));
        self.snapshots.push_back(snapshot);
        let is_old = |snapshot: &PastSnapshot| now.since(snapshot.at) > RATE_WINDOW_SECONDS;
        while self.snapshots.len() > 2 && self.snapshots.get(1).is_some_and(is_old) {
            self.snapshots.pop_front();
        }
    }

    fn forget_before(&mut self, minute: u64) {
        self.watched.forget_before(minute);
        for all in [&mut self.put, &mut self.done, &mut self.failed] {
            all.retain(|_, series| {
                series.forget_before(minute);
                !series.0.is_empty()
            });
        }
    }

    /// The oldest watched minute that is kept, at most a day ago.
    pub(crate) fn oldest_watched_minute(&self) -> Option<Moment> {
        match self.watched.0.front() {
            Some((minute, _)) => Moment::from_seconds(*minute as f64 * 60.0),
            None => self.snapshots.front().map(|snapshot| snapshot.at),
        }
    }

    pub(crate) fn rates_of_queue(&self, queue: &Name) -> LastHourRates {
        let ends = self.ends_of_last_minute(|snapshot| snapshot.queues.get(queue).copied());
        let name = &*lossless_text(queue.as_bytes());
        self.make_job_rates(self.put.get(name), self.done.get(name), ends)
    }

    /// The flow through all queues.
    pub(crate) fn rates_of_all_queues(&self) -> LastHourRates {
        let sum = |all: &SeriesByName| {
            let mut sum = MinuteSeries::default();
            for (minute, count) in all.values().flat_map(|series| &series.0) {
                sum.add_to_minute(*minute, *count);
            }
            sum
        };
        let ends = self.ends_of_last_minute(|snapshot| Some(snapshot.total_counters()));
        self.make_job_rates(Some(&sum(&self.put)), Some(&sum(&self.done)), ends)
    }

    /// The rates of all queues over the last minute. `None` if fewer than two snapshots were taken in that minute.
    pub(crate) fn last_minute_rates(&self) -> Option<PutAndCompletedRates> {
        let ends = self.ends_of_last_minute(|snapshot| Some(snapshot.total_counters()))?;
        let flow = ends.last.flow_since(ends.first);
        Some(PutAndCompletedRates {
            seconds: RoundedSeconds(ends.seconds),
            put_per_s: RoundedSeconds(flow.put / ends.seconds),
            completed_per_s: RoundedSeconds(flow.completed / ends.seconds),
        })
    }

    /// The number of failures of a group in each ten minutes of the last two hours, the oldest first. `None` for ten
    /// minutes that were not watched.
    pub(crate) fn failures_per_ten_minutes(&self, group: &Name) -> Vec<Option<f64>> {
        let Some(last) = self.newest_minute() else {
            return vec![None; FAILURE_SLOTS as usize];
        };
        let series = self.failed.get(&*lossless_text(group.as_bytes()));
        let slots = (0..FAILURE_SLOTS).rev().map(|ago| {
            let end = last.saturating_sub(ago * SLOT_MINUTES);
            let slot = end.saturating_sub(SLOT_MINUTES - 1)..=end;
            let watched = self.watched.sum_of_minutes(slot.clone());
            let failed = series.map(|series| series.sum_of_minutes(slot));
            (watched > 0.0).then(|| failed.unwrap_or(0.0))
        });
        slots.collect()
    }

    fn make_job_rates(
        &self,
        put: Option<&MinuteSeries>,
        done: Option<&MinuteSeries>,
        ends: Option<FirstAndLastCounters>,
    ) -> LastHourRates {
        let rates = |series: Option<&MinuteSeries>| {
            let last = self.newest_minute().unwrap_or_default();
            let minutes = last.saturating_sub(FLOW_MINUTES - 1)..=last;
            let rate = |minute: u64| {
                let watched = self.watched.count_of_minute(minute);
                let count = series.map_or(0.0, |series| series.count_of_minute(minute));
                (watched > 0.0).then(|| count / watched)
            };
            minutes.map(rate).collect()
        };
        let flow = ends.map(|ends| (ends.last.flow_since(ends.first), ends.seconds));
        LastHourRates {
            put: rates(put),
            done: rates(done),
            put_per_s: flow.map(|(flow, seconds)| flow.put / seconds),
            done_per_s: flow.map(|(flow, seconds)| flow.completed / seconds),
            growth_per_min: ends.map(|ends| {
                (ends.last.waiting as f64 - ends.first.waiting as f64) / ends.seconds * 60.0
            }),
        }
    }

    /// The counters in the first and in the last snapshot of the last minute. `None` if there is only one snapshot, or
    /// if `counters` finds nothing in one of the two.
    fn ends_of_last_minute(
        &self,
        counters: impl Fn(&PastSnapshot) -> Option<QueueCounters>,
    ) -> Option<FirstAndLastCounters> {
        let last = self.snapshots.back()?;
        let mut snapshots = self.snapshots.iter();
        let first = snapshots.find(|snapshot| last.at.since(snapshot.at) <= RATE_WINDOW_SECONDS)?;
        let seconds = last.at.since(first.at);
        let (first, last) = (counters(first)?, counters(last)?);
        (seconds > 0.0).then_some(FirstAndLastCounters {
            first,
            last,
            seconds,
        })
    }

    fn newest_minute(&self) -> Option<u64> {
        self.snapshots
            .back()
            .map(|snapshot| minute_of(snapshot.at.seconds()))
    }
}

impl PastSnapshot {
    fn new(facts: &SystemFacts, now: Moment) -> PastSnapshot {
        let day = (now.seconds() / SECONDS_PER_DAY) as u64;
        let queue =
            |queue: &QueueFacts| (queue.counts.name.clone(), QueueCounters::new(queue, day));
        let groups = facts.groups.iter();
        let omitted = facts.omitted();
        PastSnapshot {
            at: now,
            is_whole: omitted.queues + omitted.groups == 0,
            queues: facts.queues.iter().map(queue).collect(),
            groups: groups
                .map(|group| (group.group.clone(), group.jobs))
                .collect(),
        }
    }

    fn total_counters(&self) -> QueueCounters {
        let mut total = QueueCounters::default();
        for queue in self.queues.values() {
            total.day = queue.day;
            total.waiting += queue.waiting;
            total.open += queue.open;
            // Statistics may hold any number.
            total.completed = total.completed.saturating_add(queue.completed);
            total.failures = total.failures.saturating_add(queue.failures);
        }
        total
    }
}

impl QueueCounters {
    fn new(facts: &QueueFacts, day: u64) -> QueueCounters {
        let queue = &facts.counts;
        let held = queue.scheduled + queue.depends + queue.throttled;
        QueueCounters {
            day,
            waiting: queue.waiting,
            open: queue.waiting + queue.running + queue.stalled + held,
            completed: facts.completed,
            failures: facts.failures,
        }
    }

    /// The jobs put and completed since an earlier snapshot. Puts follow from the change of the number of jobs in the
    /// queue, so each cancelled or moved job lowers their number by one.
    fn flow_since(self, before: QueueCounters) -> PutAndCompletedCounts {
        // The counters restart at 0 at midnight, or if a client deletes them.
        let is_same_day = self.day == before.day;
        let since = |now: u64, before: u64| match now.checked_sub(before) {
            Some(more) if is_same_day => more as f64,
            _ => now as f64,
        };
        let completed = since(self.completed, before.completed);
        let left = completed + since(self.failures, before.failures);
        let put = self.open as f64 - before.open as f64 + left;
        PutAndCompletedCounts {
            put: put.max(0.0),
            completed,
        }
    }
}

impl MinuteSeries {
    /// Spreads a count evenly over the minutes between two times, in seconds since the epoch.
    fn spread_count(&mut self, count: f64, (from, to): (f64, f64)) {
        let first = minute_of(from).max(minute_of(to).saturating_sub(KEPT));
        for minute in first..=minute_of(to) {
            let begin = (minute as f64 * 60.0).max(from);
            let end = ((minute + 1) as f64 * 60.0).min(to);
            self.add_to_minute(minute, count * (end - begin) / (to - from));
        }
    }

    fn add_to_minute(&mut self, minute: u64, count: f64) {
        if count <= 0.0 {
            return;
        }
        match self.0.binary_search_by_key(&minute, |(minute, _)| *minute) {
            Ok(at) => self.0[at].1 += count,
            Err(at) => self.0.insert(at, (minute, count)),
        }
    }

    fn count_of_minute(&self, minute: u64) -> f64 {
        let at = self.0.binary_search_by_key(&minute, |(minute, _)| *minute);
        at.map_or(0.0, |at| self.0[at].1)
    }

    fn sum_of_minutes(&self, minutes: std::ops::RangeInclusive<u64>) -> f64 {
        let inside = self.0.iter().filter(|(minute, _)| minutes.contains(minute));
        inside.map(|(_, count)| count).sum()
    }

    fn forget_before(&mut self, minute: u64) {
        while self.0.front().is_some_and(|(first, _)| *first < minute) {
            self.0.pop_front();
        }
    }
}

fn add_to_series(all: &mut SeriesByName, name: &Name, count: f64, span: (f64, f64)) {
    if count > 0.0 {
        let name = lossless_text(name.as_bytes()).into_owned();
        all.entry(name).or_default().spread_count(count, span);
    }
}

/// The count of a name in an earlier snapshot. A missing name has count 0 if the snapshot was complete, else `None`.
fn earlier_count<T: Copy + Default>(
    before: &HashMap<Name, T>,
    name: &Name,
    was_complete: bool,
) -> Option<T> {
    let found = before.get(name).copied();
    found.or_else(|| was_complete.then(T::default))
}

fn minute_of(seconds: f64) -> u64 {
    (seconds / 60.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::overview::GroupWithRecentFailures;
    use crate::model::queue::Queue;

    /// A minute's first second.
    const START: f64 = 1_800_000_000.0;

    fn snapshot(waiting: u64, completed: u64, failed: u64) -> SystemFacts {
        let counts = Queue {
            name: Name::from("mail"),
            waiting,
            ..Queue::default()
        };
        SystemFacts {
            queue_count: 1,
            group_count: 1,
            queues: vec![QueueFacts {
                counts,
                completed,
                failures: failed,
                ..QueueFacts::default()
            }],
            groups: vec![GroupWithRecentFailures {
                group: Name::from("timeout"),
                jobs: failed,
                ..GroupWithRecentFailures::default()
            }],
            ..SystemFacts::default()
        }
    }

    fn watch(snapshots: &[(f64, SystemFacts)]) -> JobRateHistory {
        let mut history = JobRateHistory::default();
        for (at, facts) in snapshots {
            let now = Moment::from_seconds(START + at).unwrap();
            history.add_snapshot(facts, now, Duration::from_secs(2));
        }
        history
    }

    #[test]
    fn what_was_counted_between_looks_is_spread_over_the_minutes_between_them() {
        let history = watch(&[
            (30.0, snapshot(100, 0, 0)),
            (60.0, snapshot(70, 60, 0)),
            (180.0, snapshot(70, 180, 60)),
        ]);
        let flow = history.rates_of_queue(&Name::from("mail"));
        let (put, done) = (&flow.put[55..], &flow.done[55..]);
        assert_eq!(put, [None, Some(1.0), Some(1.5), Some(1.5), None]);
        assert_eq!(done, [None, Some(2.0), Some(1.0), Some(1.0), None]);
        assert_eq!(flow, history.rates_of_all_queues());
        let failures = history.failures_per_ten_minutes(&Name::from("timeout"));
        assert_eq!(failures[10..], [None, Some(60.0)]);
        assert_eq!(history.oldest_watched_minute().unwrap().seconds(), START);
    }

    #[test]
    fn rates_of_now_are_those_of_the_last_minute() {
        let mut snapshots: Vec<_> = (0u32..100)
            .map(|tick| {
                let tick = u64::from(tick);
                (tick as f64 * 2.0, snapshot(100 + tick * 2, tick * 4, 0))
            })
            .collect();
        let flow = watch(&snapshots).rates_of_queue(&Name::from("mail"));
        assert_eq!(flow.done_per_s, Some(2.0));
        assert_eq!(flow.put_per_s, Some(3.0));
        assert_eq!(flow.growth_per_min, Some(60.0));
        // Midnight.
        snapshots.push((200.0, snapshot(300, 4, 0)));
        let rates = watch(&snapshots).last_minute_rates().unwrap();
        assert!(rates.completed_per_s.0 < 0.1, "{rates:?}");
        assert_eq!(watch(&snapshots[..1]).last_minute_rates(), None);
    }

    #[test]
    fn nobody_watched_between_looks_that_are_hours_apart() {
        let snapshots = [
            (0.0, snapshot(0, 0, 0)),
            (60.0, snapshot(0, 60, 0)),
            (10_000.0, snapshot(0, 9000, 500)),
            (10_020.0, snapshot(0, 9040, 500)),
        ];
        let history = watch(&snapshots);
        let flow = history.rates_of_queue(&Name::from("mail"));
        let watched = flow.done.iter().filter(|rate| rate.is_some());
        assert_eq!(watched.count(), 1);
        assert_eq!(flow.done_per_s, Some(2.0));
        let failures = history.failures_per_ten_minutes(&Name::from("timeout"));
        assert_eq!(failures[9..], [None, None, Some(0.0)]);
        // With an interval of an hour, somebody did.
        let mut history = JobRateHistory::default();
        for (at, facts) in &snapshots {
            let now = Moment::from_seconds(START + at).unwrap();
            history.add_snapshot(facts, now, Duration::from_secs(3600));
        }
        let failures = history.failures_per_ten_minutes(&Name::from("timeout"));
        assert!(failures.iter().all(Option::is_some), "{failures:?}");
    }

    #[test]
    fn the_counters_of_a_day_begin_again_at_midnight() {
        // The first snapshot is at eight.
        let midnight = 16.0 * 3600.0;
        let history = watch(&[
            (midnight - 10.0, snapshot(0, 100, 0)),
            (midnight + 10.0, snapshot(0, 5000, 0)),
        ]);
        assert_eq!(
            history.rates_of_queue(&Name::from("mail")).done_per_s,
            Some(250.0)
        );
        assert_eq!(history.rates_of_all_queues().done_per_s, Some(250.0));
    }

    #[test]
    fn a_day_is_kept_and_survives_a_file() {
        let mut snapshots: Vec<_> = (0u64..60 * 30)
            .map(|minute| (minute as f64 * 60.0, snapshot(0, minute, 0)))
            .collect();
        snapshots.push((60.0 * 60.0 * 30.0 + 1.0, snapshot(0, 1800, 0)));
        let history = watch(&snapshots);
        assert_eq!(history.done["mail"].0.len(), 24 * 60 + 1);
        let text = serde_json::to_string(&history).unwrap();
        let read: JobRateHistory = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read.oldest_watched_minute(),
            history.oldest_watched_minute()
        );
        assert_eq!(read.snapshots.len(), 0);
    }
}
