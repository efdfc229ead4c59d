//! The recurring jobs.

use maud::{Markup, html};

use crate::error::Error;
use crate::look::server::SnapshotHttpResponder;
use crate::model::overview::at_least_prefix;
use crate::model::recur::Recurring;
use crate::model::recur::text::{format_interval, owed_text};
use crate::name::Name;
use crate::text::{capitalize, format_count, sanitize_to_line};
use crate::web::facts_of;
use crate::web::page::{NONE, NavigationSection, PageContent, PageFrame, count_or_dash};

/// Maximum number of recurring jobs that are read and shown.
const MAX_SHOWN: u64 = 200;

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let holding = facts.queues.iter().map(|queue| &queue.counts);
    let holding = holding.filter(|counts| counts.recurring > 0);
    let holding: Vec<(Name, u64)> = holding
        .map(|counts| (counts.name.clone(), counts.recurring))
        .collect();
    let first = server
        .read_if_reachable(|session| session.core()?.first_recurring(now, &holding, MAX_SHOWN))?;
    let jobs = first.templates;
    let page = &*page;
    let count = holding.iter().map(|(_, count)| count).sum::<u64>() + first.paused_total;
    let late: u64 = facts.queues.iter().map(|queue| queue.late).sum();
    let at_least = at_least_prefix(facts.omitted().queues);
    let title = match (count, late) {
        (0, _) => "No recurring job".to_owned(),
        (count, late) => {
            let count = format_count(count, "recurring job", "recurring jobs");
            let due = if late == 0 {
                String::new()
            } else {
                format!(", {late} due")
            };
            capitalize(&format!("{at_least}{count}{due}"))
        }
    };
    let more = count.saturating_sub(jobs.len() as u64);
    let main = html! {
        h1 { (title) }
        section {
            @if jobs.is_empty() {
                p.none { "None is defined: " code { "qless recur put QUEUE CLASS --every 1h" } " makes one." }
            } @else {
                table.recurring data-rows {
                    thead {
                        tr {
                            th scope="col" { "Job" } th scope="col" { "Queue" } th.n scope="col" { "Every" }
                            th.n scope="col" { "Next" } th.n.wide scope="col" { "Put so far" } th.last { span.unseen { "State" } }
                        }
                    }
                    tbody { @for job in &jobs { (recurring_row(page, job)) } }
                }
            }
            @if more > 0 {
                p.more { "and " (format_count(more, "more", "more")) ": " code { "qless recur list QUEUE" } " shows those of a queue" }
            }
        }
    };
    Ok(PageContent::new(title, NavigationSection::Recurring, main))
}

fn recurring_row(page: &PageFrame, job: &Recurring) -> Markup {
    html! {
        tr data-key=(job.jid) {
            th scope="row" { (page.job_link_by_class_and_short_jid(job.klass.as_ref(), &job.jid)) }
            td { @match &job.queue { Some(queue) => (page.queue_link(queue)), None => (NONE) } }
            td.n { (job.every_s.map_or(NONE.into(), format_interval)) }
            td.n.late[is_late(page, job)] { @match job.next { Some(next) => (page.time_element(next)), None => (NONE) } }
            td.n.wide.dim { (count_or_dash(job.count.map_or(0, |count| count.0 as u64))) }
            td.last { (paused_or_overdue_chip(page, job)) }
        }
    }
}

fn is_late(page: &PageFrame, job: &Recurring) -> bool {
    !job.is_paused() && job.next.is_some_and(|next| next < page.now)
}

/// Labels for a recurring job: that it is paused, or how many of its runs are overdue.
pub(super) fn paused_or_overdue_chip(page: &PageFrame, job: &Recurring) -> Markup {
    let options = page.render_options();
    let paused = job.pause_text(&options);
    let owed = owed_text(job.missed_runs_within_backlog(page.now), &options);
    html! {
        @if !paused.is_empty() { span.chip.amber { (sanitize_to_line(paused)) } }
        @if let Some(owed) = owed.filter(|_| is_late(page, job)) { span.chip.red { (owed) } }
    }
}
