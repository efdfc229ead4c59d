//! The list of workers.

use maud::{Markup, html};

use crate::error::Error;
use crate::look::server::SnapshotHttpResponder;
use crate::model::overview::{SystemFacts, SystemWideList};
use crate::model::worker::{Worker, sort_urgent_first};
use crate::text::format_count;
use crate::web::facts_of;
use crate::web::page::{NONE, NavigationSection, PageContent, PageFrame, server_footer};

/// Maximum number of slots that are drawn for a worker.
const MAX_SLOTS: u64 = 16;

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let title = match facts.worker_count {
        0 => "No worker was seen lately".to_owned(),
        count => format_count(count, "worker", "workers"),
    };
    let main = html! {
        h1 { (title) }
        section { h2 { "Workers" small { "seen lately" } } (worker_table(page, facts, usize::MAX)) }
    };
    Ok(PageContent {
        footer: server_footer(facts),
        ..PageContent::new(title, NavigationSection::Workers, main)
    })
}

/// A table of up to `max_shown` workers: the workers that need attention, then the most recently seen. The rows of each
/// of these two are sorted by name.
pub(super) fn worker_table(page: &PageFrame, facts: &SystemFacts, max_shown: usize) -> Markup {
    let mut workers: Vec<&Worker> = facts.workers.iter().collect();
    // The sort is stable, and the workers come by when they were last seen.
    workers.sort_by_key(|worker| std::cmp::Reverse(worker.urgency_sort_key(page.now)));
    workers.truncate(max_shown);
    sort_urgent_first(&mut workers, page.now);
    let more = facts.worker_count.saturating_sub(workers.len() as u64);
    html! {
        @if !facts.is_list_readable(SystemWideList::Workers) {
            p.none { "Workers cannot be read, because a key has the wrong type." }
        } @else if workers.is_empty() {
            p.none { "No worker was seen lately." }
        } @else {
            table.workers data-rows {
                thead {
                    tr {
                        th scope="col" { "Worker" } th scope="col" { span.unseen { "Slots" } }
                        th.n scope="col" { "Runs" } th.n scope="col" { "Seen" }
                    }
                }
                tbody { @for worker in workers { (worker_row(page, worker)) } }
            }
        }
        @if more > 0 { p.more { a href=(page.link("workers")) { "and " (format_count(more, "more worker", "more workers")) } } }
    }
}

fn worker_row(page: &PageFrame, worker: &Worker) -> Markup {
    let slots = worker.process.slots;
    let runs = match slots {
        Some(slots) => format!("{} of {slots}", worker.running),
        None => worker.running.to_string(),
    };
    let is_silent = worker.is_silent(page.now);
    html! {
        tr data-key=(worker.name) {
            th scope="row" title=(worker.name.to_string()) { (page.worker_link_with_text(&worker.name, &worker.host_and_pid_or_name())) }
            td { (slot_blocks(worker)) }
            td.n { (runs) }
            td.n.dim[!is_silent].late[is_silent] {
                @match worker.last_seen { Some(seen) => (page.time_element(seen)), None => (NONE) }
            }
        }
    }
}

/// The slots of a worker, each as a block: its job has lost its lock, its job runs, or it is free.
fn slot_blocks(worker: &Worker) -> Markup {
    let slots = worker.slots_to_draw_by_state(MAX_SLOTS);
    let label = format!("{} running, {} lost", worker.running, worker.stalled);
    html! {
        span.slots role="img" aria-label=(label) {
            @for _ in 0..slots.lost { i.lost {} }
            @for _ in 0..slots.running { i.on {} }
            @for _ in 0..slots.free { i {} }
        }
    }
}
