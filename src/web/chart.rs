//! Charts as SVG. The style sheet of the pages colors them.

use std::fmt::Write;

use maud::{Markup, html};

use super::page::{NONE, raw};
use crate::clock::moment::Moment;
use crate::model::job::HistoryEntry;
use crate::model::overview::history::LastHourRates;
use crate::model::stats::DurationSpread;
use crate::model::worker_name::WorkerProcess;
use crate::name::Name;
use crate::text::{format_duration, format_rough_duration, with_thousands_separators};

/// The size of a chart of the jobs put and done per second, and how many minutes each point of its lines averages.
const FLOW_WIDTH: usize = 120;
const FLOW_HEIGHT: f64 = 26.0;
const MINUTES_PER_POINT: usize = 2;

/// A chart of the jobs put and done per second in the last hour. Times without a snapshot are blank.
pub(super) fn flow_chart(flow: &LastHourRates) -> Markup {
    let points = |rates: &[Option<f64>]| -> Vec<Option<f64>> {
        let points = rates.chunks(MINUTES_PER_POINT).map(|rates| {
            let known: Vec<f64> = rates.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        });
        points.collect()
    };
    let (put, done) = (points(&flow.put), points(&flow.done));
    let highest = put.iter().chain(&done).flatten().copied();
    let highest = highest.fold(0.0, f64::max);
    if highest <= 0.0 {
        return html! {};
    }
    let rates = (format_rate(flow.put_per_s), format_rate(flow.done_per_s));
    let label = format!("put {} and done {} in the last hour", rates.0, rates.1);
    html! {
        svg.flow viewBox={ "0 0 " (FLOW_WIDTH) " 28" } role="img" aria-label=(label) {
            path.area d=(flow_path(&done, highest, true)) {}
            path.done d=(flow_path(&done, highest, false)) {}
            path.put d=(flow_path(&put, highest, false)) {}
        }
    }
}

/// The SVG path of a line through points. An area is closed along the bottom. Coordinates are whole numbers, to keep
/// pages small.
fn flow_path(points: &[Option<f64>], highest: f64, is_area: bool) -> String {
    let step = FLOW_WIDTH / points.len().saturating_sub(1).max(1);
    let mut path = String::new();
    let (mut last, mut begun) = (None, 0);
    for (at, point) in points.iter().enumerate() {
        let x = at * step;
        let y = point.map(|rate| 27 - (rate / highest * FLOW_HEIGHT).round() as i64);
        match (last, y) {
            (None, Some(y)) => {
                begun = x;
                let start = if is_area {
                    format!("M{x} 30V{y}")
                } else {
                    format!("M{x} {y}")
                };
                path.push_str(&start);
            }
            (Some(before), Some(y)) => _ = write!(path, "l{step} {}", y - before),
            (Some(_), None) if is_area => _ = write!(path, "V30H{begun}"),
            _ => {}
        }
        last = y;
    }
    if is_area && last.is_some() {
        _ = write!(path, "V30H{begun}");
    }
    path
}

/// A rate per second for people.
pub(super) fn format_rate(rate: Option<f64>) -> String {
    match rate {
        None => NONE.to_owned(),
        Some(rate) if rate >= 10.0 || rate == 0.0 => format!("{rate:.0}/s"),
        Some(rate) if rate < 0.1 => format!("{:.1}/min", rate * 60.0),
        Some(rate) => format!("{rate:.1}/s"),
    }
}

/// A bar chart of the failures in the last two hours, with a bar for each ten minutes.
pub(super) fn failure_chart(bins: &[Option<f64>]) -> Markup {
    let highest = bins.iter().flatten().copied().fold(0.0, f64::max);
    if highest <= 0.0 {
        return html! {};
    }
    let count: f64 = bins.iter().flatten().sum();
    let label = format!("{count:.0} failures seen in the last two hours");
    let mut bars = String::new();
    for (at, bin) in bins.iter().enumerate() {
        let Some(failures) = bin else { continue };
        let height = (failures / highest * 22.0).round().max(1.0);
        let (x, y) = (at * 7, 22.0 - height);
        _ = write!(
            bars,
            r#"<rect x="{x}" y="{y}" width="5" height="{height}" rx="1"/>"#
        );
    }
    html! { svg.bars viewBox="0 0 84 22" role="img" aria-label=(label) { (raw(bars)) } }
}

/// The upper bounds of the bars of a histogram, in seconds. One more bar has the longer durations.
const BAR_BOUNDS: [u64; 12] = [1, 2, 5, 10, 20, 60, 120, 300, 900, 3600, 14_400, 86_400];

/// Where the bars of a histogram stand in its drawing: left and right edge, base line, and top.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 420.0;
const GROUND: f64 = 132.0;
const TOP: f64 = 14.0;

/// A histogram of how long jobs waited or ran today. A line marks how long the oldest waiting job has waited, since the
/// bars do not count a wait that has not ended.
pub(super) fn histogram(
    title: &str,
    spreads: &[&DurationSpread],
    oldest_wait_s: Option<f64>,
) -> Markup {
    let mut bars = [0_u64; BAR_BOUNDS.len() + 1];
    for bucket in spreads.iter().flat_map(|spread| &spread.buckets) {
        let bar = bucket
            .le_s
            .and_then(|le| BAR_BOUNDS.iter().position(|bound| le <= *bound));
        let bar = &mut bars[bar.unwrap_or(BAR_BOUNDS.len())];
        *bar = bar.saturating_add(bucket.count);
    }
    let count = bars.iter().fold(0_u64, |sum, bar| sum.saturating_add(*bar));
    let highest = bars.iter().copied().max().unwrap_or_default();
    if highest == 0 {
        return html! {
            figure { figcaption { (title) } p.none { "No job yet today." } }
        };
    }
    let step = (RIGHT - LEFT) / bars.len() as f64;
    let mut drawing = String::new();
    // Round the top of the axis up to an even number, so that the label in the middle is a whole number of jobs.
    let top = highest.checked_next_multiple_of(2).unwrap_or(highest);
    for (share, label) in [(0.5, short_count(top / 2)), (1.0, short_count(top))] {
        let y = GROUND - (GROUND - TOP) * share;
        _ = write!(
            drawing,
            r#"<path class="grid" d="M{LEFT} {y}H{RIGHT}"/><text class="tick" x="{}" y="{}" text-anchor="end">{label}</text>"#,
            LEFT - 6.0,
            y + 4.0,
        );
    }
    for (at, jobs) in bars.iter().enumerate() {
        let x = LEFT + step * at as f64;
        if *jobs > 0 {
            let height = ((GROUND - TOP) * *jobs as f64 / top as f64).max(1.5);
            _ = write!(
                drawing,
                r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{height:.1}" rx="2"/>"#,
                x + 1.5,
                GROUND - height,
                step - 3.0,
            );
        }
        if let Some(bound) = BAR_BOUNDS.get(at).filter(|_| at % 2 == 0) {
            _ = write!(
                drawing,
                r#"<text class="tick" x="{:.1}" y="148" text-anchor="middle">{}</text>"#,
                x + step,
                format_rough_duration(*bound as f64),
            );
        }
    }
    if let Some(oldest) = oldest_wait_s.filter(|oldest| *oldest >= 1.0) {
        let x = LEFT + step * duration_position_in_bars(oldest);
        let (anchor, gap) = if x > 180.0 {
            ("end", -6.0)
        } else {
            ("start", 6.0)
        };
        _ = write!(
            drawing,
            r#"<path class="oldest" d="M{x:.1} 2V{GROUND}"/><text class="note" x="{:.1}" y="10" text-anchor="{anchor}">oldest now {}</text>"#,
            x + gap,
            format_duration(oldest),
        );
    }
    _ = write!(
        drawing,
        r#"<path class="base" d="M{LEFT} {GROUND}H{RIGHT}"/>"#
    );
    let jobs = with_thousands_separators(count);
    html! {
        figure {
            figcaption { (title) ", " (jobs) (if count == 1 { " job" } else { " jobs" }) }
            svg.histogram viewBox="0 0 420 154" role="img" aria-label={ (title) ": bars by duration" } { (raw(drawing)) }
        }
    }
}

/// The position of a duration on the axis of a histogram, in bars from the left: 2.5 is the middle of the third bar.
fn duration_position_in_bars(seconds: f64) -> f64 {
    let mut from = 0.0;
    for (at, bound) in BAR_BOUNDS.iter().enumerate() {
        let to = *bound as f64;
        if seconds <= to {
            return at as f64 + (seconds - from) / (to - from);
        }
        from = to;
    }
    BAR_BOUNDS.len() as f64 + 0.5
}

/// A count on an axis: `950`, `5.1k`.
fn short_count(count: u64) -> String {
    match count {
        ..1000 => count.to_string(),
        1000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// What a job does until its next history entry.
enum LifeSegmentActivity {
    /// The job waits. The text says why it waits again, such as `retried, `; it is empty after a put.
    Wait(&'static str),
    /// The worker with this short name runs the job.
    Run(String),
}

/// A wait or a run in the life chart of a job, in seconds since the epoch.
struct LifeSegment {
    from: f64,
    to: f64,
    /// False while the job waited.
    ran: bool,
    words: String,
}

/// The width of a life chart.
const LIFE_WIDTH: f64 = 1072.0;

/// The width of a letter of a label.
const LETTER_WIDTH: f64 = 6.4;

/// The waits and runs of a job on one line, up to `now` if the job has not ended.
pub(super) fn life_chart(history: &[HistoryEntry], ended: Option<&str>, now: Moment) -> Markup {
    let segments = life_segments(history, ended.is_some(), now);
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return html! {};
    };
    let (begin, end) = (first.from, last.to);
    if end - begin <= 0.0 {
        return html! {};
    }
    // If the job has ended, the line ends with a dot, and the name of the state stands below: leave space for both.
    let width = LIFE_WIDTH - 24.0;
    let labels_end = LIFE_WIDTH - ended.map_or(0.0, |ended| label_width(ended) + LETTER_WIDTH);
    // Minimum width of a segment, so that a short run stays visible beside a long wait.
    let least = 6.0;
    let free = width - least * segments.len() as f64;
    if free <= 0.0 {
        return html! {};
    }
    let mut drawing = String::new();
    let (mut x, mut label_from) = (0.0_f64, 0.0);
    for segment in &segments {
        let wide = least + free * (segment.to - segment.from) / (end - begin);
        let (class, y, height) = if segment.ran {
            ("ran", 14, 20)
        } else {
            ("waited", 21, 6)
        };
        _ = write!(
            drawing,
            r#"<rect class="{class}" x="{x:.1}" y="{y}" width="{wide:.1}" height="{height}" rx="3"/>"#
        );
        let words = crate::text::cut_with_ellipsis(&segment.words, 28);
        let taken = label_width(&words);
        // Move a label to the left if it would extend beyond the right edge.
        let label = x.max(label_from).min(labels_end - taken);
        // The label of a wait must fit below its segment. The label of a run may extend below the wait that follows.
        let inside = if segment.ran { 0.0 } else { taken };
        if label >= label_from && label + inside <= x + wide {
            let words = html! { (words) }.into_string();
            _ = write!(
                drawing,
                r#"<text class="tick" x="{label:.1}" y="52">{words}</text>"#
            );
            label_from = label + taken + LETTER_WIDTH;
        }
        x += wide;
    }
    if let Some(ended) = ended {
        let class = if ended == "failed" { "end bad" } else { "end" };
        _ = write!(
            drawing,
            r#"<circle class="{class}" cx="{:.1}" cy="24" r="6"/><text class="tick" x="{LIFE_WIDTH}" y="52" text-anchor="end">{ended}</text>"#,
            x + 8.0
        );
    }
    let total = format_duration(end - begin);
    html! {
        svg.life viewBox="0 0 1072 60" role="img"
            aria-label={ "waits and runs of the job over " (total) } { (raw(drawing)) }
    }
}

/// About how wide a label is.
fn label_width(words: &str) -> f64 {
    LETTER_WIDTH * words.chars().count() as f64
}

fn life_segments(history: &[HistoryEntry], has_ended: bool, now: Moment) -> Vec<LifeSegment> {
    let mut segments = Vec::new();
    let mut began: Option<(f64, LifeSegmentActivity)> = None;
    for entry in history {
        let Some(when) = entry.when.map(Moment::seconds) else {
            continue;
        };
        let verb = entry.extra_field_text("verb");
        let next = match entry.what.as_bytes() {
            b"cli" if verb.is_some_and(|verb| verb.as_bytes() == b"retry") => {
                Some(LifeSegmentActivity::Wait("retried, "))
            }
            b"retried" => Some(LifeSegmentActivity::Wait("retried, ")),
            b"timed-out" => Some(LifeSegmentActivity::Wait("timed out, ")),
            b"put" | b"scheduled" => Some(LifeSegmentActivity::Wait("")),
            b"popped" => {
                let worker = entry.extra_field_text("worker");
                let short =
                    |worker: Name| WorkerProcess::from_name(&worker).host_and_pid_or_name(&worker);
                Some(LifeSegmentActivity::Run(
                    worker.map(short).unwrap_or_default(),
                ))
            }
            b"done" | b"failed" => None,
            _ => continue,
        };
        end_segment(&mut segments, &mut began, when);
        began = next.map(|part| (when, part));
    }
    if !has_ended {
        end_segment(&mut segments, &mut began, now.seconds());
    }
    segments
}

/// Ends the wait or run that has begun, if any, and adds it to `segments`.
fn end_segment(
    segments: &mut Vec<LifeSegment>,
    began: &mut Option<(f64, LifeSegmentActivity)>,
    to: f64,
) {
    let Some((from, part)) = began.take() else {
        return;
    };
    let to = to.max(from);
    let elapsed = format_duration(to - from);
    let words = match &part {
        LifeSegmentActivity::Run(worker) if worker.is_empty() => format!("ran {elapsed}"),
        LifeSegmentActivity::Run(worker) => format!("ran {elapsed} on {worker}"),
        LifeSegmentActivity::Wait(why) => format!("{why}waited {elapsed}"),
    };
    segments.push(LifeSegment {
        from,
        to,
        ran: matches!(part, LifeSegmentActivity::Run(_)),
        words,
    });
}
