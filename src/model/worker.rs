//! Workers that have popped recently, and the jobs that they hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::worker_name::WorkerProcess;
use crate::clock::moment::Moment;
use crate::lenient;
use crate::name::Name;
use crate::text::format_duration;
use crate::view::document::DocumentKind;
use crate::view::list::Row;
use crate::view::table::{Cell, Column, Heading, column_headings};
use crate::view::{RenderOptions, View, list};

/// A worker's counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Worker {
    /// The worker
    pub name: Name,
    /// Jobs that it runs
    pub running: u64,
    /// Jobs whose lock it lost
    pub stalled: u64,
    /// The worker's last pop or heartbeat
    #[serde(
        rename(deserialize = "seen"),
        deserialize_with = "lenient::read_or_none"
    )]
    pub last_seen: Option<Moment>,
    #[serde(flatten, skip_deserializing)]
    pub process: WorkerProcess,
    /// Whether the worker was seen within `max-worker-age`, a day by default. The index keeps older workers, too.
    #[serde(skip_serializing)]
    pub recent: bool,
    /// When the last of the worker's locks expires. `None` if it holds none or was seen within a minute.
    #[serde(skip_serializing, deserialize_with = "lenient::read_or_none")]
    pub locked_until: Option<Moment>,
}

/// A worker's jobs: those it runs, and those whose locks it lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WorkerJobs {
    /// The worker
    pub name: Name,
    /// The worker's last pop or heartbeat
    pub last_seen: Option<Moment>,
    /// Jids of the jobs that it runs
    pub jobs: Vec<Name>,
    /// Jids of the jobs whose lock it lost
    pub stalled: Vec<Name>,
    /// The existing jobs of `stalled` and `jobs`, the stalled ones first.
    #[serde(skip)]
    pub details: Vec<Job>,
    /// The number of its jobs that were not read, because there are too many for a page.
    #[serde(skip)]
    pub omitted_jobs: u64,
}

/// A worker that runs no job is shown as silent after this number of seconds.
pub(crate) const SILENT_AFTER: f64 = 120.0;

/// How long a worker last seen at `last_seen` has been silent: `silent for 4h`. `None` up to [`SILENT_AFTER`].
pub(crate) fn silence_text(last_seen: Option<Moment>, now: Moment) -> Option<String> {
    let silence = now.since(last_seen?);
    (silence > SILENT_AFTER).then(|| format!("silent for {}", format_duration(silence)))
}

/// Sorts workers that need attention first, by their [urgency](Worker::urgency_sort_key), then by name.
pub(crate) fn sort_urgent_first(workers: &mut [&Worker], now: Moment) {
    workers.sort_unstable_by(|one, other| {
        let urgency = other.urgency_sort_key(now).cmp(&one.urgency_sort_key(now));
        urgency.then_with(|| one.name.cmp(&other.name))
    });
}

/// A drawing of a worker's slots: the number of drawn slots in each state. A slot is one job that the worker can run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlotsToDraw {
    /// Slots whose job lost its lock.
    pub lost: u64,
    pub running: u64,
    pub free: u64,
}

impl Worker {
    /// The slots to draw, at most `max`: first the slots of lost jobs, then those of running jobs, then free slots.
    /// The rest is left out.
    pub(crate) fn slots_to_draw_by_state(&self, max: u64) -> SlotsToDraw {
        let lost = self.stalled.min(max);
        let running = self.running.min(max - lost);
        let slots = self.process.slots.unwrap_or(0);
        let free = slots.saturating_sub(self.running + self.stalled);
        SlotsToDraw {
            lost,
            running,
            free: free.min(max - lost - running),
        }
    }

    /// The worker as `HOST-PID` if its name contains both, else its whole name.
    pub(crate) fn host_and_pid_or_name(&self) -> String {
        self.process.host_and_pid_or_name(&self.name)
    }

    /// How long the worker has been silent, in seconds, if it is overdue: it runs a job, and its silence is longer than
    /// [`SILENT_AFTER`] and than the time until its last lock expires. A live worker extends its locks earlier.
    pub(crate) fn silence_if_overdue(&self, now: Moment) -> Option<f64> {
        let silence = now.since(self.last_seen?);
        let left = self.locked_until?.since(now);
        (self.running > 0 && silence > SILENT_AFTER && silence > left).then_some(silence)
    }

    /// A sort key for how urgently the worker needs attention: the number of jobs whose lock it lost, then whether it
    /// is [overdue](Worker::silence_if_overdue).
    pub(crate) fn urgency_sort_key(&self, now: Moment) -> (u64, bool) {
        (self.stalled, self.silence_if_overdue(now).is_some())
    }

    /// Whether the worker is shown as silent: an idle worker after [`SILENT_AFTER`], one with jobs when it is
    /// [overdue](Worker::silence_if_overdue).
    pub(crate) fn is_silent(&self, now: Moment) -> bool {
        !self.is_busy_or_recent(now) || self.silence_if_overdue(now).is_some()
    }

    /// Whether the worker runs a job or was seen in the last [`SILENT_AFTER`] seconds.
    pub(crate) fn is_busy_or_recent(&self, now: Moment) -> bool {
        let seen = self.last_seen.map(|seen| now.since(seen));
        self.running > 0 || seen.is_some_and(|silence| silence <= SILENT_AFTER)
    }
}

impl Row for Worker {
    const LIST: DocumentKind = DocumentKind::of_list::<Worker>("workers", "Workers: workers");

    const COLUMNS: &'static [Column<Worker>] = &[
        Column::of_names("WORKER", |worker| &worker.name),
        Column::of_counts("RUNNING", |worker: &Worker| worker.running).drop_rank(1),
        Column::of_counts("STALLED", |worker: &Worker| worker.stalled)
            .drop_rank(2)
            .warn_if_not_zero(),
        Column::of_text("LAST SEEN", |worker: &Worker, options| {
            Cell::moment(worker.last_seen, options)
        })
        .drop_rank(3),
        Column::of_text("HOST", |worker: &Worker, _| {
            Cell::text_or_missing(worker.process.host.as_ref())
        })
        .drop_rank(5)
        .only_if_filled(),
        Column::of_numbers("PID", |worker: &Worker, _| {
            Cell::value_or_missing(worker.process.pid)
        })
        .drop_rank(6)
        .only_if_filled(),
        Column::of_numbers("SLOTS", |worker: &Worker, _| {
            Cell::value_or_missing(worker.process.slots)
        })
        .drop_rank(4)
        .only_if_filled(),
        Column::of_text("VERSION", |worker: &Worker, _| {
            Cell::text_or_missing(worker.process.version.as_ref())
        })
        .drop_rank(7)
        .only_if_filled(),
    ];
}

impl View for WorkerJobs {
    const DOCUMENT: DocumentKind =
        DocumentKind::new::<WorkerJobs>("worker", "A worker's jobs: workers NAME");

    fn headings() -> Vec<Heading> {
        column_headings(Job::COLUMNS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        list::draw_table(&self.details, options)
    }

    fn output_jids(&self) -> Option<Vec<&Name>> {
        Some(self.stalled.iter().chain(&self.jobs).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_lost_and_running_jobs_before_free_slots() {
        let drawn = |running, stalled, slots, max| {
            let mut worker = Worker {
                running,
                stalled,
                ..Worker::default()
            };
            worker.process.slots = slots;
            let SlotsToDraw {
                lost,
                running,
                free,
            } = worker.slots_to_draw_by_state(max);
            [lost, running, free]
        };
        assert_eq!(drawn(2, 1, Some(4), 10), [1, 2, 1]);
        assert_eq!(drawn(8, 0, Some(24), 10), [0, 8, 2]);
        assert_eq!(drawn(30, 7, Some(24), 10), [7, 3, 0]);
        assert_eq!(drawn(2, 0, None, 10), [0, 2, 0]);
    }
}
