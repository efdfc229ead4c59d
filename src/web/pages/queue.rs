//! The page of a queue: its jobs by state, why they wait, and charts of its last hour and of today.

use maud::{Markup, html};

use super::job::reason_list;
use super::jobs::job_table;
use super::queues::queue_problem_chips;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::core::api::job::JobFields;
use crate::error::Error;
use crate::explain;
use crate::look::server::SnapshotHttpResponder;
use crate::model::job::Job;
use crate::model::overview::QueueFacts;
use crate::model::overview::history::LastHourRates;
use crate::model::stats::DurationSpread;
use crate::name::Name;
use crate::text::{capitalize, format_count, sanitize_to_line, with_thousands_separators};
use crate::web::chart;
use crate::web::page::{
    NavigationSection, PageContent, PageFrame, link_or_text, name_or_empty_label,
};
use crate::web::{facts_of, path};

/// Maximum number of running jobs, and of jobs that are popped next, in the list.
const MAX_JOBS: u64 = 15;

pub(in crate::web) fn content(
    page: &mut PageFrame,
    server: &SnapshotHttpResponder,
    name: &Name,
) -> Result<PageContent, Error> {
    let snapshot = server.fresh_snapshot();
    let (facts, now) = facts_of(&snapshot)?;
    page.now = now;
    let (explanation, jobs) = server.read_if_reachable(|session| {
        let core = session.core()?;
        let explanation = explain::explain_queue(core, now, name)?;
        let indexes = [Index::Locks(name.clone()), Index::Waiting(name.clone())];
        let slices = core.index_ranges(now, &indexes.map(|index| (index, 0)), MAX_JOBS)?;
        let jids: Vec<Name> = slices.into_iter().flat_map(|slice| slice.members).collect();
        let jobs = core.jobs(now, JobFields::BriefExcerpt, &jids)?;
        Ok((explanation, jobs))
    })?;
    let jobs: Vec<Job> = jobs.into_iter().flatten().collect();
    let found = facts.queues.iter().find(|queue| queue.counts.name == *name);
    let counts = explanation.counts.clone().unwrap_or_default();
    let own = QueueFacts {
        counts: counts.clone(),
        ..QueueFacts::default()
    };
    let of_snapshot = found.unwrap_or(&own);
    let flow = server.with_snapshot_history(|history| history.rates_of_queue(name));
    let oldest = explanation.oldest_wait_s.map(|wait| wait.0);
    let heading = if explanation.runnable {
        format!("workers can take jobs from {}", name_or_empty_label(name))
    } else {
        sanitize_to_line(explanation.heading_line())
    };
    let title = format!("{}: {heading}", name_or_empty_label(name));
    let here = format!("queues/{}", path::encode_part(name));
    let verb = if counts.paused { "unpause" } else { "pause" };
    let figures = [
        ("waiting", counts.waiting),
        ("running", counts.running),
        ("stalled", counts.stalled),
        ("scheduled", counts.scheduled),
        ("depends", counts.depends),
        ("throttled", counts.throttled),
    ];
    let jobs_of = page.link_to_jobs_of("queue", name);
    let spread = |spread: Option<&DurationSpread>, title: &str, oldest: Option<f64>| {
        let spreads: Vec<&DurationSpread> = spread.into_iter().collect();
        chart::histogram(title, &spreads, oldest)
    };
    let main = html! {
        p.crumb { a href=(page.link("queues")) { "Queues" } " / " (name) }
        h1 { (capitalize(&heading)) "." }
        div.acts {
            @if page.has_buttons_for(name) {
                (page.change_confirmation_link(&format!("{here}/{verb}"), if counts.paused { "Unpause" } else { "Pause" }, false))
            }
            (page.command_block(&CommandLine::new("explain").with_flag("--queue", name)))
        }
        div.sums.six {
            @for (word, number) in figures {
                div.bad[word == "stalled" && number > 0] {
                    b { (link_or_text(jobs_of.as_ref().map(|jobs| format!("{jobs}&state={word}")), &with_thousands_separators(number))) }
                    span { (word) }
                }
            }
        }
        div.two {
            section {
                h2 { "Why" (queue_problem_chips(page, of_snapshot)) }
                (reason_list(page, Some(&explanation)))
            }
            section {
                h2 { "Last hour" small { i.key.put {} "put " (chart::format_rate(flow.put_per_s)) i.key.done {} "done " (chart::format_rate(flow.done_per_s)) } }
                (last_hour_chart(page, &flow))
                p.dim {
                    (with_thousands_separators(of_snapshot.completed)) " done today, "
                    (format_count(of_snapshot.failures, "failure", "failures")) ", "
                    (format_count(of_snapshot.retries, "lost lock", "lost locks"))
                }
                p.more { a href=(page.link(&format!("{here}/graph"))) { "Graph of its jobs" } }
            }
        }
        section {
            h2 { "Jobs" small { "that run, and that are next" } }
            @if jobs.is_empty() { p.none { "None runs, and none waits." } } @else { (job_table(page, &jobs)) }
        }
        div.two.even {
            section { (spread(of_snapshot.wait.as_ref(), "How long jobs waited today", oldest)) }
            section { (spread(of_snapshot.run.as_ref(), "How long jobs ran today", None)) }
        }
    };
    Ok(PageContent::new(title, NavigationSection::Overview, main))
}

/// The chart of the jobs put and done in the last hour. Below it stand the times of its beginning, middle and end.
fn last_hour_chart(page: &PageFrame, flow: &LastHourRates) -> Markup {
    let drawn = chart::flow_chart(flow);
    let moment = |ago: &f64| Moment::from_seconds(page.now.seconds() - ago);
    let times = [3600.0, 1800.0, 0.0];
    html! {
        @if drawn.0.is_empty() { p.none { "Nothing was put or done while this page was watched." } }
        @else {
            div.bigflow { (drawn) }
            p.axis { @for time in times.iter().filter_map(moment) { (page.axis_time_element(time)) " " } }
        }
    }
}
