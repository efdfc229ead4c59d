//! Statistics of queues as text: one day with a histogram, or a line for each of several days.

use super::{
    BucketRange, DurationSpread, HistogramBucket, MeasuredDuration, QueueDayStats,
    StatsOfQueuesByDay, StatsOfQueuesOnDay,
};
use crate::json::Number;
use crate::text;
use crate::view::document::DocumentKind;
use crate::view::table::{Cell, Column, Heading, NONE, Table, column_headings};
use crate::view::{NdjsonLines, RenderOptions, View};

const QUEUE: Column<QueueDayStats> = Column::of_names("QUEUE", |of| &of.queue);
const DATE: Column<QueueDayStats> = Column::of_text("DAY", |of, _| Cell::text(&of.day));
const COMPLETED: Column<QueueDayStats> = Column::of_counts("COMPLETED", |of| of.completed);
const FAILURES: Column<QueueDayStats> = Column::of_counts("FAILURES", |of| of.failures);

/// The columns of a table with a line for each queue on one day.
const DAY: &[Column<QueueDayStats>] = &[
    QUEUE,
    DATE,
    COMPLETED,
    FAILURES,
    Column::of_counts("STILL FAILED", |of| of.failed),
    Column::of_counts("LOCKS LOST", |of| of.retries),
    Column::of_counts("WAITS", |of| of.wait.count),
    Column::of_text("WAIT MEAN", |of, _| of.wait.seconds_cell(of.wait.mean_s)),
    Column::of_text("WAIT STD", |of, _| of.wait.seconds_cell(of.wait.std_s)),
    Column::of_text("WAIT P50", |of, _| of.wait.upper_bound_cell(of.wait.p50)),
    Column::of_text("WAIT P90", |of, _| of.wait.upper_bound_cell(of.wait.p90)),
    Column::of_text("WAIT P95", |of, _| of.wait.upper_bound_cell(of.wait.p95)),
    Column::of_text("WAIT P99", |of, _| of.wait.upper_bound_cell(of.wait.p99)),
    Column::of_text("WAIT MAX", |of, _| of.wait.upper_bound_cell(of.wait.max)),
    Column::of_counts("RUNS", |of| of.run.count),
    Column::of_text("RUN MEAN", |of, _| of.run.seconds_cell(of.run.mean_s)),
    Column::of_text("RUN STD", |of, _| of.run.seconds_cell(of.run.std_s)),
    Column::of_text("RUN P50", |of, _| of.run.upper_bound_cell(of.run.p50)),
    Column::of_text("RUN P90", |of, _| of.run.upper_bound_cell(of.run.p90)),
    Column::of_text("RUN P95", |of, _| of.run.upper_bound_cell(of.run.p95)),
    Column::of_text("RUN P99", |of, _| of.run.upper_bound_cell(of.run.p99)),
    Column::of_text("RUN MAX", |of, _| of.run.upper_bound_cell(of.run.max)),
];

/// The columns of a table with a line for each measured duration of one queue.
fn spread_columns<'t>() -> [Column<(MeasuredDuration, &'t DurationSpread)>; 9] {
    [
        Column::of_text("", |(measure, _), _| Cell::text(measure.into_str())),
        Column::of_counts("COUNT", |of| of.1.count),
        Column::of_numbers("MEAN", |of, _| of.1.seconds_cell(of.1.mean_s)),
        Column::of_numbers("STD", |of, _| of.1.seconds_cell(of.1.std_s)),
        Column::of_numbers("P50", |of, _| of.1.upper_bound_cell(of.1.p50)),
        Column::of_numbers("P90", |of, _| of.1.upper_bound_cell(of.1.p90)),
        Column::of_numbers("P95", |of, _| of.1.upper_bound_cell(of.1.p95)),
        Column::of_numbers("P99", |of, _| of.1.upper_bound_cell(of.1.p99)),
        Column::of_numbers("MAX", |of, _| of.1.upper_bound_cell(of.1.max)),
    ]
}

/// The columns of a table with a line for each bucket of a histogram, with queue and day.
fn bucket_columns<'t>() -> [Column<(&'t QueueDayStats, MeasuredDuration, HistogramBucket)>; 5] {
    [
        Column::of_text("QUEUE", |(of, ..), _| Cell::text(&of.queue)),
        Column::of_text("DAY", |(of, ..), _| Cell::text(&of.day)),
        Column::of_text("MEASURE", |(_, measure, _), _| {
            Cell::text(measure.into_str())
        }),
        Column::of_text("BUCKET", |(.., bucket), _| {
            Cell::text(upper_bound_text(bucket.le_s))
        }),
        Column::of_counts("JOBS", |(.., bucket)| bucket.count),
    ]
}

/// The columns of a table with a line for each queue and day.
const DAYS: &[Column<QueueDayStats>] = &[
    QUEUE,
    DATE,
    COMPLETED,
    Column::of_numbers("PER HOUR", |of, options| {
        let rate = of.completed_per_hour.0;
        Cell::sorted_by(rate, jobs_per_hour_text(rate, options))
    }),
    Column::of_numbers("CHANGE", |of, _| match of.change {
        Some(change) => Cell::sorted_by(change.0, signed_percent_text(change.0)),
        None => Cell::missing(),
    }),
    FAILURES,
    Column::of_numbers("WAIT P95", |of, _| of.wait.upper_bound_cell(of.wait.p95)),
    Column::of_numbers("RUN P95", |of, _| of.run.upper_bound_cell(of.run.p95)),
];

impl View for StatsOfQueuesOnDay {
    const DOCUMENT: DocumentKind =
        DocumentKind::of_list::<QueueDayStats>("stats", "Statistics of queues for a day: stats");

    /// On a terminal, a paragraph for each queue. In a pipe, a line for each queue, or a line for each bucket if the
    /// user asked for a histogram.
    fn text(&self, options: &RenderOptions) -> String {
        let items = &self.list.items;
        if options.terminal {
            let histogram_of = self.histogram_of.unwrap_or(MeasuredDuration::Wait);
            let paragraphs: Vec<String> = items
                .iter()
                .map(|stats| stats.queue_paragraph(histogram_of, options))
                .collect();
            return paragraphs.join("\n");
        }
        match self.histogram_of {
            Some(histogram_of) => {
                let rows = items.iter().flat_map(|stats| {
                    let buckets = stats.spread_of(histogram_of).buckets.iter();
                    buckets.map(move |bucket| (stats, histogram_of, *bucket))
                });
                let rows: Vec<_> = rows.collect();
                Table::new(&bucket_columns(), &rows, options).into_text(options)
            }
            None => Table::new(DAY, items, options).into_text(options),
        }
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.list.items)
    }
}

impl View for StatsOfQueuesByDay {
    const DOCUMENT: DocumentKind = StatsOfQueuesOnDay::DOCUMENT;

    fn headings() -> Vec<Heading> {
        column_headings(DAYS)
    }

    fn text(&self, options: &RenderOptions) -> String {
        Table::new(DAYS, &self.0.items, options).into_text(options)
    }

    fn lines(&self, lines: &mut NdjsonLines) -> Result<(), serde_json::Error> {
        lines.write_items(&self.0.items)
    }
}

impl QueueDayStats {
    /// The paragraph about a queue: its counts. If jobs waited or ran on this day, also a table of both durations and
    /// the histogram of `histogram_of`.
    fn queue_paragraph(&self, histogram_of: MeasuredDuration, options: &RenderOptions) -> String {
        let today = options
            .now
            .to_rfc3339()
            .is_some_and(|now| now.starts_with(&self.day));
        let when = if today { ", so far" } else { "" };
        let queue = &self.queue;
        let counts = [
            format!("{queue} on {} (UTC{when}) ", self.day),
            format!("{} completed", options.count(self.completed)),
            options.format_count(self.failures, "failure", "failures"),
            format!("{} still failed", options.count(self.failed)),
            options.format_count(self.retries, "lock lost", "locks lost"),
        ];
        let mut text = wrap_parts("", counts, "  ", options);
        let measures =
            [MeasuredDuration::Wait, MeasuredDuration::Run].map(|of| (of, self.spread_of(of)));
        if measures.iter().all(|(_, spread)| spread.count == 0) {
            return text;
        }
        text.push('\n');
        let with_headers = RenderOptions {
            headers: true,
            choice: Default::default(),
            ..options.clone()
        };
        text.push_str(&Table::new(&spread_columns(), &measures, options).into_text(&with_headers));
        let spread = self.spread_of(histogram_of);
        if !spread.buckets.is_empty() {
            text.push('\n');
            text.push_str(&histogram_bars(
                histogram_of.into_str(),
                &spread.buckets,
                options,
            ));
        }
        text
    }
}

impl DurationSpread {
    /// The cell for a mean or a standard deviation.
    fn seconds_cell(&self, seconds: Option<Number>) -> Cell {
        match seconds {
            Some(seconds) if self.count > 0 => Cell::sorted_by(
                seconds.0,
                text::format_duration_tenths_below_minute(seconds.0),
            ),
            _ => Cell::sorted_by(0.0, NONE),
        }
    }

    /// The cell for a percentile: the upper end of its range.
    fn upper_bound_cell(&self, bound: BucketRange) -> Cell {
        if self.buckets.is_empty() {
            Cell::missing()
        } else {
            Cell::sorted_by(
                bound.hi_s.map_or(f64::INFINITY, |bound| bound as f64),
                upper_bound_text(bound.hi_s),
            )
        }
    }
}

/// The upper bound of a range as text: `≤ 24s`. `> 7d` for the last range, which has no upper bound.
fn upper_bound_text(seconds: Option<u64>) -> String {
    match seconds {
        Some(seconds) => format!("≤ {}", text::format_duration(seconds as f64)),
        None => "> 7d".to_owned(),
    }
}

fn jobs_per_hour_text(rate: f64, options: &RenderOptions) -> String {
    match rate {
        small if small < 10.0 => format!("{small:.1}"),
        rate => options.count(rate.round() as u64),
    }
}

fn signed_percent_text(change: f64) -> String {
    match (change * 100.0).round() {
        0.0 => "0%".to_owned(),
        change => format!("{change:+}%"),
    }
}

/// The bars of a drawn histogram, each with its label and its upper bound in seconds.
const BARS: [(&str, Option<u64>); 8] = [
    ("1s", Some(1)),
    ("10s", Some(10)),
    ("1m", Some(60)),
    ("10m", Some(600)),
    ("1h", Some(3600)),
    ("1d", Some(86400)),
    ("7d", Some(604_800)),
    ("> 7d", None),
];

/// The number of bars that are shown even if they are empty. Later bars are shown only if they contain jobs.
const ALWAYS: usize = 5;

/// The maximum length of a bar of a drawn histogram, in characters.
const MAX_BAR_LENGTH: usize = 20;

/// A histogram drawn as bars, on several lines if the terminal is too narrow for one.
fn histogram_bars(name: &str, buckets: &[HistogramBucket], options: &RenderOptions) -> String {
    let mut counts = [0u64; BARS.len()];
    for bucket in buckets {
        let fits = |(_, end): &(&str, Option<u64>)| match (*end, bucket.le_s) {
            (Some(end), Some(bound)) => bound <= end,
            (end, _) => end.is_none(),
        };
        if let Some(bar) = BARS.iter().position(fits) {
            counts[bar] = counts[bar].saturating_add(bucket.count);
        }
    }
    let largest = counts.iter().copied().max().unwrap_or(0).max(1);
    let longest = MAX_BAR_LENGTH.min((options.width / 2).saturating_sub(4));
    let mut parts = Vec::new();
    for (at, (&count, (label, _))) in counts.iter().zip(BARS).enumerate() {
        if count == 0 && at >= ALWAYS {
            continue;
        }
        let bar = match bar_length(count, largest, longest) {
            0 => String::new(),
            cells => format!("{} ", "▇".repeat(cells)),
        };
        let shown = match count {
            0 => NONE.to_owned(),
            count => options.count(count),
        };
        parts.push(format!("{label} {bar}{shown}"));
    }
    wrap_parts(&format!("{name:<6}"), parts, &" ".repeat(6), options)
}

/// Writes `name` and the parts, on several lines if the terminal is too narrow for one. Lines after the first begin
/// with `margin`.
fn wrap_parts(
    name: &str,
    parts: impl IntoIterator<Item = String>,
    margin: &str,
    options: &RenderOptions,
) -> String {
    let mut text = name.to_owned();
    let mut taken = text::width(name);
    for (at, part) in parts.into_iter().enumerate() {
        let width = text::width(&part);
        if at > 0 && taken + 3 + width > options.width {
            text.truncate(text.trim_end().len());
            text.push('\n');
            text.push_str(margin);
            taken = text::width(margin) + width;
        } else if at > 0 {
            text.push_str("   ");
            taken += 3 + width;
        } else {
            taken += width;
        }
        text.push_str(&part);
    }
    text.push('\n');
    text
}

/// The length of a bar: at least 1 if `count` is at least a hundredth of the `largest` count, else 0.
fn bar_length(count: u64, largest: u64, longest: usize) -> usize {
    let (count, largest) = (u128::from(count), u128::from(largest));
    if count * 100 >= largest {
        (count * longest as u128).div_ceil(largest) as usize
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn durations_of_days_have_bars_of_their_own() {
        let buckets = [(Some(86400), 2), (Some(172_800), 1), (None, 1)]
            .map(|(le_s, count)| HistogramBucket { le_s, count });
        expect![[r#"
            run   1s –   10s –   1m –   10m –   1h –   1d ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇ 2   7d ▇▇▇▇▇▇▇▇▇▇ 1   > 7d ▇▇▇▇▇▇▇▇▇▇ 1
        "#]].assert_eq(&histogram_bars("run", &buckets, &RenderOptions::terminal_without_color(120)));
    }

    #[test]
    fn a_bar_is_visible_from_a_hundredth_of_the_largest_on() {
        for (count, cells) in [(9120, 20), (811, 2), (204, 1), (92, 1), (91, 0), (0, 0)] {
            assert_eq!(bar_length(count, 9120, MAX_BAR_LENGTH), cells, "{count}");
        }
        assert_eq!(bar_length(u64::MAX, u64::MAX, MAX_BAR_LENGTH), 20);
    }

    #[test]
    fn changes_are_shown_in_whole_percent() {
        for (change, text) in [
            (0.123, "+12%"),
            (-1.0, "-100%"),
            (-0.001, "0%"),
            (3.0, "+300%"),
        ] {
            assert_eq!(signed_percent_text(change), text);
        }
    }
}
