//! The list of queues.

use maud::{Markup, html};

use crate::error::Error;
use crate::look::server::SnapshotHttpResponder;
use crate::model::overview::{QueueFacts, SystemFacts};
use crate::model::stats::BucketRange;
use crate::text::{format_count, format_duration, sanitize_to_line};
use crate::web::chart;
use crate::web::facts_of;
use crate::web::page::{
    NONE, NavigationSection, PageContent, PageFrame, count_cell, server_footer,
};

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let queues = format_count(facts.queue_count, "queue", "queues");
    let main = html! {
        h1 { (queues) }
        section {
            h2 { "Queues" small { i.key.put {} "put" i.key.done {} "done, last hour" } }
            (queue_table(page, facts, server, usize::MAX))
        }
    };
    Ok(PageContent {
        footer: server_footer(facts),
        ..PageContent::new(queues, NavigationSection::Overview, main)
    })
}

/// A table of up to `max_shown` queues, sorted by name. If there are more, the table has the queues with the most jobs.
pub(super) fn queue_table(
    page: &PageFrame,
    facts: &SystemFacts,
    server: &SnapshotHttpResponder,
    max_shown: usize,
) -> Markup {
    let mut queues: Vec<&QueueFacts> = facts.queues.iter().collect();
    if queues.len() > max_shown {
        queues.sort_by_key(|queue| {
            let counts = &queue.counts;
            std::cmp::Reverse(counts.waiting + counts.running + counts.stalled + counts.throttled)
        });
        queues.truncate(max_shown);
        queues.sort_unstable_by(|one, other| one.counts.name.cmp(&other.counts.name));
    }
    let more = facts.queue_count.saturating_sub(queues.len() as u64);
    html! {
        @if queues.is_empty() {
            p.none { "No queue yet: " code { "qless put QUEUE CLASS" } " makes one." }
        } @else {
            table.queues data-rows {
                thead {
                    tr {
                        th scope="col" { "Queue" } th.flowhead { span.unseen { "Last hour" } }
                        th.n scope="col" { "Waiting" } th.n scope="col" { "Running" } th.n.wide scope="col" { "Scheduled" }
                        th.n.wide scope="col" { "Depends" } th.n scope="col" { "Next waits" } th.n.wide scope="col" { "Wait p95" }
                        th.last { span.unseen { "State" } }
                    }
                }
                tbody { @for queue in queues { (queue_row(page, queue, server)) } }
            }
        }
        @if more > 0 { p.more { a href=(page.link("queues")) { "and " (format_count(more, "more queue", "more queues")) } } }
    }
}

fn queue_row(page: &PageFrame, queue: &QueueFacts, server: &SnapshotHttpResponder) -> Markup {
    let counts = &queue.counts;
    let flow = server.with_snapshot_history(|history| history.rates_of_queue(&counts.name));
    let wait = counts.head_wait_s.map(|wait| wait.0);
    let is_late = queue.has_head_waited_too_long(page.now);
    let p95 = queue.wait.as_ref().map(|wait| wait.p95);
    html! {
        tr data-key=(counts.name) {
            th scope="row" { (page.queue_link(&counts.name)) }
            td.flowcell { (chart::flow_chart(&flow)) }
            td.n.strong.dim[counts.waiting == 0] { (crate::text::with_thousands_separators(counts.waiting)) }
            (count_cell(counts.running))
            td.n.wide.dim { (crate::web::page::count_or_dash(counts.scheduled)) }
            td.n.wide.dim { (crate::web::page::count_or_dash(counts.depends)) }
            td.n.late[is_late].dim[wait.is_none()] { (wait.map_or(NONE.into(), format_duration)) }
            td.n.wide.dim { (p95.map_or(NONE.into(), upper_bound_text)) }
            td.last { (queue_problem_chips(page, queue)) }
        }
    }
}

/// The end of a range of durations.
pub(super) fn upper_bound_text(range: BucketRange) -> String {
    match range.hi_s {
        Some(0) => NONE.to_owned(),
        Some(end) => format_duration(end as f64),
        None => format!("> {}", format_duration(range.lo_s as f64)),
    }
}

/// Labels for the problems of a queue: lost locks, a job that waits too long, and what keeps its jobs from workers.
pub(super) fn queue_problem_chips(page: &PageFrame, queue: &QueueFacts) -> Markup {
    let counts = &queue.counts;
    let paused_by = counts.paused_by.as_ref().map(|by| format!("by {by}"));
    html! {
        @if counts.stalled > 0 { span.chip.red { (format_count(counts.stalled, "stalled", "stalled")) } " " }
        @if let Some(wait) = queue.late_wait_if_head_is_not_late(page.now) { span.chip.red { "oldest waits " (format_duration(wait)) } " " }
        @if let Some(reason) = queue.why_workers_get_no_jobs(&page.render_options()) {
            span.chip.amber[counts.paused] title=[paused_by] { (sanitize_to_line(reason)) }
        }
    }
}
