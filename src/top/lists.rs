//! The tables of the first screen of `qless top`, each as rows of a name and cells.

use super::format::{Cell, Tone, left_aligned, right_aligned, sparkline};
use super::reader::Samples;
use crate::clock::moment::Moment;
use crate::model::job::Job;
use crate::model::overview::history::JobRateHistory;
use crate::model::overview::{GroupWithRecentFailures, QueueFacts, SystemFacts};
use crate::model::worker::{Worker, sort_urgent_first};
use crate::name::Name;
use crate::text::{
    format_count, format_duration, format_rough_duration, sanitize_to_line, width,
    with_thousands_separators,
};
use crate::view::RenderOptions;
use crate::view::table::NONE;

/// The tables of the first screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableKind {
    Queues,
    Failed,
    Workers,
}

impl TableKind {
    pub(super) const ALL: [TableKind; 3] =
        [TableKind::Queues, TableKind::Failed, TableKind::Workers];

    /// The names of the columns by which the user can sort the table, the default first.
    pub(super) fn sort_columns(self) -> &'static [&'static str] {
        match self {
            TableKind::Queues => &["name", "wait", "run", "next waits"],
            TableKind::Failed => &["recent", "jobs", "name"],
            TableKind::Workers => &["worst", "last", "name"],
        }
    }
}

/// A row with the name that it is about.
#[derive(Clone, Debug)]
pub(super) struct NamedRow {
    pub name: Name,
    pub cells: Vec<Cell>,
}

/// A table that is ready to be drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct TableRows {
    pub head: Vec<Cell>,
    pub rows: Vec<NamedRow>,
}

/// The width of the column of flow.
const FLOW_WIDTH: usize = 18;

/// The width of the column of slots.
const SLOTS_WIDTH: usize = 10;

fn dim_header_cells(cells: &[Cell]) -> Vec<Cell> {
    let dim = |cell: &Cell| Cell {
        tone: Tone::Dim,
        ..cell.clone()
    };
    cells.iter().map(dim).collect()
}

/// What the rows of a table are made from.
pub(super) struct TableSource<'s> {
    pub facts: &'s SystemFacts,
    pub samples: &'s Samples,
    pub history: &'s JobRateHistory,
    pub now: Moment,
    pub width: usize,
    /// The index in [`TableKind::sort_columns`] of the column that sorts the table.
    pub sort_column: usize,
}

impl TableSource<'_> {
    pub(super) fn rows_of_table(&self, table: TableKind) -> TableRows {
        match table {
            TableKind::Queues => self.queue_rows(),
            TableKind::Failed => self.failed_group_rows(),
            TableKind::Workers => self.worker_rows(),
        }
    }

    fn queue_rows(&self) -> TableRows {
        let mut queues: Vec<&QueueFacts> = self.facts.queues.iter().collect();
        match self.sort_column {
            1 => queues.sort_by_key(|queue| std::cmp::Reverse(queue.counts.waiting)),
            2 => queues.sort_by_key(|queue| std::cmp::Reverse(queue.counts.running)),
            3 => queues
                .sort_by(|one, other| head_wait_seconds(other).total_cmp(&head_wait_seconds(one))),
            _ => {}
        }
        let has_flow = self.width >= 76;
        let name = if has_flow { 10 } else { 14 };
        let has_growth = self.width >= 56;
        let wide = self.width.saturating_sub(80) / 2;
        let cells = |texts: [(String, Tone); 8]| {
            let [queue, waiting, growth, running, stalled, wait, flow, state] = texts;
            let mut cells = vec![
                left_aligned(queue.0, name + wide, queue.1),
                right_aligned(waiting.0, 6, waiting.1),
            ];
            if has_growth {
                cells.push(right_aligned(growth.0, 5, growth.1));
            }
            cells.push(right_aligned(running.0, 3, running.1));
            if has_growth {
                cells.push(right_aligned(stalled.0, 5, stalled.1));
            }
            cells.push(right_aligned(
                wait.0,
                if has_growth { 10 } else { 6 },
                wait.1,
            ));
            if has_flow {
                cells.push(left_aligned(flow.0, FLOW_WIDTH, flow.1));
            }
            let taken: usize = 2 + cells.iter().map(|cell| cell.width + 2).sum::<usize>();
            cells.push(left_aligned(
                state.0,
                self.width.saturating_sub(taken),
                state.1,
            ));
            cells
        };
        let titles = [
            "QUEUE",
            "WAIT",
            "±/min",
            "RUN",
            "STALL",
            if has_growth { "NEXT WAITS" } else { "NEXT" },
            "PUT/DONE LAST HOUR",
            "STATE",
        ];
        let titles = titles.map(|title| (title.to_owned(), Tone::Dim));
        let row = |queue: &&QueueFacts| {
            let counts = &queue.counts;
            let flow = self.history.rates_of_queue(&counts.name);
            let growth = match flow.growth_per_min.map(f64::round) {
                Some(growth) if growth != 0.0 => format!("{growth:+.0}"),
                _ => "0".to_owned(),
            };
            let wait = counts.head_wait_s.map(|wait| wait.0);
            let zero = |number: u64, tone: Tone| {
                if number == 0 { Tone::Dim } else { tone }
            };
            let cells = cells([
                (counts.name.to_string(), Tone::Strong),
                (
                    with_thousands_separators(counts.waiting),
                    zero(counts.waiting, Tone::Plain),
                ),
                (growth, Tone::Dim),
                (
                    with_thousands_separators(counts.running),
                    zero(counts.running, Tone::Plain),
                ),
                (
                    with_thousands_separators(counts.stalled),
                    zero(counts.stalled, Tone::Bad),
                ),
                (
                    wait.map_or(NONE.into(), format_duration),
                    if queue.has_head_waited_too_long(self.now) {
                        Tone::Bad
                    } else {
                        Tone::Plain
                    },
                ),
                (
                    flow_cell(&flow.done, flow.put_per_s, flow.done_per_s),
                    Tone::Good,
                ),
                self.blocking_reason_or_late_cell(queue),
            ]);
            NamedRow {
                name: counts.name.clone(),
                cells,
            }
        };
        TableRows {
            head: dim_header_cells(&cells(titles)),
            rows: queues.iter().map(row).collect(),
        }
    }

    /// The STATE cell of a queue: what keeps its jobs from workers, or that its oldest job has waited too long. On
    /// a narrow screen, one word.
    fn blocking_reason_or_late_cell(&self, queue: &QueueFacts) -> (String, Tone) {
        let is_wide = self.width >= 90;
        let options = RenderOptions {
            now: self.now,
            ..RenderOptions::terminal_without_color(self.width)
        };
        if let Some(reason) = queue.why_workers_get_no_jobs(&options) {
            let word = if queue.counts.paused {
                "paused"
            } else {
                "held"
            };
            return (if is_wide { reason } else { word.to_owned() }, Tone::Warn);
        }
        match queue.late_wait_if_head_is_not_late(self.now) {
            Some(wait) if is_wide => (format!("oldest {}", format_duration(wait)), Tone::Bad),
            _ if queue.has_oldest_job_waited_too_long(self.now) => ("late".to_owned(), Tone::Bad),
            _ => (String::new(), Tone::Plain),
        }
    }

    fn failed_group_rows(&self) -> TableRows {
        let mut groups: Vec<&GroupWithRecentFailures> = self.facts.groups.iter().collect();
        match self.sort_column {
            0 => groups.sort_by_key(|group| std::cmp::Reverse((group.recent, group.jobs))),
            1 => groups.sort_by_key(|group| std::cmp::Reverse(group.jobs)),
            _ => {}
        }
        let has_samples = self.width >= 56;
        let name = if has_samples {
            (self.width / 4).min(40)
        } else {
            self.width.saturating_sub(22)
        };
        let cells = |texts: [(String, Tone); 5]| {
            let [group, jobs, recent, bars, sample] = texts;
            let mut cells = vec![
                left_aligned(group.0, name, group.1),
                right_aligned(jobs.0, 7, jobs.1),
                right_aligned(recent.0, 7, recent.1),
            ];
            if has_samples {
                cells.push(left_aligned(bars.0, 12, bars.1));
                cells.push(left_aligned(
                    sample.0,
                    self.width.saturating_sub(name + 36),
                    sample.1,
                ));
            }
            cells
        };
        let titles = ["FAILED", "JOBS", "LAST 1H", "LAST 2H", "SAMPLE"];
        let titles = titles.map(|title| (title.to_owned(), Tone::Dim));
        let row = |group: &&GroupWithRecentFailures| {
            let bars = sparkline(&self.history.failures_per_ten_minutes(&group.group), 12);
            let recent = match group.recent {
                0 => (NONE.to_owned(), Tone::Dim),
                recent => (format!("+{}", with_thousands_separators(recent)), Tone::Bad),
            };
            let sample = self.samples.get(&group.group).cloned();
            NamedRow {
                name: group.group.clone(),
                cells: cells([
                    (group.group.to_string(), Tone::Strong),
                    (with_thousands_separators(group.jobs), Tone::Plain),
                    recent,
                    (bars, Tone::Bad),
                    (sample.unwrap_or_default(), Tone::Plain),
                ]),
            }
        };
        TableRows {
            head: dim_header_cells(&cells(titles)),
            rows: groups.iter().map(row).collect(),
        }
    }

    fn worker_rows(&self) -> TableRows {
        let mut workers: Vec<&Worker> = self.facts.workers.iter().collect();
        match self.sort_column {
            1 => workers.sort_by_key(|worker| std::cmp::Reverse(worker.last_seen)),
            2 => workers.sort_unstable_by(|one, other| one.name.cmp(&other.name)),
            _ => sort_urgent_first(&mut workers, self.now),
        }
        let name = (self.width / 4).clamp(12, 40);
        let cells = |texts: [(String, Tone); 4]| {
            let [worker, slots, last, holds] = texts;
            vec![
                left_aligned(worker.0, name, worker.1),
                left_aligned(slots.0, SLOTS_WIDTH, slots.1),
                right_aligned(last.0, 5, last.1),
                left_aligned(holds.0, self.width.saturating_sub(name + 23), holds.1),
            ]
        };
        let titles =
            ["WORKER", "SLOTS", "LAST", "HOLDS"].map(|title| (title.to_owned(), Tone::Dim));
        let row = |worker: &&Worker| {
            let seen = worker
                .last_seen
                .map(|seen| format_rough_duration(self.now.since(seen).max(0.0)));
            let is_silent = worker.is_silent(self.now);
            let holds = match (worker.running, worker.stalled) {
                (0, 0) => ("nothing".to_owned(), Tone::Dim),
                (running, 0) => (format_count(running, "job", "jobs"), Tone::Plain),
                (0, 1) => ("1 job, its lock has expired".to_owned(), Tone::Bad),
                (0, lost) => (
                    format!(
                        "{} jobs, their locks have expired",
                        with_thousands_separators(lost)
                    ),
                    Tone::Bad,
                ),
                (running, lost) => {
                    let all = format_count(running + lost, "job", "jobs");
                    (
                        format!(
                            "{all}, {} with expired locks",
                            with_thousands_separators(lost)
                        ),
                        Tone::Bad,
                    )
                }
            };
            NamedRow {
                name: worker.name.clone(),
                cells: cells([
                    (worker.host_and_pid_or_name(), Tone::Strong),
                    (
                        slot_symbols(worker),
                        if worker.stalled > 0 {
                            Tone::Bad
                        } else {
                            Tone::Good
                        },
                    ),
                    (
                        seen.unwrap_or_else(|| NONE.into()),
                        if is_silent { Tone::Bad } else { Tone::Dim },
                    ),
                    holds,
                ]),
            }
        };
        TableRows {
            head: dim_header_cells(&cells(titles)),
            rows: workers.iter().map(row).collect(),
        }
    }
}

/// A sparkline of the jobs done in the last hour, and the current rates of puts and completions. The sparkline
/// becomes shorter so that the rates fit.
pub(super) fn flow_cell(done: &[Option<f64>], put_s: Option<f64>, done_s: Option<f64>) -> String {
    let rates = match (put_s, done_s) {
        (Some(0.0), Some(0.0)) => NONE.to_owned(),
        (Some(put), Some(done)) => format!(
            "{}/{}/s",
            jobs_per_second_without_unit(put),
            jobs_per_second_without_unit(done)
        ),
        _ => String::new(),
    };
    let bars = FLOW_WIDTH.saturating_sub(width(&rates) + 1).min(10);
    format!("{} {rates}", sparkline(done, bars))
}

fn head_wait_seconds(queue: &QueueFacts) -> f64 {
    queue.counts.head_wait_s.map_or(0.0, |wait| wait.0)
}

fn jobs_per_second_without_unit(per_s: f64) -> String {
    if per_s >= 10.0 || per_s == 0.0 {
        format!("{per_s:.0}")
    } else {
        format!("{per_s:.1}")
    }
}

/// The slots of a worker, one character each: jobs with expired locks, running jobs, free slots.
fn slot_symbols(worker: &Worker) -> String {
    let slots = worker.slots_to_draw_by_state(SLOTS_WIDTH as u64);
    let repeat = |mark: &str, count: u64| mark.repeat(count as usize);
    repeat("✗", slots.lost) + &repeat("■", slots.running) + &repeat("□", slots.free)
}

/// Jobs, a row each.
pub(super) fn job_rows(jobs: &[Job], now: Moment, width: usize) -> TableRows {
    let options = RenderOptions {
        now,
        ..RenderOptions::terminal_without_color(width)
    };
    let jid = if width >= 76 { 32 } else { 12 };
    let klass = if width >= 100 { 24 } else { 14 };
    let cells = |texts: [(String, Tone); 4]| {
        let [id, class, state, detail] = texts;
        vec![
            left_aligned(id.0, jid, id.1),
            left_aligned(class.0, klass, class.1),
            left_aligned(state.0, 9, state.1),
            left_aligned(detail.0, width.saturating_sub(jid + klass + 17), detail.1),
        ]
    };
    let titles = ["JID", "KLASS", "STATE", "DETAIL"].map(|title| (title.to_owned(), Tone::Dim));
    let row = |job: &Job| {
        use crate::model::job::State;
        let tone = match job.state {
            Some(State::Failed | State::Stalled) => Tone::Bad,
            Some(State::Running | State::Complete) => Tone::Good,
            _ => Tone::Plain,
        };
        NamedRow {
            name: job.jid.clone(),
            cells: cells([
                (job.jid.to_string(), Tone::Strong),
                (
                    job.klass.as_ref().map_or(NONE.into(), Name::to_string),
                    Tone::Plain,
                ),
                (job.state_word(), tone),
                (sanitize_to_line(job.state_detail(&options)), Tone::Dim),
            ]),
        }
    };
    TableRows {
        head: dim_header_cells(&cells(titles)),
        rows: jobs.iter().map(row).collect(),
    }
}
