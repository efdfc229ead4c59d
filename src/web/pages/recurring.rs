//! The recurring jobs.

use maud::{Markup, html};

use crate::error::Error;
use crate::model::recur::Recurring;
use crate::model::recur::text::format_interval;
use crate::session::Session;
use crate::text::{clean_line, plural};
use crate::web::page::{Content, NONE, Page, Place, count_cell};

/// The most that are shown.
const MOST: usize = 500;

pub(in crate::web) fn content(page: &Page, session: &mut Session) -> Result<Content, Error> {
    let mut jobs = session.core()?.recurring_like(page.now, &[])?;
    let count = jobs.len() as u64;
    jobs.truncate(MOST);
    let is_late =
        |job: &&Recurring| !job.is_paused() && job.next.is_some_and(|next| next < page.now);
    let late = jobs.iter().filter(is_late).count() as u64;
    let title = match (count, late) {
        (0, _) => "No recurring job".to_owned(),
        (count, 0) => plural(count, "recurring job", "recurring jobs"),
        (count, late) => format!(
            "{}, {late} due",
            plural(count, "recurring job", "recurring jobs")
        ),
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
                    tbody { @for job in &jobs { (row(page, job)) } }
                }
            }
            @if more > 0 { p.more { "and " (plural(more, "more", "more")) } }
        }
    };
    Ok(Content::new(title, Place::Recurring, main))
}

fn row(page: &Page, job: &Recurring) -> Markup {
    let paused = job.pause_text(&page.render_options());
    let is_late = !job.is_paused() && job.next.is_some_and(|next| next < page.now);
    html! {
        tr data-key=(job.jid) {
            th scope="row" { (page.job_of_class(job.klass.as_ref(), &job.jid)) }
            td { @match &job.queue { Some(queue) => (page.queue(queue)), None => (NONE) } }
            td.n { (job.every_s.map_or(NONE.into(), format_interval)) }
            td.n.late[is_late] { @match job.next { Some(next) => (page.time(next)), None => (NONE) } }
            (count_cell(job.count.map_or(0, |count| count.0 as u64)))
            td.last { @if !paused.is_empty() { span.chip.amber { (clean_line(paused)) } } }
        }
    }
}
